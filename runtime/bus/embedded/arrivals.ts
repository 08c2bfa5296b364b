import type { TopicPartition } from "../bus.ts";
import { headOf } from "./partition-log.ts";
import type { Storage, TopicRecord } from "./storage.ts";

/**
 * Creates a function that returns the partitions of some topics with new messages since its last call; all partitions at the first call.
 * Most changes of the log are commits and heartbeats, after which readers need not look for messages.
 */
export function createArrivals(storage: Storage, topics: readonly TopicRecord[]): () => readonly TopicPartition[] {
  const ends = topics.map(({ partitions }) => Array<number>(partitions).fill(-1));
  return () =>
    storage.read(() =>
      topics.flatMap((topic, index) =>
        ends[index]!.flatMap((end, partition) => {
          const { next } = headOf(storage, topic.id, partition);
          if (next === end) return [];
          ends[index]![partition] = next;
          return [{ topic: topic.name, partition }];
        }),
      ),
    );
}
