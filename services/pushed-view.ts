import { machineClock } from "../collectors/exporters/loop.ts";
import type { PushedTarget } from "../collectors/prometheus/receive/model.ts";
import type { Receiver } from "../collectors/prometheus/receive/receiver.ts";
import { senderGaps } from "../collectors/prometheus/receive/sender-gaps.ts";
import { createScrapeDecoder } from "../domain/messages/scrape-message.ts";
import type { SeenTarget } from "./lacking-counters.ts";
import type { RemoteWriteStatus } from "./role.ts";

const GAPS_EVERY_MILLIS = 10_000;

/** The targets that senders of remote write have pushed, as the collector's status shows them. */
export interface PushedView {
  withGpus(): readonly PushedTarget[];
  /** Returns the state of each target with GPUs by its last message. */
  seen(): readonly SeenTarget[];
  /** Returns what senders leave out, at most some seconds old: all series of all targets are read for it. */
  gaps(): RemoteWriteStatus["leftOut"];
}

/** Creates the view of a receiver's targets. */
export function createPushedView({ targets, families }: Pick<Receiver, "targets" | "families">): PushedView {
  const decoder = createScrapeDecoder();
  /** Each message is decoded once. */
  const decoded = new WeakMap<Uint8Array, SeenTarget>();
  let last: { readonly gaps: RemoteWriteStatus["leftOut"]; readonly atMillis: number } | undefined;
  const withGpus = (): readonly PushedTarget[] =>
    [...targets.values()].filter(({ lastMessage }) => lastMessage !== undefined);

  function seenTarget({ job, instance, lastMessage }: PushedTarget): SeenTarget | undefined {
    const before = decoded.get(lastMessage!);
    if (before !== undefined) return before;
    const scrape = decoder.decode(lastMessage!);
    if ("invalid" in scrape) return undefined;
    const { columns, devices } = scrape.shape;
    const gpus = devices.filter(({ repeatsGpu }) => repeatsGpu !== true).length;
    const target = { job, url: instance, columns, gpus };
    decoded.set(lastMessage!, target);
    return target;
  }

  return {
    withGpus,
    seen: () =>
      withGpus()
        .map(seenTarget)
        .filter((target) => target !== undefined),
    gaps() {
      const atMillis = machineClock.monotonicMillis();
      if (last === undefined || atMillis - last.atMillis > GAPS_EVERY_MILLIS)
        last = { gaps: senderGaps(targets.values(), families), atMillis };
      return last.gaps;
    },
  };
}
