import type { OutgoingMessage, ReceivedMessage } from "../../runtime/bus/bus.ts";
import type { DeadLetterReason } from "./steps/outcome.ts";

/** A dead letter on its topic: the raw bytes, with the reason and the source position in the headers. */
export interface DeadLetter {
  readonly reason: string;
  readonly cause: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly schemaVersion: number;
  readonly value: Uint8Array;
}

/** Returns the message for `gpu.dead-letter`. Its checksum covers the raw bytes, even if they are broken. */
export function toDeadLetter(message: ReceivedMessage, reason: DeadLetterReason, cause: string): OutgoingMessage {
  const { topic, partition, offset, key, value, schemaVersion } = message;
  return {
    key: `${topic}/${partition}/${offset}`,
    value,
    schemaVersion,
    headers: {
      "dead-reason": reason,
      "dead-cause": cause.slice(0, 2000),
      "dead-topic": topic,
      "dead-partition": String(partition),
      "dead-offset": String(offset),
      "dead-key": key,
    },
  };
}

/** Reads a dead letter. Missing headers read as empty. */
export function readDeadLetter({ headers, value, schemaVersion }: ReceivedMessage): DeadLetter {
  const header = (name: string): string => headers[`dead-${name}`] ?? "";
  return {
    reason: header("reason"),
    cause: header("cause"),
    topic: header("topic"),
    partition: Number(header("partition")),
    offset: Number(header("offset")),
    key: header("key"),
    schemaVersion,
    value: value ?? new Uint8Array(0),
  };
}
