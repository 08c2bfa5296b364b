import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { vi } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { openEmbeddedBus } from "../../../runtime/bus/embedded/embedded-bus.ts";
import { messageKey } from "../../../runtime/bus/embedded/position.ts";
import { openStorage } from "../../../runtime/bus/embedded/storage.ts";
import type { BusMake } from "./make.ts";
import { textMessage } from "./messages.ts";

/** The embedded log in its own folder, with a clock that a test can move. */
export function embeddedMake(): BusMake {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bus-"));
  let aheadMillis = 0;
  const clock = { ...systemClock, nowMillis: () => Date.now() + aheadMillis };
  const open = () =>
    openEmbeddedBus({
      folder,
      sessionTimeoutMillis: 1_500,
      maintenanceMillis: 50,
      maxMessageBytes: 1_000_000,
      clock,
      logger: pino({ level: "silent" }),
    });

  return {
    open,
    childBus: { make: "embedded", folder },
    async removeBefore(topic, partition, offset) {
      const bus = await open();
      aheadMillis += 2 * 3_600_000;
      await vi.waitFor(
        async () => {
          const low = (await bus.watermarks(topic))[partition]?.low ?? 0;
          if (low < offset) throw new Error(`The oldest offset is still ${low}.`);
        },
        { timeout: 30_000 },
      );
      await bus.close();
    },
    async putBroken(topic, key) {
      const bus = await open();
      await bus.send(topic, [textMessage(key, "whole")]);
      const storage = await openStorage(folder);
      await storage.write(() => {
        const topicId = storage.topics.get(topic)?.id ?? -1;
        const place = messageKey({ topicId, partition: 0, offset: 0 });
        const record = Buffer.from(storage.messages.get(place) ?? []);
        record[record.length - 1] = (record.at(-1) ?? 0) ^ 1;
        void storage.messages.put(place, record);
      });
      await storage.close();
      await bus.close();
    },
    async stop() {
      rmSync(folder, { recursive: true, force: true });
      await Promise.resolve();
    },
  };
}
