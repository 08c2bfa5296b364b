import {
  CLUSTER_TOPIC,
  DEAD_LETTER_TOPIC,
  INVENTORY_TOPIC,
  LEDGER_TOPIC,
  SAMPLES_TOPIC,
  WORKLOADS_TOPIC,
} from "../../domain/messages/topics.ts";
import type { Config } from "../config/schema.ts";
import type { TopicDeclaration } from "./bus.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

/** Facts are few; their partitions are fixed for ever. */
const FACT_PARTITIONS = 4;
/** For how long a fact that was superseded, and a tombstone, can still be read. */
const COMPACTION_LAG_MILLIS = 7 * DAY_MILLIS;

/** The topics as they are declared on either make of bus. Dead letters are kept longer than what they came from. */
export function topicDeclarations({ samplePartitions, retention, retentionSize }: Config["bus"]): TopicDeclaration[] {
  return [
    {
      name: SAMPLES_TOPIC,
      partitions: samplePartitions,
      cleanup: "delete",
      retentionMillis: retention,
      retentionBytes: retentionSize,
    },
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
