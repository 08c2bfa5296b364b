import {
  CLUSTER_TOPIC,
  DEAD_LETTER_TOPIC,
  INVENTORY_TOPIC,
  LEDGER_TOPIC,
  SAMPLES_TOPIC,
  SERVING_TOPIC,
  WORKLOADS_TOPIC,
} from "../../domain/messages/topics.ts";
import type { Config } from "../config/schema.ts";
import type { TopicDeclaration } from "./bus.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

/** The partitions of each facts topic. Facts are few. The number never changes. */
const FACT_PARTITIONS = 4;
/** How long superseded facts and tombstones can still be read. */
const COMPACTION_LAG_MILLIS = 7 * DAY_MILLIS;

/** Returns the topic declarations for both kinds of bus. Dead letters are kept longer than their source messages. */
export function topicDeclarations({ samplePartitions, retention, retentionSize }: Config["bus"]): TopicDeclaration[] {
  return [
    ...[SAMPLES_TOPIC, SERVING_TOPIC].map((name) => ({
      name,
      partitions: samplePartitions,
      cleanup: "delete" as const,
      retentionMillis: retention,
      retentionBytes: retentionSize,
    })),
    ...[WORKLOADS_TOPIC, INVENTORY_TOPIC, CLUSTER_TOPIC].map((name) => ({
      name,
      partitions: FACT_PARTITIONS,
      cleanup: "compact" as const,
      retentionMillis: COMPACTION_LAG_MILLIS,
      minCompactionLagMillis: COMPACTION_LAG_MILLIS,
    })),
    { name: LEDGER_TOPIC, partitions: 1, cleanup: "delete", retentionMillis: retention },
    {
      name: DEAD_LETTER_TOPIC,
      partitions: 1,
      cleanup: "delete",
      retentionMillis: Math.max(30 * DAY_MILLIS, retention),
    },
  ];
}
