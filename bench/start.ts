import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Period } from "../reports/read/periods.ts";
import type { SystemStatus } from "../services/system.ts";
import { report } from "./report.ts";

const RUNS = 3;
const LONGEST_SECONDS = 900;
/** The time without a waiting hour after which the past is complete. Hours that another hour reopens wait again within it. */
const QUIET_SECONDS = 5;
const REST_MILLIS = 60_000;
const EIGHT_DAYS_MILLIS = 8 * 86_400_000;

/** The seconds of a first start since its pages' program began, and the memory of all of its processes a minute after the last of them. */
interface FirstStart {
  readonly pages: number;
  readonly charged: number;
  readonly cards: number;
  readonly closed: number;
  readonly megabytes: number;
}

/**
 * `gpu-ledger up` on an empty folder, with the demo: the time until its pages answer, its eight days are charged, its cards are made, and the
 * month before is closed.
 */
export async function benchStart(): Promise<void> {
  const starts: FirstStart[] = [];
  for (let run = 0; run < RUNS; run++) starts.push(await startOnce());
  const of = (name: keyof FirstStart): readonly number[] => starts.map((start) => start[name]);
  report("a first start to its pages", of("pages"), "s", { atMost: 6 });
  report("a first start to eight charged days", of("charged"), "s", { atMost: 60 });
  report("a first start to the cards", of("cards"), "s", { atMost: 60 });
  report("a first start to a closed month", of("closed"), "s", {});
  report("memory of all processes a minute later (PSS)", of("megabytes"), "MB", { atMost: 900 });
}

async function startOnce(): Promise<FirstStart> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-start-"));
  const config = join(folder, "gpu-ledger.yaml");
  writeFileSync(config, JSON.stringify({ data: join(folder, "data"), server: { listen: "127.0.0.1:0" } }));
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1000;
  const child = spawn(process.execPath, ["dist/cli/main.js", "up", "--log", "json", "--config", config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  // The messages of the older past, which follow, are no part of the eight days.
  let isStored = false;
  let pages: number | undefined;
  let charged: number | undefined;
  let cards: number | undefined;
  const begunAt = Date.now();
  try {
    while (seconds() < LONGEST_SECONDS) {
      await pause(250);
      const address = /"address":"([^"]+)"/.exec(log)?.[1];
      if (address === undefined) continue;
      const status = await answerOf<SystemStatus>(`${address}/api/status`);
      if (status === undefined) continue;
      pages ??= seconds();
      if (cards === undefined) {
        isStored ||= (status.demo?.history.sent ?? 0) > 0 && (status.processor?.lagMessages ?? Infinity) < 50;
        if (!isStored || hoursOfEightDays(status, begunAt) !== 0) charged = undefined;
        else charged ??= seconds();
        if (charged === undefined || seconds() - charged < QUIET_SECONDS) continue;
        const advice = await answerOf<{ readonly cards: readonly unknown[] }>(`${address}/api/v1/advice`);
        if (advice === undefined || advice.cards.length === 0) continue;
        cards = seconds();
      }
      const books = await answerOf<{ readonly periods: readonly Period[] }>(`${address}/api/v1/periods`);
      if (books?.periods.some((period) => period.status === "closed") !== true) continue;
      const closed = seconds();
      await pause(REST_MILLIS);
      return { pages, charged: charged!, cards, closed, megabytes: memoryOf(child.pid!) };
    }
    throw new Error(`not complete within ${LONGEST_SECONDS} s:\n${log}`);
  } finally {
    child.kill("SIGINT");
    await new Promise((resolve) => child.once("exit", resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function answerOf<Answer>(url: string): Promise<Answer | undefined> {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.ok === true ? ((await answer.json()) as Answer) : undefined;
}

/** Returns the number of hours of the eight days that wait; undefined before the leader has looked. */
function hoursOfEightDays({ processor }: SystemStatus, begunAt: number): number | undefined {
  return processor?.hoursWaiting?.filter((hour) => hour > begunAt - EIGHT_DAYS_MILLIS).length;
}

/** Returns the proportional memory of a process and all of its descendants, in megabytes. */
function memoryOf(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    const stat = readOf(`/proc/${name}/stat`);
    if (stat !== undefined) parents.set(Number(name), Number(stat.split(") ")[1]!.split(" ")[1]));
  }
  const family = [root];
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  const kilobytes = family.map((member) =>
    Number(/^Pss:\s+(\d+)/m.exec(readOf(`/proc/${member}/smaps_rollup`) ?? "")?.[1] ?? 0),
  );
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** Returns a file of /proc; undefined if its process has ended. */
function readOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
