import type { TopicPartition } from "../bus.ts";
import { headOf } from "./partition-log.ts";
import type { Storage, TopicRecord } from "./storage.ts";

/**
 * Tells, each time it is asked, which partitions of some topics have got messages since it was asked before; all of them the
 * first time. Most changes of the log are commits and signs of life: readers need not look for messages after each.
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
