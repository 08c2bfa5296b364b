/** A message per scrape attempt, keyed by cluster and node. */
export const SAMPLES_TOPIC = "gpu.samples";

/** What could not be used: the raw bytes, with the reason and the place that it came from in its headers. */
export const DEAD_LETTER_TOPIC = "gpu.dead-letter";

/** The group of all processors. */
export const PROCESSOR_GROUP = "gpu-ledger-processors";
