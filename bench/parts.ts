import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pino from "pino";
import { parseConfig } from "../runtime/config/load.ts";
import type { Config } from "../runtime/config/schema.ts";
import { startSystem, type System } from "../services/system.ts";
import { createCommandFolder, type CommandFolder } from "../test/support/command.ts";
import type { Kit } from "./frame.ts";
import { ownMegabytes } from "./measure.ts";
import type { Families } from "./page.ts";

/** Starts a program of this folder as a process. Returns the process and the line of JSON that it prints when it is ready. */
export async function startProgram<Ready>(
  kit: Kit,
  program: string,
  args: readonly (number | string)[],
): Promise<{ readonly child: ChildProcess; readonly ready: Ready }> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...args.map(String)], { stdio: ["pipe", "pipe", "inherit"] });
  kit.atEnd(() => child.kill());
  for await (const line of child.stdout.iterator({ destroyOnReturn: false }))
    return { child, ready: JSON.parse(String(line)) as Ready };
  throw new Error(`${program} has ended`);
}

/** Exporters in a separate process, so that their CPU time is measured separately. */
export interface Exporters {
  readonly discovery: string;
  /** The address of the series of Kubernetes. */
  readonly state: string;
  readonly processId: number;
}

/** Starts exporters for `targets` nodes of `gpus` GPUs each, or as many engines. */
export async function startExporters(
  kit: Kit,
  targets: number,
  gpus: number,
  families: Families | "engines" = "stock",
): Promise<Exporters> {
  const { child, ready } = await startProgram<Omit<Exporters, "processId">>(kit, "exporters.js", [
    targets,
    gpus,
    families,
  ]);
  return { ...ready, processId: child.pid! };
}

/** Returns a folder in which commands of gpu-ledger run. */
export function commandFolder(kit: Kit): CommandFolder {
  const folder = createCommandFolder();
  kit.atEnd(() => folder.dispose());
  return folder;
}

/** `up` in this process, on embedded parts. */
export interface Up {
  readonly system: System;
  readonly config: Config;
  /** The processes by their names, with this one. */
  readonly processes: Readonly<Record<string, number>>;
}

/** Starts `up` without the demo. `rules` replaces parts of the configuration. */
export async function startUp(kit: Kit, settings: object, rules: Partial<Config> = {}): Promise<Up> {
  const data = kit.folder();
  const common = { data, log: { level: "error" }, server: { listen: "127.0.0.1:0" } };
  const parsed = parseConfig(JSON.stringify({ ...common, ...settings }), { source: "bench", folder: data, env: {} });
  const config = { ...parsed, ...rules };
  const system = await startSystem({ config, version: "bench", logger: pino({ level: "error" }, pino.destination(2)) });
  kit.atEnd(() => system.stop());
  return {
    system,
    config,
    get processes() {
      const others = Object.entries(system.status().processes).map(([part, { id }]) => [part, id!] as const);
      return { ...Object.fromEntries(others), up: process.pid };
    },
  };
}

/** Looks at `up` every 5 s. Returns the worst delay of its last rows, and the highest memory of some of its processes together. */
export async function follow(
  up: Up,
  seconds: number,
  parts: readonly string[] = Object.keys(up.processes),
): Promise<{ readonly freshness: number; readonly megabytes: number }> {
  let [freshness, megabytes] = [0, 0];
  for (let second = 0; second < seconds; second += 5) {
    await pause(5_000);
    freshness = Math.max(freshness, up.system.status().processor?.freshnessSeconds?.p99 ?? Number.NaN);
    const memory = parts.reduce((sum, part) => sum + ownMegabytes(up.processes[part]!), 0);
    megabytes = Math.max(megabytes, memory);
  }
  return { freshness, megabytes };
}
