/**
 * The origin of a fact: what a cluster's watcher reports about one object at one time. The newest fact of an object holds until the next.
 * Facts may be replayed, late and out of order; their fields decide which of two is newer.
 */
export interface FactOrigin {
  readonly cluster: string;
  /**
   * The watcher's term, which grows with every election. An earlier watcher that still sends has a lower term. It is the start of the term
   * in milliseconds since the epoch, so that it also grows after a lost lease.
   */
  readonly epoch: number;
  /** The object's `metadata.resourceVersion`. */
  readonly resourceVersion: string;
  /** When the watcher saw this state, milliseconds since the epoch. By the API server's clock if it is known. */
  readonly seenAtMillis: number;
}

/** The end of an object, as far as the watcher observed it. */
export interface FactEnd {
  readonly atMillis: number;
  /** The watcher was away and the object was missing when it came back. The time is when the object was last seen. */
  readonly inferred: boolean;
}

/**
 * Compares two facts of one object. Returns a negative number if `a` is older. Orders by the watcher's term, then by resourceVersion, which
 * API servers give as growing decimal numbers (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions). If a
 * version is not a number, the time at which it was seen decides. An end comes after everything else of its version.
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

/** The fields that {@link compareFacts} uses. */
export type OrderedFact = Pick<FactOrigin, "epoch" | "resourceVersion" | "seenAtMillis"> & { readonly end?: FactEnd };

function toNumber(resourceVersion: string): bigint | undefined {
  return /^\d{1,40}$/.test(resourceVersion) ? BigInt(resourceVersion) : undefined;
}
