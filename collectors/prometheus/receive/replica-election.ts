/** The elected one of several Prometheus that scrape the same target. */
export interface ReplicaElection {
  readonly elected: string | undefined;
  /**
   * Returns whether samples of a replica count. The first one is elected. Another one is elected if the elected one was silent for more than
   * two intervals.
   */
  accepts(replica: string, nowMillis: number, intervalMillis: number): boolean;
}

const SILENT_INTERVALS = 2;

/** Creates an election, with the elected one of an earlier process. `onChange` is called for each other replica that is elected. */
export function createReplicaElection(first: string | undefined, onChange: () => void): ReplicaElection {
  let elected = first;
  let heardMillis: number | undefined;
  return {
    get elected() {
      return elected;
    },
    accepts(replica, nowMillis, intervalMillis) {
      if (elected === undefined) elected = replica;
      heardMillis ??= nowMillis;
      if (replica !== elected) {
        if (nowMillis - heardMillis <= SILENT_INTERVALS * intervalMillis) return false;
        elected = replica;
        onChange();
      }
      if (heardMillis !== nowMillis) heardMillis = nowMillis;
      return true;
    },
  };
}
