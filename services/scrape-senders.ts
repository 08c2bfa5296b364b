import type { TopicSink } from "../collectors/exporters/collector-model.ts";
import { SAMPLES_TOPIC, SERVING_TOPIC } from "../domain/messages/topics.ts";
import type { Bus } from "../runtime/bus/bus.ts";
import { createSpoolingSender, type SpoolOptions, type SpoolStats } from "../runtime/bus/spool.ts";
import { spoolFolder, type Shard } from "./left-spools.ts";

/** The wait before a sync to disk. One sync costs as much as 40 messages. Half of the shortest interval does not harm freshness. */
const LINGER_MILLIS = 500;
const DRAIN_MILLIS = 3_000;

/** The senders of scrapes, with a spool for each topic. */
export interface ScrapeSenders {
  readonly send: TopicSink;
  /** Returns the statistics of all topics together. */
  stats(): SpoolStats;
  /** Sends as much as possible in 3 s, and closes the spools. The rest stays on disk. */
  stop(): Promise<void>;
}

/** Creates the senders of a collector. A spool belongs to one process at a time. */
export function createScrapeSenders(options: {
  readonly bus: Pick<Bus, "send">;
  readonly data: string;
  readonly shard: Shard;
  readonly maxBytes: number;
  readonly onDropped: NonNullable<SpoolOptions["onDropped"]>;
  readonly logger: SpoolOptions["logger"];
}): ScrapeSenders {
  const { data, shard, ...common } = options;
  const senders = new Map(
    [SAMPLES_TOPIC, SERVING_TOPIC].map((topic) => {
      const folder = spoolFolder(data, shard, topic);
      return [topic, createSpoolingSender({ ...common, topic, folder, lingerMillis: LINGER_MILLIS })] as const;
    }),
  );
  const all = [...senders.values()];
  return {
    send: (topic, message) => senders.get(topic)!.send([message]),
    stats: () =>
      all
        .map((sender) => sender.stats())
        .reduce((sum, each) => ({
          queuedMessages: sum.queuedMessages + each.queuedMessages,
          queuedBytes: sum.queuedBytes + each.queuedBytes,
          sent: sum.sent + each.sent,
          dropped: sum.dropped + each.dropped,
          errors: sum.errors + each.errors,
        })),
    async stop() {
      await Promise.all(all.map((sender) => sender.drain(DRAIN_MILLIS)));
      await Promise.all(all.map((sender) => sender.close()));
    },
  };
}
