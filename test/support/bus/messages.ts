import { randomUUID } from "node:crypto";
import type { GroupHandler, OutgoingMessage, ReceivedMessage, TopicDeclaration } from "../../../runtime/bus/bus.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** A topic that no other test uses. */
export function newTopic(overrides: Partial<TopicDeclaration> = {}): TopicDeclaration {
  return { name: `t.${randomUUID()}`, partitions: 4, cleanup: "delete", retentionMillis: HOUR_MILLIS, ...overrides };
}

/** A message with text as its value. */
export function textMessage(key: string, text: string): OutgoingMessage {
  return { key, value: Buffer.from(text), schemaVersion: 1 };
}

/** `count` messages, keys in turn, values `<key>#<n>` where n counts within the key. */
export function numbered(count: number, keys: number): OutgoingMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const key = `key-${index % keys}`;
    return textMessage(key, `${key}#${Math.floor(index / keys)}`);
  });
}

/** The value of a message as text; the empty text for a tombstone. */
export function textOf(message: ReceivedMessage): string {
  return Buffer.from(message.value ?? []).toString();
}

/** A handler that keeps the messages it gets. */
export function collector(more: Omit<GroupHandler, "onMessages"> = {}) {
  const messages: ReceivedMessage[] = [];
  const onMessages = (received: readonly ReceivedMessage[]) => {
    messages.push(...received);
    return Promise.resolve();
  };
  const handler: GroupHandler = { ...more, onMessages };
  return { messages, onMessages, handler, texts: () => messages.map(textOf) };
}

/** Texts per key, in the order of arrival. */
export function byKey(messages: readonly ReceivedMessage[]): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const message of messages) texts.set(message.key, [...(texts.get(message.key) ?? []), textOf(message)]);
  return texts;
}
