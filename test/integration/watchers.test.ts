import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterEach, expect, it, vi } from "vitest";
import { startWatchers } from "../../services/watchers.ts";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { createMetrics } from "../../runtime/telemetry/metrics.ts";
import { kubeconfigOf } from "../support/kubeconfig.ts";
import { openTestBus, silent } from "../support/pipeline.ts";
import { followFacts } from "../support/watcher.ts";

const LONG = { timeout: 90_000, interval: 20 };
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

async function startCluster(): Promise<ApiServer> {
  const server = await startApiServer({ bookmarkMillis: 100 });
  cleanups.push(() => server.stop());
  return server;
}

function gpuPod(name: string, labels: Readonly<Record<string, string>> = {}): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "ml", uid: "the-same-uid", creationTimestamp: "2026-05-01T12:00:00Z", labels },
    spec: { nodeName: "gpu-a", containers: [{ name: "main", resources: { limits: { "example.com/gpu": "1" } } }] },
    status: { phase: "Running" },
  } as KubernetesObject;
}

it("one collector watches several clusters: each fact has its cluster's name from the configuration", async () => {
  const [east, west] = [await startCluster(), await startCluster()];
  east.put(gpuPod("in-the-east", { squad: "vision", build: "7" }));
  west.put(gpuPod("in-the-west", { "lab/room": "12" }));
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-watchers-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigOf({ east, west }));
  const config = parseConfig(
    JSON.stringify({
      data: folder,
      kubernetes: {
        clusters: [
          { name: "east", kubeconfig, context: "east" },
          { name: "west", kubeconfig, context: "west" },
        ],
        gpuResources: { "example.com/gpu": "nvidia" },
        labels: ["lab/*"],
      },
      owners: { team: [{ podLabel: "squad" }] },
    }),
    { source: "test", folder, env: {} },
  );
  const { bus, close } = await openTestBus();
  cleanups.push(close);
  const followed = await followFacts(bus);
  cleanups.push(() => followed.close());
  const metrics = createMetrics(new Registry());
  const watchers = startWatchers({ config, shard: { index: 0, count: 1 }, bus, metrics, logger: silent });
  cleanups.push(() => watchers.stop());

  await vi.waitFor(() => expect(followed.workloads).toHaveLength(2), LONG);
  const facts = followed.workloads.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
  expect(facts).toMatchObject([
    { cluster: "east", name: "in-the-east", labels: { squad: "vision" }, asks: [{ resource: "example.com/gpu" }] },
    { cluster: "west", name: "in-the-west", labels: { "lab/room": "12" } },
  ]);
  expect(facts[0]!.labels).not.toHaveProperty("build");

  // A pod that ends in one cluster does not end in another one, though the UIDs are the same.
  west.delete(gpuPod("in-the-west"));
  await vi.waitFor(() => expect(followed.workloads).toHaveLength(3), LONG);
  expect(followed.workloads[2]).toMatchObject({ cluster: "west", end: { inferred: false } });
  watchers.sample();
  const { values } = await metrics.watching.get();
  expect(values.map(({ labels, value }) => [labels["cluster"], value])).toEqual([
    ["east", 1],
    ["west", 1],
  ]);
  await vi.waitFor(async () => {
    watchers.sample();
    const sent = await metrics.factsSent.get();
    expect(sent.values.find(({ labels }) => labels["topic"] === "gpu.workloads")?.value).toBe(3);
  }, LONG);
});
