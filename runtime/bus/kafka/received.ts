import type { KafkaMessage } from "kafkajs";
import type { ReceivedMessage } from "../bus.ts";
import { openHeaders } from "../envelope.ts";

/** Converts a message of kafkajs into a ReceivedMessage. The value shares memory with its batch, which no other code keeps. */
export function toReceived(topic: string, partition: number, message: KafkaMessage): ReceivedMessage {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers ?? {})) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) headers[name] = last.toString();
  }
  return {
    topic,
    partition,
    offset: Number(message.offset),
    key: message.key?.toString() ?? "",
    value: message.value,
    ...openHeaders(headers, message.value),
    sentAtMillis: Number(message.timestamp),
  };
}
