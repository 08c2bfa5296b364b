import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goProgram } from "../go-program.ts";
import { freePort } from "../ports.ts";
import type { FilledServer } from "./both-bills.ts";

const VICTORIA_METRICS = {
  command: "victoria-metrics",
  module: "github.com/VictoriaMetrics/VictoriaMetrics",
  path: "./app/victoria-metrics",
  version: "v1.148.9",
};
const THANOS = { command: "thanos", module: "github.com/thanos-io/thanos", path: "./cmd/thanos", version: "v0.35.1" };
const READY_MILLIS = 60_000;

/** A server with Prometheus' API that is not Prometheus. */
export interface OtherServer extends FilledServer {
  stop(): Promise<void>;
}

/** Returns a function that starts VictoriaMetrics; undefined where its program is missing. */
export async function prepareVictoriaMetrics(): Promise<(() => Promise<OtherServer>) | undefined> {
  const program = await goProgram(VICTORIA_METRICS);
  if (program === undefined) return undefined;
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-victoria-metrics-"));
    const listen = `127.0.0.1:${await freePort()}`;
    const url = `http://${listen}`;
    const process = await startProgram(program, `${url}/health`, [
      `-storageDataPath=${folder}`,
      `-httpListenAddr=${listen}`,
      "-retentionPeriod=100y",
    ]);
    return {
      url,
      onFilled: async () => void (await fetch(`${url}/internal/force_flush`)),
      async stop() {
        await process.stop();
        rmSync(folder, { recursive: true });
      },
    };
  };
}

/** Returns a function that starts a Thanos receiver with a querier; undefined where its program is missing. */
export async function prepareThanos(): Promise<(() => Promise<OtherServer>) | undefined> {
  const program = await goProgram(THANOS);
  if (program === undefined) return undefined;
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-thanos-"));
    const [write, store, http, query, grpc] = (await Promise.all([1, 2, 3, 4, 5].map(() => freePort()))).map(
      (port) => `127.0.0.1:${port}`,
    );
    const receiver = await startProgram(program, `http://${http}/-/ready`, [
      "receive",
      `--tsdb.path=${folder}`,
      "--tsdb.retention=100y",
      `--remote-write.address=${write}`,
      `--grpc-address=${store}`,
      `--http-address=${http}`,
      '--label=receive_replica="a"',
    ]);
    const querier = await startProgram(program, `http://${query}/-/ready`, [
      "query",
      `--http-address=${query}`,
      `--grpc-address=${grpc}`,
      `--endpoint=${store}`,
    ]);
    return {
      url: `http://${query}`,
      written: { url: `http://${write}`, path: "/api/v1/receive" },
      async stop() {
        await querier.stop();
        await receiver.stop();
        rmSync(folder, { recursive: true });
      },
    };
  };
}

async function startProgram(
  program: string,
  ready: string,
  flags: readonly string[],
): Promise<{ stop(): Promise<void> }> {
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log = (log + chunk.toString()).slice(-10_000)));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  const until = performance.now() + READY_MILLIS;
  const isReady = (): Promise<boolean> =>
    fetch(ready).then(
      (response) => response.ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null || performance.now() > until) {
      await stop();
      throw new Error(`${program} does not become ready:\n${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { stop };
}
