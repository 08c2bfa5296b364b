import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../ports.ts";

const run = promisify(execFile);

/** The message that Alertmanager sends to a webhook (its version 4): the fields that tests read. */
export interface Notification {
  readonly status: "firing" | "resolved";
  readonly receiver: string;
  readonly groupLabels: Readonly<Record<string, string>>;
  readonly alerts: readonly {
    readonly status: "firing" | "resolved";
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

/** A webhook that keeps the messages it receives, by the last part of the path. */
export interface Webhook {
  readonly url: string;
  readonly received: readonly { readonly to: string; readonly notification: Notification }[];
  stop(): Promise<void>;
}

/** Starts a webhook on 127.0.0.1. */
export async function startWebhook(): Promise<Webhook> {
  const received: { to: string; notification: Notification }[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({
        to: (request.url ?? "/").slice(1),
        notification: JSON.parse(Buffer.concat(chunks).toString()) as Notification,
      });
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A real Alertmanager. */
export interface Alertmanager {
  readonly url: string;
  readonly processId: number;
  /** Sends alerts that fire from now on, given by their labels. */
  fire(...alerts: readonly Readonly<Record<string, string>>[]): Promise<void>;
  /** Sends alerts as they are. */
  send(...alerts: readonly object[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts Debian's Alertmanager with a configuration, alone and without peers. */
export async function startAlertmanager(files: Readonly<Record<string, string>>): Promise<Alertmanager> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-alertmanager-"));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const alertmanager = await startAlertmanagerWith([
    `--config.file=${join(folder, "alertmanager.yaml")}`,
    `--storage.path=${join(folder, "data")}`,
    "--cluster.listen-address=",
  ]);
  return {
    ...alertmanager,
    async stop() {
      await alertmanager.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts Alertmanager with flags alone, on a port of 127.0.0.1. Fails with its log where it does not become ready. */
export async function startAlertmanagerWith(flags: readonly string[]): Promise<Alertmanager> {
  const port = await freePort();
  const child: ChildProcess = spawn("prometheus-alertmanager", [...flags, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/-/ready`, child, () => log);
  const send = async (...alerts: readonly object[]): Promise<void> => {
    const response = await fetch(`${url}/api/v2/alerts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(alerts),
    });
    if (!response.ok) throw new Error(`Alertmanager refused alerts: ${await response.text()}`);
  };
  return {
    url,
    processId: child.pid!,
    send,
    fire(...alerts) {
      const startsAt = new Date().toISOString();
      return send(...alerts.map((labels) => ({ labels, annotations: {}, startsAt })));
    },
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

async function untilReady(url: string, child: ChildProcess, log: () => string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) throw new Error(`Alertmanager ended:\n${log()}`);
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Alertmanager does not become ready:\n${log()}`);
}

/** The receivers to which Alertmanager's own tool routes an alert. */
export async function receiversOf(
  configuration: string,
  labels: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-routes-"));
  try {
    const path = join(folder, "alertmanager.yaml");
    await writeFile(path, configuration);
    const args = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const { stdout } = await run("amtool", ["config", "routes", "test", `--config.file=${path}`, ...args]);
    return stdout.trim().split(",");
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Checks a configuration with its files by amtool; returns amtool's output, and fails where amtool refuses it. */
export async function checkConfiguration(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-amtool-"));
  try {
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
    return (await run("amtool", ["check-config", join(folder, "alertmanager.yaml")])).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
