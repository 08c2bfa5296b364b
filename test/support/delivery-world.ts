import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { chargeBeside, type Charge } from "../../domain/charge/charge.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/charges/charge-rows.ts";
import { newRunId, publishRun } from "../../processors/runs.ts";
import { createCourier, type Courier, type CourierOptions } from "../../reports/delivery/courier.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

const HOUR_MILLIS = 3_600_000;

/** A charge of an hour of a GPU that a team held. */
export function chargeOf(team: string, hour: number, given: Partial<Charge> = {}): Charge {
  const cost = lastUnits<"currency">(1_234_567_891n);
  const place = { fromMillis: hour, untilMillis: hour + HOUR_MILLIS, cluster: "prod", node: team, slot: 0, team };
  const costs = { list: cost, contracted: cost, effective: cost };
  const beside = chargeBeside({ ...place, state: "active", payer: "holder", costs, ...given }, { price: "prices[0]" });
  return { ...beside, gpuHours: lastUnits(1_000_000_000n), ...given };
}

/** Books charges of one hour of a cluster, as the ledger publishes them a minute after its end. */
export async function bookHour(store: StoreClient, hour: number, charges: readonly Charge[]): Promise<void> {
  const run = { cluster: charges[0]!.cluster, windowStart: hour, runId: newRunId(), generation: 1 };
  const at = new Date(hour);
  const billingPeriod = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
  await insertCharges(store, { run: run.runId, policy: "default", billingPeriod }, charges);
  const published = { ...run, watermark: new Map<number, number>(), publishedAt: hour + HOUR_MILLIS + 60_000 };
  await publishRun(store, "charge", published, { scrapes: 0, rows: charges.length, hash: "0" });
}

/** A configuration with deliveries, from what is written of them. */
export function withDeliveries(...deliveries: readonly object[]): Config {
  return parseConfig(JSON.stringify({ deliveries }), { source: "the test", folder: ".", env: {} });
}

/** Couriers that share a clock, and what they said. */
export interface DeliveryWorld {
  /** Milliseconds since the epoch; it stands until it is moved. */
  now: number;
  /** A folder that is there. */
  readonly folder: string;
  /** All log lines. */
  readonly log: readonly string[];
  /** A courier of what a configuration has. */
  courier(config: Config, more?: Partial<CourierOptions>): Courier;
  dispose(): void;
}

/** Makes a world over a store. */
export function createDeliveryWorld(store: StoreClient, now: number): DeliveryWorld {
  const root = mkdtempSync(join(tmpdir(), "gpu-ledger-deliveries-"));
  const log: string[] = [];
  const stream = new Writable({
    write(line: Buffer, _, done) {
      log.push(line.toString());
      done();
    },
  });
  const world: DeliveryWorld = {
    now,
    folder: root,
    log,
    courier: (config, more = {}) =>
      createCourier({
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
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
  return world;
}
