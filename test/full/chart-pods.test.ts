import type { V1ConfigMap, V1Container, V1PodTemplateSpec } from "@kubernetes/client-node";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notesOf, prepareHelm, renderChart, type ClusterObject, type Rendered } from "../support/chart/helm.ts";
import {
  createCommandFolder,
  type CommandFolder,
  type CommandOutcome,
  type RunningCommand,
} from "../support/command.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { prepareKafka, startKafkaBroker, type KafkaBroker } from "../support/kafka-broker.ts";

const MOUNTED = "/etc/gpu-ledger/gpu-ledger.yaml";
const LONG = { timeout: 90_000, interval: 500 };

/** A workload of the chart: the fields that a pod needs here. */
interface Workload extends ClusterObject {
  readonly spec: { readonly template: V1PodTemplateSpec };
}

/** A running pod, and the folder in place of its mounts. */
interface Pod {
  readonly command: RunningCommand;
  readonly container: V1Container;
  readonly config: string;
  readonly address: string;
}

let folder: CommandFolder;
let kubeconfig: string;

/** The values that a machine without a cluster replaces: the address of its API server, the ports and the folders. */
const here = (): Record<string, object | string> => ({
  data: join(folder.path, "data"),
  server: { listen: "127.0.0.1:0" },
  processor: { flushEvery: "300ms" },
  collector: { interval: "5s", timeout: "5s", jobs: [{ name: "exporters", kubernetes: { kubeconfig } }] },
  kubernetes: { clusters: [{ kubeconfig }] },
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "2.00" }],
});

/** Runs the single container of a workload's first pod, or of another, with its own command, configuration and environment. */
async function startPod({ objects }: Rendered, workload: string, ordinal = 0): Promise<Pod> {
  const found = objects.find(({ kind, metadata }) => /Set$|^Deployment$/.test(kind) && metadata.name === workload);
  const { containers, volumes } = (found as Workload).spec.template.spec!;
  const [container] = containers as [V1Container];
  const map = volumes!.find(({ name }) => name === "config")!.configMap!.name;
  const place = join(folder.path, `${workload}-${ordinal}`);
  mkdirSync(place);
  const { data } = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === map) as V1ConfigMap;
  for (const [name, text] of Object.entries(data!)) writeFileSync(join(place, name), text);
  const config = join(place, "gpu-ledger.yaml");
  const { args, env } = container;
  const variables = env!.flatMap(({ name, valueFrom }) => {
    const value = valueOf(objects, valueFrom!, {
      "metadata.name": `${workload}-${ordinal}`,
      "metadata.namespace": "gpu-ledger",
    });
    return value === undefined ? [] : [[name, value] as const];
  });
  const command = folder.start(
    args!.map((arg) => (arg === MOUNTED ? config : arg)),
    { env: Object.fromEntries(variables) },
  );
  return { command, container, config, address: await command.address() };
}

function valueOf(
  objects: readonly ClusterObject[],
  { fieldRef, secretKeyRef }: NonNullable<NonNullable<V1Container["env"]>[number]["valueFrom"]>,
  fields: Readonly<Record<string, string>>,
): string | undefined {
  if (fieldRef !== undefined) return fields[fieldRef.fieldPath];
  const secret = objects.find(({ kind, metadata }) => kind === "Secret" && metadata.name === secretKeyRef!.name);
  return (secret as { readonly stringData?: Record<string, string> } | undefined)?.stringData?.[secretKeyRef!.key];
}

/** Waits until the pod's own probes succeed. */
async function untilReady({ container, address }: Pod): Promise<void> {
  for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
    const path = probe?.httpGet?.path ?? "/healthz";
    await expect.poll(async () => (await fetch(`${address}${path}`)).status, LONG).toBe(200);
  }
}

/** The command of the notes for a pod, with the pod's own configuration here. */
function noted(notes: string, verb: string, { config }: Pod): readonly string[] {
  const line = notes.split("\n").find((each) => each.trim().startsWith(`gpu-ledger ${verb} `));
  const [, ...args] = line!.trim().split(" ");
  expect(args).toContain(MOUNTED);
  return args.map((arg) => (arg === MOUNTED ? config : arg));
}

