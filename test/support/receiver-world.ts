import { pino } from "pino";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import type { Scrape } from "../../domain/scrape.ts";
import type { SampleDrop } from "../../collectors/prometheus/receive/model.ts";
import type { MomentOutcome } from "../../collectors/prometheus/receive/moment-sender.ts";
import { startReceiver, type Receiver } from "../../collectors/prometheus/receive/receiver.ts";
import type { ReceiverLimits, ReceiverOptions } from "../../collectors/prometheus/receive/receiver-state.ts";
import { compressed, writeV1, writeV2, type WrittenFamily, type WrittenSeries } from "./remote-write.ts";
import { temporaryFolder } from "./folder.ts";

/** A receiver with a clock that a test moves, and the messages that it sent. */
export interface ReceiverWorld {
  readonly receiver: Receiver;
  readonly folder: string;
  readonly sent: Scrape[];
  readonly bytes: Uint8Array[];
  readonly outcomes: MomentOutcome[];
  readonly dropped: Partial<Record<SampleDrop, number>>;
  elections(): number;
  send(series: readonly WrittenSeries[], families?: readonly WrittenFamily[]): Promise<void>;
  /** Moves the clock, and sends what is complete. */
  pass(millis: number): Promise<void>;
  /** The sink refuses messages while it is set. */
  refusal: Error | undefined;
}

/** The limits of tests. */
export const RECEIVER_LIMITS: ReceiverLimits = {
  uncompressedBytes: 10_000_000,
  series: 10_000,
  labels: 64,
  labelBytes: 1_000,
  memoryBytes: 50_000_000,
  diskBytes: 100_000_000,
  page: {},
};

/** The time of the first scrape in tests. */
export const T0 = Date.UTC(2026, 2, 1, 12, 0, 0);

/** Starts a receiver whose clock stands at the time of the first scrape. */
export async function startReceiverWorld(
  given: {
    readonly version?: 1 | 2;
    readonly folder?: string;
    readonly limits?: Partial<ReceiverLimits>;
    readonly learnMillis?: number;
    readonly nowMillis?: number;
    /** The real clock instead of one that the test moves. */
    readonly clock?: ReceiverOptions["clock"];
  } = {},
): Promise<ReceiverWorld> {
  const { version = 1, folder = temporaryFolder("remote-write"), learnMillis = 0 } = given;
  let now = given.nowMillis ?? T0;
  const decoder = createScrapeDecoder();
  let elections = 0;
  const world = {
    folder,
    sent: [] as Scrape[],
    bytes: [] as Uint8Array[],
    outcomes: [] as MomentOutcome[],
    dropped: {} as Partial<Record<SampleDrop, number>>,
    refusal: undefined as Error | undefined,
    elections: () => elections,
  };
  const receiver = startReceiver({
    folder,
    cluster: "prod",
    collector: "one",
    intervalMillis: 30_000,
    labels: { externalLabels: ["cluster", "prometheus"], replicaLabels: ["prometheus_replica"] },
    limits: { ...RECEIVER_LIMITS, ...given.limits },
    async sink({ value }) {
      if (world.refusal !== undefined) throw world.refusal;
      const scrape = decoder.decode(value);
      if ("invalid" in scrape) throw new TypeError(String(scrape.invalid));
      world.sent.push(scrape);
      world.bytes.push(value);
    },
    events: {
      onSamples(_, dropped) {
        for (const [reason, count] of Object.entries(dropped) as [SampleDrop, number][])
          world.dropped[reason] = (world.dropped[reason] ?? 0) + count;
      },
      onMoment: (outcome) => void world.outcomes.push(outcome),
      onElected: () => void (elections += 1),
      onSinkError: () => {},
    },
    clock: given.clock ?? { nowMillis: () => now, monotonicMillis: () => now },
    learnMillis,
    logger: pino({ level: "silent" }),
  });
  await receiver.replayed;
  return Object.assign(world, {
    receiver,
    async send(series: readonly WrittenSeries[], families: readonly WrittenFamily[] = []) {
      const body = compressed(version === 1 ? writeV1(series, families) : writeV2(series, families));
      await receiver.receive(body, version);
    },
    async pass(millis: number) {
      now += millis;
      await receiver.tick();
      // The sink of tests resolves at once.
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
}

/** Returns series of a target with GPUs as a Prometheus sends them, with `up`. */
export function pushedPage(given: {
  readonly atMillis: number;
  readonly gpus?: number;
  readonly instance?: string;
  readonly up?: number;
  readonly util?: number;
  readonly more?: Readonly<Record<string, string>>;
}): WrittenSeries[] {
  const { atMillis, gpus = 2, instance = "10.0.0.7:9400", up = 1, util = 50, more = {} } = given;
  const target = { job: "dcgm", instance, node: "gpu-a", ...more };
  const series = Array.from({ length: gpus }, (_, gpu) =>
    ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"].map((name, index) => ({
      labels: {
        __name__: name,
        gpu: String(gpu),
        UUID: `GPU-0a1b2c3d-0000-4000-8000-00000000000${gpu}`,
        modelName: "NVIDIA H100 80GB HBM3",
        ...target,
      },
      samples: [[atMillis, index === 0 ? util : 1_000] as const],
    })),
  ).flat();
  return [...series, { labels: { __name__: "up", ...target }, samples: [[atMillis, up]] }];
}
