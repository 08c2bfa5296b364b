import { randomUUID } from "node:crypto";
import type { Kafka } from "kafkajs";
import { BusError } from "../bus.ts";
import type { ReceivedMessage, TopicPartition } from "../bus.ts";
import { translating } from "./failures.ts";
import { toReceived } from "./received.ts";
import type { TopicAdmin } from "./topic-admin.ts";

/**
 * Reads the messages in `[fromOffset, fromOffset + count)` of one partition through a temporary consumer. (It has its own group, commits
 * nothing, and the group is deleted afterwards.) It takes the time of a group's join, which on a broker with default settings is three
 * seconds: good for dead letters and explanations, not for a stream. Fails with `unavailable` after `timeoutMillis`.
 */
export async function readRange(
  kafka: Kafka,
  admin: TopicAdmin,
  { topic, partition }: TopicPartition,
  fromOffset: number,
  count: number,
  timeoutMillis: number,
): Promise<readonly ReceivedMessage[]> {
  const ends = (await admin.watermarks(topic)).find((candidate) => candidate.partition === partition);
  if (ends === undefined) return [];
  const start = Math.max(fromOffset, ends.low);
  const end = Math.min(fromOffset + count, ends.high);
  if (start >= end) return [];

  const group = `gpu-ledger-read-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId: group, maxWaitTimeInMs: 100, allowAutoTopicCreation: false });
  const found: ReceivedMessage[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    await translating(`reading ${topic}/${partition}`, async () => {
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(() => {
          const message = `${topic}/${partition} could not be read within ${timeoutMillis} ms.`;
          reject(new BusError("unavailable", message, { retriable: true }));
        }, timeoutMillis);
        consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
        consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
          const others = (payload.memberAssignment[topic] ?? []).filter((number) => number !== partition);
          if (others.length > 0) consumer.pause([{ topic, partitions: others }]);
          consumer.seek({ topic, partition, offset: String(start) });
        });
        const running = consumer.run({
          autoCommit: false,
          eachBatch: ({ batch }) => {
            if (batch.partition !== partition) return Promise.resolve();
            for (const message of batch.messages) {
              const received = toReceived(topic, partition, message);
              if (received.offset >= start && received.offset < end) found.push(received);
            }
            if (Number(batch.lastOffset()) + 1 >= end) resolve();
            return Promise.resolve();
          },
        });
        running.catch(reject);
      });
    });
  } finally {
    clearTimeout(timer);
    await consumer.disconnect().catch(() => undefined);
    await admin.forgetGroup(group);
  }
  return found.toSorted((a, b) => a.offset - b.offset);
}
