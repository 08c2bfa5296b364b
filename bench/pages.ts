import { setTimeout as pause } from "node:timers/promises";
import Fastify, { type FastifyInstance } from "fastify";
import pino from "pino";
import { periodOf } from "../domain/period.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { createClosing } from "../services/closing.ts";
import { NO_METRICS } from "../domain/training/metrics.ts";
import { OPEN } from "../reports/access/viewer.ts";
import { addReports } from "../reports/routes.ts";
import { guardRoutes } from "../reports/server/guard.ts";
import { portOf } from "../reports/server/route-table.ts";
import { createSums } from "../reports/sums/sums.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { parseConfig } from "../runtime/config/load.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { defineBench, report } from "./frame.ts";
import { START, startChargedMonth } from "./ledger.ts";
import { secondsOf } from "./measure.ts";
import { CHARGES, copyHour, settled } from "./store.ts";

const TURNS = 5;
const CONFIG = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "1" }]';
const MONTH = periodOf(START);
const SPAN = `span=${MONTH.name}`;
const PAGES = [
  `/?${SPAN}`,
  `/team?team=team-7&${SPAN}`,
  `/node?cluster=test&node=node-7&${SPAN}`,
  `/gpu?cluster=test&node=node-7&gpu=3&${SPAN}`,
  `/workload?cluster=test&namespace=ml&workload=job-7&${SPAN}`,
  `/workload?cluster=test&namespace=ml&pod=pod-7&${SPAN}`,
  "/fleet",
  "/sick",
  "/search?q=node-7",
  "/queue",
  "/practices",
  "/statement?period=2026-03",
  "/statement?period=2026-03&team=team-7",
  `/explain?${SPAN}`,
  `/explain?${SPAN}&where=team=team-7`,
  `/policies?${SPAN}`,
  `/prices?${SPAN}`,
  "/quality",
  "/periods",
  "/invoices?period=2026-03",
];

/** The time of each page of a month of a fleet, in a server that was just started, and again after each new publication of an hour. */
export const pages = defineBench({
  name: "pages",
  about: "the pages of a month of a fleet, the first time and again",
  options: { gpus: 10_000, teams: 200, days: 31 },
  async run(options, kit) {
    const { store } = await startChargedMonth(kit, options);
    await makeSums(store);
    await settled(store);
    // The last charged hour, which is published again.
    const last = MONTH.from + options.days * 24 * HOUR_MILLIS - HOUR_MILLIS;
    const delays: number[] = [];
    for (const path of PAGES) delays.push(...(await measurePage(store, path, last)));
    report("until a publication is visible, with its sums", delays, "ms");
  },
});

/** The background work of a server for a new month: sums of hours, then of days. */
async function makeSums(store: StoreClient): Promise<void> {
  const sums = createSums(store, { logger: pino({ level: "silent" }), now: () => MONTH.until });
  const question = { policy: "default", kind: "showback", span: MONTH, where: [] } as const;
  for (const what of ["hours", "days"]) {
    const make = async (): Promise<void> => {
      await sums.at(what)(question, ["team"]);
      await sums.made();
    };
    report(`the sums of a month's ${what}, once`, await secondsOf(make), "s");
  }
}

/** Returns the milliseconds until each new publication was visible. */
async function measurePage(store: StoreClient, path: string, last: number): Promise<readonly number[]> {
  // There are samples of one hour, and these pages show the fleet at its end.
  const begin = path === "/fleet" || path === "/sick" ? START + HOUR_MILLIS - 60_000 : MONTH.until - HOUR_MILLIS / 2;
  const began = performance.now();
  let skipped = 0;
  const server = await serve(store, () => Math.round(begin + skipped + performance.now() - began));
  let bytes = 0;
  const get = async (): Promise<void> => {
    const { statusCode, rawPayload } = await server.inject(path);
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
    bytes = rawPayload.length;
  };
  const first = await secondsOf(get);
  const kilobytes = bytes / 1000;
  const again: number[] = [];
  const delays: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    // Values of the current state are computed again every 5 s.
    skipped += 6_000;
    const before = await ledgerVersionOf(server);
    await copyHour(store, CHARGES, { from: last, to: last, publishedAt: Date.now() });
    const published = performance.now();
    while ((await ledgerVersionOf(server)) === before) await pause(20);
    delays.push(performance.now() - published);
    again.push(...(await secondsOf(get)));
  }
  const millis = (seconds: readonly number[]): readonly number[] => seconds.map((each) => each * 1000);
  report(`${path}, after an hour was published again`, millis(again), "ms", { atMost: 300 });
  report("  the first time", millis(first), "ms");
  report("  sent", kilobytes, "kB", { atMost: 150 });
  await server.close();
  return delays;
}

async function serve(store: StoreClient, now: () => number): Promise<FastifyInstance> {
  const config = parseConfig(CONFIG, { source: "the bench", folder: ".", env: {} });
  const server = Fastify();
  guardRoutes(server, portOf("server"), { admit: () => Promise.resolve(OPEN) });
  const { focus, practices, training, deliveries } = config;
  await addReports(server, {
    env: process.env,
    store,
    ledger: ledgerOf(config),
    closing: createClosing(config, store, now),
    focus,
    practices,
    training,
    trainingMetrics: NO_METRICS,
    deliveries,
    rules: "",
    access: { authenticate: () => Promise.resolve(OPEN) },
    logger: pino({ level: "silent" }),
    version: "0",
    isDemo: false,
    now,
  });
  return server;
}

/** Returns the ETag of a cheap answer. It changes with each ledger version. */
async function ledgerVersionOf(server: FastifyInstance): Promise<unknown> {
  return (await server.inject("/api/v1/periods")).headers.etag;
}
