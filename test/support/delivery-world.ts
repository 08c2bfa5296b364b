import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { chargeBeside, type Charge } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import {
  createDeliveryWorker,
  type DeliveryWorker,
  type DeliveryWorkerOptions,
} from "../../reports/delivery/worker.ts";
import { listDeliveries, type DeliveryStatus } from "../../reports/delivery/list.ts";
import { readRecords, type DeliveryRecord } from "../../reports/delivery/records.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startReceiver, type Receiver, type ReceiverAnswer } from "./receiver.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

/** A charge of one hour for a GPU that a team held. */
export function chargeOf(team: string, hour: number, given: Partial<Charge> = {}): Charge {
  const cost = lastUnits<"currency">(1_234_567_891n);
  const place = { fromMillis: hour, untilMillis: hour + HOUR_MILLIS, cluster: "prod", node: team, slot: 0, team };
  const costs = { list: cost, contracted: cost, effective: cost };
  const beside = chargeBeside({ ...place, state: "active", payer: "holder", costs, ...given }, { price: "prices[0]" });
  return { ...beside, gpuHours: lastUnits(1_000_000_000n), ...given };
}

/** Books charges of one hour of a cluster as the ledger publishes them: by default a minute after the hour's end. */
export async function bookHour(
  store: StoreClient,
  hour: number,
  charges: readonly Charge[],
  publishedAt = hour + HOUR_MILLIS + 60_000,
): Promise<void> {
  const run = { cluster: charges[0]!.cluster, windowStart: hour, runId: newRunId(), generation: 1 };
  const at = new Date(hour);
  const billingPeriod = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  await insertCharges(store, { run: run.runId, policy: "default", billingPeriod }, charges);
  const published = { ...run, watermark: new Map<number, number>(), publishedAt };
  await publishRun(store, "charge", published, { scrapes: 0, rows: charges.length, hash: "0" });
}

/** Books an hour of another cluster, so that the ledger has passed the end of a month. */
export async function bookAfter(store: StoreClient, month: number, publishedAt?: number): Promise<void> {
  const until = Date.UTC(2026, month + 1, 1);
  await bookHour(store, until, [chargeOf("ops", until, { cluster: "other" })], publishedAt);
}

/** Books three hours of March, two GPUs in each. */
export async function bookMarch(store: StoreClient): Promise<void> {
  for (const [index, team] of ["vision", "nlp", "vision"].entries()) {
    const hour = Date.UTC(2026, 2, 1, index);
    await bookHour(store, hour, [chargeOf(team, hour), chargeOf("ops", hour)]);
  }
  await bookAfter(store, 2);
}

/** A configuration with these deliveries. */
export function withDeliveries(...deliveries: readonly object[]): Config {
  return parseConfig(JSON.stringify({ deliveries }), { source: "the test", folder: ".", env: {} });
}

/** A time before the delivery of {@link monthly} for March is due, and the time when it is due. */
export const SINCE = Date.UTC(2026, 3, 1, 12);
export const DUE = Date.UTC(2026, 3, 3, 6);

/** A configuration with one delivery, on the third of the month at six. */
export function monthly(name: string, to: object, more: object = {}): Config {
  return withDeliveries({ name, schedule: "0 6 3 * *", to: [to], ...more });
}

/** A recipient with a receiver's webhook. */
export function toWebhook(name: string, { url }: Pick<Receiver, "url">, more: object = {}): object {
  return { name, webhook: { url: `${url}/hook`, timeout: "1s", ...more } };
}

/** Delivery workers with a common clock, and their log. */
export interface DeliveryWorld {
  /** Milliseconds since the epoch. The clock stands still until a test moves it. */
  now: number;
  /** An existing folder. */
  readonly folder: string;
  /** All log lines. */
  readonly log: readonly string[];
  /** A delivery worker with a configuration's deliveries. */
  worker(config: Config, more?: Partial<DeliveryWorkerOptions>): DeliveryWorker;
  /** A delivery worker that has had its schedules since before March was due, at the time when March is due. */
  dueWorker(config: Config, more?: Partial<DeliveryWorkerOptions>): Promise<DeliveryWorker>;
  /** A receiver that is closed with the world. */
  receive(...answers: ReceiverAnswer[]): Promise<Receiver>;
  /** A recipient with the world's folder. */
  readonly archive: object;
  /** The events of a delivery, each with its attempt: `1 started`. */
  eventsOf(name: string): Promise<readonly string[]>;
  recordsOf(name: string): Promise<readonly DeliveryRecord[]>;
  /** The status of the newest due period of a configuration's delivery. */
  statusOf(config: Config): Promise<DeliveryStatus>;
  dispose(): Promise<void>;
}

/** Makes a world with a store. */
export function createDeliveryWorld(store: StoreClient, now: number): DeliveryWorld {
  const root = mkdtempSync(join(tmpdir(), "gpu-ledger-deliveries-"));
  const log: string[] = [];
  const stream = new Writable({
    write(line: Buffer, _, done) {
      log.push(line.toString());
      done();
    },
  });
  const receivers: Receiver[] = [];
  const world: DeliveryWorld = {
    now,
    folder: root,
    log,
    archive: { name: "archive", folder: root },
    worker: (config, more = {}) =>
      createDeliveryWorker({
        store,
        ledger: ledgerOf(config),
        focus: config.focus,
        deliveries: config.deliveries,
        version: "0.0.0",
        env: process.env,
        now: () => world.now,
        who: "server-a",
        logger: pino({ level: "trace" }, stream),
        folder: root,
        ...more,
      }),
    async dueWorker(config, more = {}) {
      world.now = SINCE;
      const worker = world.worker(config, more);
      await worker.turn();
      world.now = DUE;
      return worker;
    },
    async receive(...answers) {
      const receiver = await startReceiver(...answers);
      receivers.push(receiver);
      return receiver;
    },
    recordsOf: async (name) => (await readRecords(store, 0)).filter(({ delivery }) => delivery === name),
    eventsOf: async (name) => (await world.recordsOf(name)).map(({ what, attempt }) => `${attempt} ${what}`).toSorted(),
    async statusOf(config) {
      const { name } = config.deliveries[0]!;
      const list = await listDeliveries(store, config.deliveries, world.now);
      return list.find(({ delivery, state }) => delivery === name && state !== "scheduled")!;
    },
    async dispose() {
      for (const receiver of receivers) await receiver.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return world;
}
