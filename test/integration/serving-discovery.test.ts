import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createJobs } from "../../collectors/exporters/jobs.ts";
import type { Discovery, RefusedPod, Target } from "../../collectors/exporters/targets/target.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { createClusterDriver } from "../../demo/kubernetes/cluster/driver.ts";
import { livesAt } from "../../demo/kubernetes/cluster/lives.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { enginesOf } from "../../demo/serving/engine.ts";
import { createGatewayPages, gatewayPodOf } from "../../demo/serving/gateway.ts";
import { ENGINE_NAMESPACES } from "../../demo/serving/models.ts";
import { startEngineServers } from "../../demo/serving/servers.ts";
import { vllmPage } from "../../demo/serving/vllm.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { kubeconfigOf } from "../support/kubeconfig.ts";

let server: ApiServer;
let folder: CommandFolder;
const discoveries: Discovery[] = [];

beforeEach(async () => {
  server = await startApiServer({ bookmarkMillis: 100 });
  folder = createCommandFolder();
});
afterEach(async () => {
  await Promise.all(discoveries.splice(0).map((discovery) => discovery.stop()));
  await server.stop();
  await folder.dispose();
});

function discover(kubernetes: object) {
  const kubeconfig = folder.write("kubeconfig", kubeconfigOf({ test: server }));
  const job = { name: "engines", reads: "serving", kubernetes: { kubeconfig, ...kubernetes } };
  const config = parseConfig(JSON.stringify({ collector: { jobs: [job] } }), { source: "test", folder: ".", env: {} });
  const found = { targets: [] as readonly Target[], refused: [] as readonly RefusedPod[] };
  const discovery = createJobs(config)[0]!.discoveries[0]!;
  discovery.start(
    (targets, refused) => Object.assign(found, { targets, refused }),
    (error) => expect.unreachable(error.message),
  );
  discoveries.push(discovery);
  return found;
}

function putPod(
  name: string,
  labels: Readonly<Record<string, string>>,
  ports: readonly (readonly { readonly name?: string; readonly containerPort: number }[])[],
  namespace = "chat",
): void {
  server.put({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: `uid-of-${name}`, labels },
    spec: { nodeName: "gpu-a", containers: ports.map((each, index) => ({ name: `c${index}`, ports: each })) },
    status: { phase: "Running", podIP: "10.0.0.7" },
  });
}

const shown = (targets: readonly Target[]): readonly string[] =>
  targets.map(({ url, pod }) => `${pod?.name} ${pod?.uid} ${new URL(url).port}${new URL(url).pathname}`).toSorted();

it("engines and gateways of a cluster are found by the labels of their charts, as targets of their pods", async () => {
  const llmd = { "llm-d.ai/inferenceServing": "true" };
  putPod("stack", { "helm-release-name": "s", model: "m" }, [
    [
      { name: "container-port", containerPort: 8000 },
      { name: "zmq-port", containerPort: 55_555 },
    ],
  ]);
  putPod("two-engines", llmd, [
    [{ name: "metrics", containerPort: 8200 }],
    [{ name: "metrics-b", containerPort: 8201 }],
  ]);
  putPod("leader", { ...llmd, "leaderworkerset.sigs.k8s.io/worker-index": "0" }, [[{ containerPort: 8000 }]]);
  putPod("follower", { ...llmd, "leaderworkerset.sigs.k8s.io/worker-index": "1" }, [[]]);
  putPod("gateway", { "app.kubernetes.io/name": "litellm" }, [[{ name: "http", containerPort: 4000 }]]);
  const envoy = { "app.kubernetes.io/managed-by": "envoy-gateway", "app.kubernetes.io/component": "proxy" };
  putPod("plain-envoy", envoy, [[{ name: "metrics", containerPort: 19_001 }]]);
  putPod("other", { app: "web" }, [[{ name: "http", containerPort: 80 }]]);
  putPod("elsewhere", llmd, [[{ containerPort: 8000 }]], "tenant");
  const found = discover({ namespaces: ["chat"] });
  const expected = [
    "gateway uid-of-gateway 4000/metrics/",
    "leader uid-of-leader 8000/metrics",
    "stack uid-of-stack 8000/metrics",
    "two-engines uid-of-two-engines 8200/metrics",
    "two-engines uid-of-two-engines 8201/metrics",
  ];
  await vi.waitFor(() => expect(shown(found.targets)).toEqual(expected), 90_000);
  expect(found.targets[0]).toMatchObject({ labels: { namespace: "chat" }, pod: { nodeName: "gpu-a" } });
  expect(found.refused.map(({ name, reason }) => [name, reason])).toEqual([["elsewhere", "namespace"]]);
  server.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "two-engines", namespace: "chat" } });
  await vi.waitFor(() => expect(shown(found.targets)).toHaveLength(3), 90_000);
});

it("the pods of a job's own selectors have their port's name, path and scheme", async () => {
  const app = { app: "gateway" };
  putPod("one", app, [
    [
      { name: "http", containerPort: 80 },
      { name: "stats", containerPort: 9901 },
    ],
  ]);
  putPod("two", app, [[{ name: "http", containerPort: 80 }]]);
  const selector = { labels: "app=gateway", portName: "stats", path: "/stats", scheme: "https", namespaces: ["*"] };
  const found = discover({ exporters: [selector] });
  await vi.waitFor(() => expect(found.targets.map(({ url }) => url)).toEqual(["https://10.0.0.7:9901/stats"]), 90_000);
});

it("the engines and the gateway of the demo are found by their pods, and answer there with their pages", async () => {
  const now = Date.UTC(2026, 5, 2, 12);
  const fleet = createFleet({ seed: 1, gpus: 96 });
  const engines = await startEngineServers(fleet, () => now);
  try {
    createClusterDriver(fleet, server, () => now, { engines }).moveTo(now);
    const found = discover({ namespaces: ENGINE_NAMESPACES });
    const expected = livesAt(fleet, now)
      .filter(({ startMillis, askedToEndMillis }) => startMillis <= now && now < askedToEndMillis)
      .flatMap((life) => enginesOf(life).map((engine) => `${life.uid} ${String(vllmPage(engine, now))}`));
    expected.push(`${gatewayPodOf(fleet).uid} ${String(createGatewayPages(fleet).pageAt(now))}`);
    await vi.waitFor(() => expect(found.targets).toHaveLength(expected.length), { timeout: 10_000 });
    const read = found.targets.map(async ({ url, pod }) => `${pod!.uid!} ${await (await fetch(url)).text()}`);
    expect((await Promise.all(read)).toSorted()).toEqual(expected.toSorted());
    const [{ url }] = found.targets as [Target];
    expect((await fetch(url.replace("/pods/", "/pods/x"))).status).toBe(404);
  } finally {
    await engines.stop();
  }
});
