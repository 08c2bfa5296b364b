import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Returns the CPU seconds, user and system, of a process with all its threads so far (proc(5), fields 14 and 15). */
export function cpuSeconds(processId: number): number {
  const fields = readFileSync(`/proc/${processId}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Returns the CPU seconds of this process during the work. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Returns the seconds of each run of the work. */
export async function secondsOf(work: () => unknown, runs = 1): Promise<readonly number[]> {
  const seconds: number[] = [];
  for (let run = 0; run < runs; run++) {
    const begun = performance.now();
    await work();
    seconds.push((performance.now() - begun) / 1000);
  }
  return seconds;
}

/**
 * Returns the current private memory of a process, in megabytes. Mapped pages of files (the embedded log) belong to
 * the system's cache and are not included.
 */
export function ownMegabytes(processId: number): number {
  return memoryOf(processId, "status", "RssAnon");
}

/** Returns the maximum of a process's resident memory so far, from the kernel, in megabytes. */
export function mostMegabytes(processId: number): number {
  return memoryOf(processId, "status", "VmHWM");
}

/** Returns the proportional memory of a process and all of its descendants, in megabytes. */
export function familyMegabytes(processId: number): number {
  const children = readdirSync(`/proc/${processId}/task`).flatMap((thread) =>
    readFileSync(`/proc/${processId}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return memoryOf(processId, "smaps_rollup", "Pss") + children.reduce((sum, id) => sum + familyMegabytes(id), 0);
}

function memoryOf(processId: number, file: string, line: string): number {
  const text = readFileSync(`/proc/${processId}/${file}`, "utf8");
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1000;
}

/** Returns the result of the work, and the maximum of a value during the work. */
export async function withMost<Result>(
  measure: () => number,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly most: number }> {
  let most = 0;
  const watch = setInterval(() => {
    try {
      most = Math.max(most, measure());
    } catch {
      // The measured process has ended.
    }
  }, 50);
  try {
    return { result: await work(), most };
  } finally {
    clearInterval(watch);
  }
}

/** Returns the memory of this process after a garbage collection, in and outside of the heap, in megabytes. */
export function liveMegabytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}
