import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** Returns the CPU seconds, user and system, of a process with all its threads so far (proc(5), fields 14 and 15). */
export function cpuSeconds(processId: number): number {
  const fields = readFileSync(`/proc/${processId}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/**
 * Returns the current private memory of a process, in megabytes. Mapped pages of files (the embedded log) belong to
 * the system's cache and are not included.
 */
export function ownMegabytes(processId: number): number {
  const line = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${processId}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1000;
}

/** Exporters in a separate process, so that their CPU time is measured separately. */
export interface ExporterProcess {
  readonly discovery: string;
  readonly processId: number;
  stop(): void;
}

/** Starts exporters for `targets` nodes of `gpus` GPUs each, or as many engines. */
export async function startExporters(
  targets: number,
  gpus: number,
  families: "stock" | "engines" = "stock",
): Promise<ExporterProcess> {
  const program = fileURLToPath(new URL("exporters.js", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program, String(targets), String(gpus), families], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise<string>((resolve) =>
    child.stdout!.once("data", (chunk: Buffer) => resolve(chunk.toString())),
  );
  const { discovery } = JSON.parse(line) as { discovery: string };
  return { discovery, processId: child.pid!, stop: () => void child.kill() };
}

/** Resolves when a process ends. Fails if its exit code is not 0. */
export function ended(child: ChildProcess, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${String(code)}`))));
  });
}

/** Waits. */
export function pause(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}
