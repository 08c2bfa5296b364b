import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { ChildBus } from "./make.ts";

/** The options of a writer in a process of its own. */
export interface ChildWriterOptions {
  readonly bus: ChildBus;
  readonly topic: string;
  /** A part of the keys and values, so that a test can distinguish the messages of each run. */
  readonly run: string;
  readonly keys: number;
}

/**
 * Runs `child-writer.mjs` (the built code, in a process of its own). Kills it with SIGKILL `lifeMillis` after its first acknowledgement, and returns
 * the last acknowledged number of each key.
 */
export async function writeAndDie(options: ChildWriterOptions, lifeMillis: number): Promise<Map<number, number>> {
  const script = new URL("child-writer.mjs", import.meta.url);
  const child = spawn(process.execPath, [script.pathname, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => child.once("close", resolve));
  const acknowledged = new Map<number, number>();
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`The writer ended early with ${code}.`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [key, number] = line.split(":").map(Number);
      if (key !== undefined && number !== undefined) acknowledged.set(key, number);
      resolve();
    });
  });
  await delay(lifeMillis);
  child.kill("SIGKILL");
  await gone;
  return acknowledged;
}
