import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SystemStatus } from "../services/system.ts";
import { pause } from "./process.ts";
import { report } from "./report.ts";

const RUNS = 3;
const LONGEST_SECONDS = 180;

/** `npm start` on an empty data folder, build included: the time until live rows are stored, and until the week is stored. */
export async function benchStart(): Promise<void> {
  const live: number[] = [];
  const complete: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const seconds = await startOnce();
    live.push(seconds.live);
    complete.push(seconds.complete);
  }
  report("npm start to the first live rows", live, "s", { atMost: 15 });
  report("npm start to the history stored", complete, "s", { atMost: 60 });
}

async function startOnce(): Promise<{ readonly live: number; readonly complete: number }> {
  const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-bench-start-"));
  const config = join(folder, "gpu-ledger.yaml");
  writeFileSync(config, JSON.stringify({ data: join(folder, "data"), server: { listen: "127.0.0.1:0" } }));
  const started = performance.now();
  const child = spawn("npm", ["start", "--", "--config", config], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const seconds = (): number => (performance.now() - started) / 1000;
  let live: number | undefined;
  try {
    while (seconds() < LONGEST_SECONDS) {
      await pause(100);
      const address = /"address":"([^"]+)"/.exec(log)?.[1];
      if (address === undefined) continue;
      const answer = await fetch(`${address}/api/status`).catch(() => undefined);
      if (answer === undefined) continue;
      const { processor, demo } = (await answer.json()) as SystemStatus;
      // Only live scrapes have a freshness, so the first value shows that a live row is stored.
      if (processor?.freshnessSeconds !== undefined) live ??= seconds();
      const sent = demo !== undefined && demo.history.total > 0 && demo.history.sent === demo.history.total;
      if (live !== undefined && sent && processor !== undefined && processor.lagMessages < 50) {
        return { live, complete: seconds() };
      }
    }
    throw new Error(`not complete within ${LONGEST_SECONDS} s:\n${log}`);
  } finally {
    process.kill(-child.pid!, "SIGTERM");
    await new Promise((resolve) => child.once("exit", resolve));
    await pause(3000);
    rmSync(folder, { recursive: true, force: true });
  }
}
