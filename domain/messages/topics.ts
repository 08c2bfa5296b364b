/** A message per scrape attempt, keyed by cluster and node. */
export const SAMPLES_TOPIC = "gpu.samples";

/** The pods that want GPUs, keyed by cluster and UID; compacted. */
export const WORKLOADS_TOPIC = "gpu.workloads";

/** The nodes that have GPUs, keyed by cluster and node; compacted. */
export const INVENTORY_TOPIC = "gpu.inventory";

/** Namespaces, quotas, queues, gangs, claims and slices, keyed by cluster, kind and UID; compacted. */
export const CLUSTER_TOPIC = "gpu.cluster";

/** What could not be used: the raw bytes, with the reason and the place that it came from in its headers. */
export const DEAD_LETTER_TOPIC = "gpu.dead-letter";

/** Requests to whoever leads. Its one partition is the leadership itself: who owns it in {@link LEADER_GROUP} leads. */
export const LEDGER_TOPIC = "gpu.ledger";

/** The group of all processors. */
export const PROCESSOR_GROUP = "gpu-ledger-processors";

/** The group in which processors take facts into the store. */
export const FACTS_GROUP = "gpu-ledger-facts";

/** The group in which processors compete for the partition of {@link LEDGER_TOPIC}. */
export const LEADER_GROUP = "gpu-ledger-leader";

/** A header of messages about the past that were made afterwards: they say nothing about how fresh the store is. */
export const BACKFILL_HEADER = "backfill";
