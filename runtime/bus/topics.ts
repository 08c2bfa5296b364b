import { DEAD_LETTER_TOPIC, LEDGER_TOPIC, SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Config } from "../config/schema.ts";
import type { TopicDeclaration } from "./bus.ts";

const DAY_MILLIS = 86_400_000;

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
    { name: LEDGER_TOPIC, partitions: 1, cleanup: "delete", retentionMillis: retention },
    {
      name: DEAD_LETTER_TOPIC,
      partitions: 1,
      cleanup: "delete",
      retentionMillis: Math.max(30 * DAY_MILLIS, retention),
    },
  ];
}
