import { makeCards } from "../processors/ledger/advice/make-cards.ts";
import { newRunId, publishRun } from "../processors/ledger/hours/runs.ts";
import { compareBills } from "../cli/advise/what-if.ts";
import { readWhatIf } from "../runtime/config/what-if.ts";
import { parseConfig } from "../runtime/config/load.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { ROLLUP_COLUMNS } from "../runtime/store/schema/rollups.ts";
import { namesOf } from "../runtime/store/schema/table.ts";
import { USAGE_COLUMNS } from "../runtime/store/schema/usage.ts";
import { PLANTED_PRICES, plantedFleet } from "../test/support/advice/planted-fleet.ts";
import { plantHours } from "../test/support/advice/planted-week.ts";
import { settled, withStore } from "./ledger.ts";
import { report } from "./report.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../domain/time.ts";

/** A Monday that begins a month of 31 days. */
const START = Date.UTC(2026, 5, 1);
const DAYS = 30;
const GPUS = 10_000;
/** Workloads of each kind of waste, and healthy ones: a fifth of the GPUs has a card. */
const FLEET = { seed: 1, each: 100, healthy: 3_400 };
const CLUSTER = "test";

const CONFIG = parseConfig(JSON.stringify({ prices: PLANTED_PRICES, owners: { team: [{ namespaceLabel: "team" }] } }), {
  source: "bench",
  folder: ".",
  env: {},
});

/** The cards of a week of a fleet, and the bill of a month beside the bill after a change. The store runs on the same machine. */
export async function benchAdvice(): Promise<void> {
  await withStore(async ({ store }) => {
    const fleet = plantedFleet(FLEET);
    const gpus = fleet.nodes.reduce((sum, node) => sum + node.gpus, 0);
    await plantHours(store, { cluster: CLUSTER, start: START, hours: 24, ...fleet });
    for (let day = 1; day < DAYS; day++) await copyDay(store, day, day < 7);
    await settled(store);
    report("GPUs of the fleet", [gpus], "", { atLeast: GPUS });
    await benchCards(store);
    await benchWhatIf(store);
  });
}

async function benchCards(store: StoreClient): Promise<void> {
  const window = { from: START, until: START + 7 * DAY_MILLIS };
  const runs: number[] = [];
  let memory = 0;
  const watch = setInterval(() => (memory = Math.max(memory, process.memoryUsage.rss())), 50);
  for (let turn = 0; turn < 3; turn++) {
    const begun = performance.now();
    const { cards } = await makeCards(store, ledgerOf(CONFIG), { window, advice: CONFIG.advice });
    runs.push((performance.now() - begun) / 1000);
    if (turn === 0) report("  cards of a week", [cards.length], "", {});
  }
  clearInterval(watch);
  report("  time to make them", runs, "s", { atMost: 60 });
  report("  memory of the process", [memory / 1e6], "MB", { atMost: 1_000 });
}

async function benchWhatIf(store: StoreClient): Promise<void> {
  const read = readWhatIf("changes: [{ resize: { type: notebook }, to: { mig: 1g.5gb } }]");
  if ("problems" in read) throw new Error("the change is wrong");
  const span = { name: "2026-06", from: START, until: START + DAYS * DAY_MILLIS };
  const runs: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const begun = performance.now();
    const of = { span, by: ["team"], format: "json", write: () => undefined } as const;
    await compareBills(store, CONFIG, { path: "bench", whatIf: read.value }, of);
    runs.push((performance.now() - begun) / 1000);
  }
  report(`both bills of a month of ${DAYS} days`, runs, "s", { atMost: 60 });
}

/** Copies the hours of the first day to another day: the usage, and the five-minute rollups if cards read them. */
async function copyDay(store: StoreClient, day: number, withRollups: boolean): Promise<void> {
  const tables = [
    { kind: "usage", table: "usage_hours", columns: namesOf(USAGE_COLUMNS), times: ["from_at", "until_at"] },
    { kind: "rollup", table: "gpu_5m", columns: ROLLUP_COLUMNS, times: ["bucket"] },
  ] as const;
  for (const { kind, table, columns, times } of withRollups ? tables : tables.slice(0, 1)) {
    const names = columns.join(", ");
    const moved = columns.map((name) => {
      const isTime = (times as readonly string[]).includes(name);
      return isTime ? `addSeconds(${name}, ${(day * DAY_MILLIS) / 1000})` : name;
    });
    for (let hour = 0; hour < 24; hour++) {
      const windowStart = START + day * DAY_MILLIS + hour * HOUR_MILLIS;
      const first = (START + hour * HOUR_MILLIS) / 1000;
      const run = {
        cluster: CLUSTER,
        windowStart,
        runId: newRunId(),
        generation: 1,
        watermark: new Map(),
        publishedAt: windowStart,
      };
      await store.command(
        `INSERT INTO ${table} (run_id, ${names}) SELECT toUUID({run:String}), ${moved.join(", ")} FROM ${table}
         WHERE ${times[0]} >= fromUnixTimestamp(${first}) AND ${times[0]} < fromUnixTimestamp(${first + 3600})`,
        { run: run.runId },
      );
      await publishRun(store, kind, run, { scrapes: 0, rows: 0, hash: "0" });
    }
  }
}
