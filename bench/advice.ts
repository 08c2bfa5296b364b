import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { newRunId, publishRun } from "../processors/ledger/runs/runs.ts";
import { compareBills } from "../cli/advise/what-if.ts";
import { readWhatIf } from "../runtime/config/what-if.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { parseConfig } from "../runtime/config/load.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { ROLLUP_COLUMNS } from "../runtime/store/schema/rollups.ts";
import { namesOf } from "../runtime/store/schema/table.ts";
import { USAGE_COLUMNS } from "../runtime/store/schema/usage.ts";
import { packed, PLANTED_PRICES, plantedFleet } from "../test/support/advice/planted-fleet.ts";
import { plantHours } from "../test/support/advice/planted-week.ts";
import { settled, withStore, type BenchFleet } from "./ledger.ts";
import { ended, ownMegabytes } from "./process.ts";
import { report } from "./report.ts";
import { DAY_MILLIS, HOUR_MILLIS, momentText } from "../domain/time.ts";

/** A Monday that begins a month of 31 days. */
const START = Date.UTC(2026, 5, 1);
const DAYS = 30;
const GPUS = 10_000;
/** Workloads of each kind of waste, and healthy ones: a fifth of the GPUs has a card. */
const FLEET = { seed: 1, each: 100, healthy: 4_800 };
const GPUS_OF_NODE = 8;
const CLUSTER = "test";

const RULES = { prices: PLANTED_PRICES, owners: { team: [{ namespaceLabel: "team" }] } };
const CONFIG = parseConfig(JSON.stringify(RULES), { source: "bench", folder: ".", env: {} });
const PROGRAM = fileURLToPath(new URL("../cli/main.js", import.meta.url));

/** The cards of a week of a fleet, and the bill of a month beside the bill after a change. The store runs on the same machine. */
export async function benchAdvice(): Promise<void> {
  await withStore(async (lent) => {
    const { store } = lent;
    const fleet = packed(plantedFleet(FLEET), GPUS_OF_NODE);
    const gpus = fleet.nodes.reduce((sum, node) => sum + node.gpus, 0);
    await plantHours(store, { cluster: CLUSTER, start: START, hours: 24, ...fleet });
    for (let day = 1; day < DAYS; day++) await copyDay(store, day, day < 7);
    await settled(store);
    report("GPUs of the fleet", [gpus], "", { atLeast: GPUS });
    await benchCards(lent);
    await benchWhatIf(store);
  });
}

/** The command is a process of its own, so its memory is that of the computation alone. */
async function benchCards({ address, folder }: BenchFleet): Promise<void> {
  const { url, username, password, database } = address;
  const config = join(folder, "bench.yaml");
  writeFileSync(
    config,
    JSON.stringify({ ...RULES, store: { kind: "clickhouse", database, clickhouse: { url, username, password } } }),
  );
  const span = `${momentText(START)}/${momentText(START + 7 * DAY_MILLIS)}`;
  const runs: number[] = [];
  const memory: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const begun = performance.now();
    const child = spawn(process.execPath, [PROGRAM, "advise", span, "--format", "csv", "--config", config], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, ownMegabytes(child.pid!))), 50);
    const [cards] = await Promise.all([text(child.stdout), ended(child, "gpu-ledger advise")]);
    clearInterval(watch);
    runs.push((performance.now() - begun) / 1000);
    memory.push(most);
    if (turn === 0) report("  cards of a week", [cards.trim().split("\n").length - 1], "", { atLeast: 1_000 });
  }
  report("  time to make them", runs, "s", { atMost: 60 });
  report("  memory of the process", memory, "MB", { atMost: 1_000 });
}

async function benchWhatIf(store: StoreClient): Promise<void> {
  const read = readWhatIf("changes: [{ resize: { type: notebook }, to: { mig: 1g.5gb } }]");
  if ("problems" in read) throw new Error("the change is wrong");
  const span = { name: "2026-06", from: START, until: START + DAYS * DAY_MILLIS };
  const runs: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const begun = performance.now();
    const of = { span, by: ["team"], format: "json", write: () => undefined } as const;
    await compareBills({ store, config: CONFIG, ledger: ledgerOf(CONFIG) }, { path: "bench", whatIf: read.value }, of);
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
