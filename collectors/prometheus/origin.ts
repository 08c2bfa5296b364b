/** The term of imported facts: after the demo's past, and before every watcher's, whose own facts of an object are preferred. */
export const IMPORT_EPOCH = 1;

/** The failure of a scrape that a Prometheus could not make. Its reason is not stored. */
export const FAILED_IN_PROMETHEUS = { reason: "refused", detail: "up is 0 in Prometheus" } as const;
