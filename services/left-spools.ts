import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { SAMPLES_TOPIC } from "../domain/messages/topics.ts";
import type { Bus } from "../runtime/bus/bus.ts";
import { createSpoolingSender, type SpoolOptions } from "../runtime/bus/spool.ts";

/** The index of a collector among `count` collectors. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Returns the folder of a collector's spool for a topic, in the folder `data`. Collectors of one machine have one each. */
export function spoolFolder(data: string, { index, count }: Shard, topic: string): string {
  return join(data, `spool-${index}-of-${count}${topic === SAMPLES_TOPIC ? "" : `-${topic}`}`);
}

const FOLDER = /^spool-(?<index>\d+)-of-(?<count>\d+)(?:-(?<topic>.+))?$/;
const LOOK_MILLIS = 1_000;

/**
 * Sends the messages that collectors with another count have left in `data`, so that nothing waits forever after a change of the count. A
 * collector takes each folder whose number, divided by the current count, has its index as the remainder. An empty folder stays. Messages
 * that come into it later (from a collector that had not ended yet) are sent at the next start.
 */
export function sendLeftSpools(options: {
  readonly data: string;
  readonly shard: Shard;
  readonly bus: Pick<Bus, "send">;
  readonly maxBytes: number;
  readonly onDropped: NonNullable<SpoolOptions["onDropped"]>;
  readonly logger: Logger;
}): { stop(): Promise<void> } {
  const { data, shard, bus, maxBytes, onDropped, logger } = options;
  const stopping = new AbortController();
  const sending = leftFolders(data, shard).map(async ({ name, topic }) => {
    const folder = join(data, name);
    const sender = createSpoolingSender({ bus, topic, folder, maxBytes, onDropped, logger });
    const { queuedMessages } = sender.stats();
    while (!stopping.signal.aborted && !(await sender.drain(LOOK_MILLIS)));
    await sender.close();
    const { sent } = sender.stats();
    if (queuedMessages > 0) logger.info({ folder, sent }, "messages of former collectors were sent from their spools");
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(sending);
    },
  };
}

function leftFolders(data: string, shard: Shard): readonly { readonly name: string; readonly topic: string }[] {
  return namesIn(data).flatMap((name) => {
    const found = FOLDER.exec(name)?.groups;
    if (found === undefined || Number(found["count"]) === shard.count) return [];
    if (Number(found["index"]) % shard.count !== shard.index) return [];
    return [{ name, topic: found["topic"] ?? SAMPLES_TOPIC }];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder never existed.
    return [];
  }
}
