import { setTimeout as sleep } from "node:timers/promises";
import Fastify, { type FastifyInstance } from "fastify";
import pino from "pino";
import { periodOf } from "../domain/period.ts";
import { OPEN } from "../reports/access/viewer.ts";
import { addReports } from "../reports/routes.ts";
import { guardRoutes } from "../reports/server/guard.ts";
import { portOf } from "../reports/server/route-table.ts";
import type { Span } from "../reports/question/span.ts";
import { createSums } from "../reports/sums/sums.ts";
import { NO_METRICS } from "../domain/training/metrics.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { parseConfig } from "../runtime/config/load.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { chargeMonth, publishAgain } from "./charged-month.ts";
import { settled, START, withFleet } from "./ledger.ts";
import { report } from "./report.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

const GPUS = 10_000;
const TEAMS = 200;
const TURNS = 5;
const CONFIG = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "1" }]';
const MONTH = "span=2026-03";
const PAGES = [
  `/?${MONTH}`,
  `/team?team=team-7&${MONTH}`,
  `/node?cluster=test&node=node-7&${MONTH}`,
  `/gpu?cluster=test&node=node-7&gpu=3&${MONTH}`,
  `/workload?cluster=test&namespace=ml&workload=job-7&${MONTH}`,
  `/workload?cluster=test&namespace=ml&pod=pod-7&${MONTH}`,
  "/fleet",
  "/queue",
  "/practices",
  "/statement?period=2026-03",
  "/statement?period=2026-03&team=team-7",
  `/explain?${MONTH}`,
  `/explain?${MONTH}&where=team=team-7`,
  `/policies?${MONTH}`,
  `/prices?${MONTH}`,
  "/quality",
  "/periods",
];

/** The time of each page of a month of a fleet. */
export async function benchPages(): Promise<void> {
  await withFleet(
    GPUS,
    async ({ store }) => {
      const month = periodOf(START);
      await chargeMonth(store, month);
      await settled(store);
      await makeSums(store, month, month.until);
      await settled(store);
      await measurePages(store, month.until);
    },
    TEAMS,
  );
}

/** The background work of a server for a new month: sums of hours, then of days. */
async function makeSums(store: StoreClient, span: Span, now: number): Promise<void> {
  const sums = createSums(store, { logger: pino({ level: "silent" }), now: () => now });
  const question = { policy: "default", kind: "showback", span, where: [] } as const;
  for (const what of ["hours", "days"]) {
    const begun = performance.now();
    await sums.at(what)(question, ["team"]);
    await sums.made();
    report(`the sums of a month's ${what}, once`, [(performance.now() - begun) / 1000], "s", {});
  }
}

async function serve(store: StoreClient, now: () => number): Promise<FastifyInstance> {
  const config = parseConfig(CONFIG, { source: "the bench", folder: ".", env: {} });
  const server = Fastify();
  guardRoutes(server, portOf("server"), { admit: () => Promise.resolve(OPEN) });
  await addReports(server, {
    env: process.env,
    store,
    ledger: ledgerOf(config),
    focus: config.focus,
    practices: config.practices,
    training: config.training,
    trainingMetrics: NO_METRICS,
    deliveries: config.deliveries,
    rules: "",
    access: { authenticate: () => Promise.resolve(OPEN) },
    logger: pino({ level: "silent" }),
    version: "0",
    isDemo: false,
    now,
  });
  return server;
}

/** Measures each page of a server that was just started, and again after each new publication of an hour. */
async function measurePages(store: StoreClient, until: number): Promise<void> {
  const delays: number[] = [];
  for (const path of PAGES) {
    // There are samples of one hour, and the page shows the fleet at its end.
    const begin = path === "/fleet" ? START + HOUR_MILLIS - 60_000 : until - HOUR_MILLIS / 2;
    const began = performance.now();
    let skipped = 0;
    const server = await serve(store, () => Math.round(begin + skipped + performance.now() - began));
    const get = async (): Promise<{ readonly millis: number; readonly bytes: number }> => {
      const begun = performance.now();
      const { statusCode, rawPayload } = await server.inject(path);
      if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
      return { millis: performance.now() - begun, bytes: rawPayload.length };
    };
    const first = await get();
    const again: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      // Values of the current state are computed again every 5 s.
      skipped += 6_000;
      const before = await ledgerVersionOf(server);
      await publishAgain(store, until - HOUR_MILLIS);
      const published = performance.now();
      while ((await ledgerVersionOf(server)) === before) await sleep(20);
      delays.push(performance.now() - published);
      again.push((await get()).millis);
    }
    report(`${path}, after an hour was published again`, again, "ms", { atMost: 300 });
    report("  the first time", [first.millis], "ms", {});
    report("  sent", [first.bytes / 1000], "kB", { atMost: 150 });
    await server.close();
  }
  report("until a publication is visible, with its sums", delays, "ms", {});
}

/** Returns the ETag of a cheap answer. It changes with each ledger version. */
async function ledgerVersionOf(server: FastifyInstance): Promise<unknown> {
  return (await server.inject("/api/v1/periods")).headers.etag;
}
