/** The topic of scrapes: one message for each scrape attempt, keyed by cluster and node. */
export const SAMPLES_TOPIC = "gpu.samples";

/** The topic of scrapes of inference engines and gateways: one message for each scrape attempt, keyed by cluster and pod. */
export const SERVING_TOPIC = "gpu.serving";

/** The topic of pods that request GPUs, keyed by cluster and UID; compacted. */
export const WORKLOADS_TOPIC = "gpu.workloads";

/** The topic of nodes that have GPUs, keyed by cluster and node; compacted. */
export const INVENTORY_TOPIC = "gpu.inventory";

/** The topic of namespaces, quotas, queues, gangs, claims and slices, keyed by cluster, kind and UID; compacted. */
export const CLUSTER_TOPIC = "gpu.cluster";

/** The topic of dead letters: the raw bytes, with the reason and the source position in the headers. */
export const DEAD_LETTER_TOPIC = "gpu.dead-letter";

/**
 * The topic of requests to the leader. It has one partition, which is the leadership itself: the member of {@link LEADER_GROUP} that owns
 * it leads.
 */
export const LEDGER_TOPIC = "gpu.ledger";

/** The consumer group of all processors. */
export const PROCESSOR_GROUP = "gpu-ledger-processors";

/** The consumer group in which processors store the scrapes of engines and gateways. */
export const SERVING_GROUP = "gpu-ledger-serving";

/** The consumer group in which processors store facts. */
export const FACTS_GROUP = "gpu-ledger-facts";

/** The consumer group in which processors compete for the partition of {@link LEDGER_TOPIC}. */
export const LEADER_GROUP = "gpu-ledger-leader";

/** A header of messages that were made later about the past. They do not count for the freshness of the store. */
export const BACKFILL_HEADER = "backfill";
