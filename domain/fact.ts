/**
 * A fact is what a watcher of a cluster says of one object at one time: the newest one of an object holds until the next.
 * Facts may be replayed, late and out of order; which of two is newer stands in themselves.
 */
export interface FactOrigin {
  readonly cluster: string;
  /**
   * The watcher's term, which grows with every election: a former watcher that still speaks has a lower one. Milliseconds
   * since the epoch at which the term began, so that it grows over a lost lease too.
   */
  readonly epoch: number;
  /** The object's `metadata.resourceVersion`. */
  readonly resourceVersion: string;
  /** By the API server's clock as far as it is known: when the watcher saw this state, milliseconds since the epoch. */
  readonly seenAtMillis: number;
}

/** How an object's life ended, as far as the watcher knows. */
export interface FactEnd {
  readonly atMillis: number;
  /** The watcher was not looking: the object was gone when it came back, and the time is when it was seen last. */
  readonly inferred: boolean;
}

/**
 * Orders two facts of one object: negative where `a` is the older. By the watcher's term, then by resourceVersion, which
 * API servers give as growing decimal numbers (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions);
 * what is not a number is ordered by when it was seen. An end stands behind everything of its own version.
 */
export function compareFacts(a: OrderedFact, b: OrderedFact): number {
  if (a.epoch !== b.epoch) return a.epoch - b.epoch;
  if (a.resourceVersion !== b.resourceVersion) {
    const [one, other] = [toNumber(a.resourceVersion), toNumber(b.resourceVersion)];
    if (one !== undefined && other !== undefined) return one < other ? -1 : 1;
  }
  if ((a.end === undefined) !== (b.end === undefined)) return a.end === undefined ? -1 : 1;
  return a.seenAtMillis - b.seenAtMillis;
}

/** What {@link compareFacts} looks at. */
export type OrderedFact = Pick<FactOrigin, "epoch" | "resourceVersion" | "seenAtMillis"> & { readonly end?: FactEnd };

function toNumber(resourceVersion: string): bigint | undefined {
  return /^\d{1,40}$/.test(resourceVersion) ? BigInt(resourceVersion) : undefined;
}
