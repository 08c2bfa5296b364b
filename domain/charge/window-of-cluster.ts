/** One hour of one cluster. */
export interface WindowOfCluster {
  readonly cluster: string;
  /** Milliseconds since the epoch. */
  readonly windowStart: number;
}

/** Returns the map key of a window. */
export function keyOf({ cluster, windowStart }: WindowOfCluster): string {
  return `${windowStart} ${cluster}`;
}

/** Orders windows by time, then by cluster. */
export function byWindow(one: WindowOfCluster, other: WindowOfCluster): number {
  return one.windowStart - other.windowStart || (one.cluster < other.cluster ? -1 : 1);
}