/** The failed checks, except for the one of the demo's exporters that is away for ten minutes of each hour. */
function failed(check: CommandOutcome): readonly string[] {
  const lines = check.stdout.split("\n").filter((line) => line.startsWith("FAIL"));
  return lines.filter((line) => !/^FAIL {2}job exporters, .*: http-status: HTTP 503$/.test(line));
}

/** The number of GPUs on the pages for a client with a token, and the answer without a token. */
async function seenBy(address: string, token: string): Promise<{ readonly status: number; readonly gpus: number }> {
  const answer = await fetch(`${address}/api/v1/fleet`, { headers: { authorization: `Bearer ${token}` } });
  const { gpus = [] } = (await answer.json()) as { readonly gpus?: readonly unknown[] };
  return { status: answer.status, gpus: gpus.length };
}

describe.skipIf(!(await prepareHelm()) || !(await prepareKafka()))(
  "the pods of the chart, by their own commands",
  () => {
    let broker: KafkaBroker;
    let embedded: TestStore;

    beforeAll(async () => {
      folder = createCommandFolder();
      [broker, embedded] = await Promise.all([startKafkaBroker(), startTestStore()]);
      const fleet = { data: "cluster", server: { listen: "127.0.0.1:0" }, demo: { gpus: 32, history: "0s" } };
      const cluster = folder.start(["demo", "--config", folder.write("cluster.yaml", fleet)]);
      await cluster.address();
      kubeconfig = join(folder.path, "cluster/demo-kubeconfig.json");
    });
    afterAll(async () => {
      await folder.dispose();
      await Promise.all([broker?.dispose(), embedded?.stop()]);
    });

    it("collect, process and serve a cluster's data, with Kafka and ClickHouse, to a client with the token of the notes", async () => {
      const values = {
        kafka: { brokers: [broker.address] },
        clickhouse: { url: embedded.url, ...embedded.user },
        config: { ...here(), bus: { kafka: { replicationFactor: 1, minInsyncReplicas: 1 } } },
      };
      const [chart, notes] = await Promise.all([renderChart(values), notesOf(values)]);
      const first = await startPod(chart, "gpu-ledger-collector");
      const collectors = [first, await startPod(chart, "gpu-ledger-collector", 1)];
      const processor = await startPod(chart, "gpu-ledger-processor");
      const env = { CLICKHOUSE_PASSWORD: embedded.user.password };
      const made = await folder.start(noted(notes, "token", processor), { env }).ended;
      expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^gpul_/) as unknown });
      const server = await startPod(chart, "gpu-ledger-server");
      for (const pod of [...collectors, processor, server]) await untilReady(pod);
      await expect.poll(() => seenBy(server.address, made.stdout.trim()), LONG).toMatchObject({ status: 200 });
      await expect.poll(async () => (await seenBy(server.address, made.stdout.trim())).gpus, LONG).toBeGreaterThan(20);
      expect(await seenBy(server.address, "wrong")).toEqual({ status: 401, gpus: 0 });
      const check = await folder.run(noted(notes, "check", first));
      expect(check.stdout).toMatch(/^ok {4}bus \(kafka\): answers/m);
      expect(failed(check)).toEqual([]);
      for (const { command } of [...collectors, processor, server])
        expect(await command.end("SIGTERM")).toMatchObject({ code: 0 });
    });

    it("do the same in the small form, with a token of the configuration", async () => {
      const made = await folder.run(["token", "create", "ops", "--role", "administrator", "--for-config"]);
      const [token, entry] = made.stdout.split("\n\n") as [string, string];
      const { server } = parse(entry) as { readonly server: object };
      const config = { ...here(), data: join(folder.path, "small"), server: { listen: "127.0.0.1:0", ...server } };
      const values = { mode: "small", config };
      const [chart, notes] = await Promise.all([renderChart(values), notesOf(values)]);
      const up = await startPod(chart, "gpu-ledger");
      await untilReady(up);
      await expect.poll(async () => (await seenBy(up.address, token)).gpus, LONG).toBeGreaterThan(20);
      expect(await seenBy(up.address, "wrong")).toEqual({ status: 401, gpus: 0 });
      expect(failed(await folder.run(noted(notes, "check", up)))).toEqual([]);
      expect(await up.command.end("SIGTERM")).toMatchObject({ code: 0 });
    });
  },
);
