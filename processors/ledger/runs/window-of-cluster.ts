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
