import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { periodOf } from "../domain/period.ts";
import { readReport } from "../reports/report/read-report.ts";
import type { StoreAddress } from "../runtime/store/connection.ts";
import { chargeMonth } from "./charged-month.ts";
import { settled, START, withFleet, type BenchFleet } from "./ledger.ts";
import { report } from "./report.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

const GPUS = 10_000;
const TEAMS = 200;
const EXPORTED_LINES = 5_000_000;
const PROGRAM = fileURLToPath(new URL("../cli/main.js", import.meta.url));

/** The requests of finance for a month of a fleet: its cost by team, and its lines in files. */
export async function benchReports(): Promise<void> {
  await withFleet(GPUS, work, TEAMS);
}

async function work({ store, address, folder }: BenchFleet): Promise<void> {
  const month = periodOf(START);
  const linesInHour = await chargeMonth(store, month);
  await settled(store);
  const span = { name: month.name, from: month.from, until: month.until };
  const runs: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const begun = performance.now();
    const { rows } = await readReport(
      store,
      { policy: "default", kind: "chargeback", span, by: ["team"], where: [] },
      { currency: "USD" },
    );
    runs.push((performance.now() - begun) / 1000);
    if (rows.length <= TEAMS) throw new Error("a team is missing");
  }
  report(`a month of ${GPUS.toLocaleString("en-US")} GPUs by team, nothing remembered`, runs, "s", {});
  const hours = Math.ceil(EXPORTED_LINES / linesInHour);
  const until = new Date(month.from + hours * HOUR_MILLIS).toISOString().slice(0, 16);
  for (const format of ["csv", "ndjson", "parquet"]) {
    const file = join(folder, `lines.${format}`);
    const { seconds, megabytes } = await exportLines(address, folder, `2026-03-01/${until}Z`, format, file);
    const lines = hours * linesInHour;
    report(`${lines.toLocaleString("en-US")} lines as ${format}`, [lines / seconds], "lines/s", { atLeast: 100_000 });
    report("  memory of the command", [megabytes], "MB", { atMost: 300 });
    report("  size of the file", [statSync(file).size / 1e6], "MB", {});
  }
}

/** Runs a command, and returns its time and its maximum memory. */
async function exportLines(
  { url, username, password, database }: StoreAddress,
  folder: string,
  span: string,
  format: string,
  file: string,
): Promise<{ readonly seconds: number; readonly megabytes: number }> {
  const config = join(folder, "gpu-ledger.yaml");
  const store = { kind: "clickhouse", database, clickhouse: { url, username, password } };
  const prices = [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1" }];
  writeFileSync(config, JSON.stringify({ store, prices }));
  const begun = performance.now();
  const args = ["report", span, "--lines", "--format", format, "--out", file, "--config", config];
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "inherit", "inherit"] });
  let megabytes = 0;
  const watch = setInterval(() => (megabytes = Math.max(megabytes, mostMegabytes(child.pid!))), 50);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`the export as ${format} failed`);
  return { seconds: (performance.now() - begun) / 1000, megabytes };
}

/** Returns the maximum memory of a process so far, from the kernel; 0 if the process has ended. */
function mostMegabytes(processId: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${processId}/status`, "utf8"))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}
