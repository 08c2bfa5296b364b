import type { Logger } from "pino";
import { BusError, MOST_MESSAGE_BYTES } from "../bus.ts";
import { createOpenParts } from "../open-parts.ts";
import type { Bus, OutgoingMessage } from "../bus.ts";
import type { Clock } from "../../clock.ts";
import { startFollower } from "./follower.ts";
import { startMaintenance } from "./maintenance.ts";
import { startMember } from "./member.ts";
import { appendMessages, headOf, readMessages } from "./partition-log.ts";
import { openStorage } from "./storage.ts";
import { declareTopics, findTopic } from "./topic-catalog.ts";
import { startWatcher } from "./watcher.ts";

/** The folder and the settings of the log. Processes that share a folder should have the same settings. */
export interface EmbeddedBusOptions {
  /** A folder on a local disk. */
  readonly folder: string;
  /** The most bytes that all messages together may take. Beyond it `send` fails with `disk-full`. Default 8 GiB. */
  readonly maxBytes?: number;
  /** The largest message (key and value). A larger one fails with `too-large`. Default 8 MiB. */
  readonly maxMessageBytes?: number;
  /** The time without a heartbeat after which a member's partitions go to other members. Default 3,000. */
  readonly sessionTimeoutMillis?: number;
  /** How often idle readers look for messages of other processes. Default 20. */
  readonly pollMillis?: number;
  /** How often retention and compaction run. Default 15,000. */
  readonly maintenanceMillis?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Opens the embedded log: a {@link Bus} on LMDB in one folder that several processes of one machine share. `openStorage` describes the
 * durability of `send`.
 */
export async function openEmbeddedBus(options: EmbeddedBusOptions): Promise<Bus> {
  const { clock } = options;
  const logger = options.logger.child({ bus: "embedded" });
  const maxBytes = options.maxBytes ?? 8 * 1024 ** 3;
  const maxMessageBytes = options.maxMessageBytes ?? MOST_MESSAGE_BYTES;
  const storage = await openStorage(options.folder);
  const watcher = startWatcher(storage, options.pollMillis ?? 20, logger);
  const maintenance = startMaintenance(storage, {
    intervalMillis: options.maintenanceMillis ?? 15_000,
    clock,
    logger,
  });
  const parts = createOpenParts();

  function checkSizes(messages: readonly OutgoingMessage[]): void {
    for (const { key, value } of messages) {
      const bytes = Buffer.byteLength(key) + (value?.byteLength ?? 0);
      if (bytes <= maxMessageBytes) continue;
      throw new BusError("too-large", `A message of ${bytes} bytes is over the limit of ${maxMessageBytes}.`, {
        retriable: false,
      });
    }
  }

  async function closeRest(): Promise<void> {
    await maintenance.stop();
    watcher.stop();
    await storage.close();
  }

  return {
    async declare(topics) {
      parts.check();
      await declareTopics(storage, topics);
    },
    async send(topic, messages) {
      parts.check();
      const record = findTopic(storage, topic);
      checkSizes(messages);
      if (messages.length === 0) return;
      await appendMessages(storage, record, messages, { maxBytes, nowMillis: clock.nowMillis() });
      watcher.check();
    },
    async consume({ group, topics, handler }) {
      parts.check();
      const records = topics.map((topic) => findTopic(storage, topic));
      const sessionTimeoutMillis = options.sessionTimeoutMillis ?? 3_000;
      const common = { storage, watcher, clock, logger };
      return parts.keep(await startMember({ ...common, group, topics: records, handler, sessionTimeoutMillis }));
    },
    async follow(topic, onMessages) {
      parts.check();
      return parts.keep(startFollower(storage, watcher, findTopic(storage, topic), onMessages, logger));
    },
    async read({ topic, partition }, fromOffset, count) {
      parts.check();
      const limits = { fromOffset, toOffset: fromOffset + count, count, maxBytes: Infinity };
      const record = findTopic(storage, topic);
      return storage.read(() => readMessages(storage, record, partition, limits));
    },
    async watermarks(topic) {
      parts.check();
      const { id, partitions } = findTopic(storage, topic);
      return Array.from({ length: partitions }, (_, partition) => {
        const { low, next } = storage.read(() => headOf(storage, id, partition));
        return { topic, partition, low, high: next };
      });
    },
    close() {
      return parts.close(closeRest);
    },
  };
}
