import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createJobs } from "../../collectors/exporters/jobs.ts";
import type { Discovery, RefusedPod, Target } from "../../collectors/exporters/targets/target.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { createClusterDriver } from "../../demo/kubernetes/cluster/driver.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { parseConfig } from "../../runtime/config/load.ts";

let server: ApiServer;
let folder: string;
const discoveries: Discovery[] = [];

beforeEach(async () => {
  server = await startApiServer({ bookmarkMillis: 100 });
  server.access.setTokens(["secret"]);
  folder = mkdtempSync(join(tmpdir(), "gpu-ledger-kubeconfig-"));
});
afterEach(async () => {
  await Promise.all(discoveries.splice(0).map((discovery) => discovery.stop()));
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** The discovery of a configuration that names the server by a kubeconfig, and its results so far. */
function discover(exporters?: readonly object[], namespaces?: readonly string[]) {
  const kubeconfig = join(folder, "kubeconfig");
  const named = (name: string, of: object) => [{ name, ...of }];
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "elsewhere",
    clusters: named("test", { cluster: { server: server.url, "insecure-skip-tls-verify": true } }),
    users: named("collector", { user: { token: "secret" } }),
    contexts: named("test", { context: { cluster: "test", user: "collector" } }),
  };
  writeFileSync(kubeconfig, JSON.stringify(content));
  const kubernetes = {
    kubeconfig,
    context: "test",
    ...(exporters === undefined ? {} : { exporters }),
    ...(namespaces === undefined ? {} : { namespaces }),
  };
  const text = JSON.stringify({ collector: { jobs: [{ name: "cluster", kubernetes, labels: { cluster: "prod" } }] } });
  const [job] = createJobs(parseConfig(text, { source: "test", folder, env: {} }));
  const found = {
    targets: [] as readonly Target[],
    refused: [] as readonly RefusedPod[],
    updates: 0,
    errors: [] as string[],
  };
  const discovery = job!.discoveries[0]!;
  discovery.start(
    (targets, refused) => {
      found.updates += 1;
      Object.assign(found, { targets, refused });
    },
    (error) => found.errors.push(error.message),
  );
  discoveries.push(discovery);
  return found;
}

function putExporter(
  name: string,
  given: {
    readonly node?: string;
    readonly phase?: string;
    readonly labels?: object;
    readonly annotations?: object;
    readonly namespace?: string;
    readonly podIP?: string;
  },
): void {
  server.put({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: given.namespace ?? "monitoring",
      uid: `uid-of-${name}`,
      labels: { app: "nvidia-dcgm-exporter", ...given.labels },
      annotations: { ...given.annotations },
    },
    spec: {
      ...(given.node === undefined ? {} : { nodeName: given.node }),
      containers: [{ name: "exporter", ports: [{ name: "metrics", containerPort: 9401 }] }],
    },
    status: { phase: given.phase ?? "Running", podIP: given.podIP ?? "10.0.0.7" },
  });
}

const urls = (targets: readonly Target[]): string[] => targets.map(({ url }) => url).sort((a, b) => (a < b ? -1 : 1));

describe("the exporters of a cluster", () => {
  it("are found as the pods of the usual charts and operators, with their nodes, and followed as they come and go", async () => {
    putExporter("one", { node: "gpu-a" });
    const found = discover();
    await vi.waitFor(() => expect(found.targets).toHaveLength(1), 90_000);
    expect(found.targets[0]).toEqual({
      url: "http://10.0.0.7:9401/metrics",
      labels: { cluster: "prod", namespace: "monitoring", pod: "one" },
      pod: { name: "one", nodeName: "gpu-a" },
    });
    putExporter("two", { phase: "Pending" });
    putExporter("three", { node: "gpu-c", labels: { app: "other", "app.kubernetes.io/name": "dcgm-exporter" } });
    await vi.waitFor(() => expect(found.targets.map(({ pod }) => pod?.nodeName)).toEqual(["gpu-c", "gpu-a"]), 90_000);
    putExporter("two", { node: "gpu-b" });
    await vi.waitFor(() => expect(found.targets).toHaveLength(3), 90_000);
    server.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "one", namespace: "monitoring" } });
    await vi.waitFor(() => expect(found.targets.map(({ pod }) => pod?.name)).toEqual(["three", "two"]), 90_000);
  });

  it("have the monitors of HAMi on their nodes as companions; a monitor without an exporter is an exporter", async () => {
    putExporter("one", { node: "gpu-a" });
    const monitor = { app: "hami", "app.kubernetes.io/component": "hami-device-plugin" };
    putExporter("monitor-a", { node: "gpu-a", labels: monitor });
    putExporter("monitor-b", { node: "gpu-b", labels: monitor });
    const found = discover();
    const shown = (): readonly (readonly unknown[])[] =>
      found.targets.map(({ pod, companions }) => [pod?.name, companions]);
    await vi.waitFor(
      () =>
        expect(shown()).toEqual([
          ["one", ["http://10.0.0.7:9401/metrics"]],
          ["monitor-b", undefined],
        ]),
      90_000,
    );
    server.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "one", namespace: "monitoring" } });
    await vi.waitFor(() => expect(shown().map(([name]) => name)).toEqual(["monitor-a", "monitor-b"]), 90_000);
  });

  it("are published when all selectors are known, so that a restart drops no target", async () => {
    putExporter("one", { node: "gpu-a" });
    putExporter("two", { node: "gpu-b", labels: { app: "mine" } });
    server.troubles.fail({ status: 500 }, 1, ({ query }) => query["labelSelector"] === "app=mine");
    const found = discover([{ labels: "app=nvidia-dcgm-exporter" }, { labels: "app=mine" }]);
    await vi.waitFor(() => expect(found.targets).toHaveLength(2), 90_000);
    expect(found.updates).toBe(1);
    expect(found.errors).toHaveLength(1);
  });

  it("are not pods of other namespaces, with any labels", async () => {
    putExporter("one", { node: "gpu-a" });
    putExporter("hostile", { node: "gpu-a", namespace: "tenant" });
    const found = discover();
    await vi.waitFor(() => expect(found.targets).toHaveLength(1), 90_000);
    expect(found.targets[0]!.pod?.name).toBe("one");
    expect(found.refused).toEqual([
      {
        namespace: "tenant",
        name: "hostile",
        reason: "namespace",
        detail: "runs in tenant, which is not in the job's kubernetes.namespaces",
      },
    ]);
    server.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "hostile", namespace: "tenant" } });
    await vi.waitFor(() => expect(found.refused).toEqual([]), 90_000);
  });

  it("are those of the configured namespaces", async () => {
    putExporter("one", { node: "gpu-a" });
    putExporter("two", { node: "gpu-b", namespace: "tenant" });
    putExporter("three", { node: "gpu-c", labels: { app: "mine" } });
    const mine = { labels: "app=mine", namespaces: ["monitoring"] };
    const found = discover([{ labels: "app=nvidia-dcgm-exporter" }, mine], ["tenant"]);
    await vi.waitFor(() => expect(found.targets.map(({ pod }) => pod?.name)).toEqual(["two", "three"]), 90_000);
    expect(found.refused.map(({ name }) => name)).toEqual(["one"]);
    const any = discover(undefined, ["*"]);
    await vi.waitFor(() => expect(any.targets.map(({ pod }) => pod?.name)).toEqual(["one", "two"]), 90_000);
  });

  const PORT = "prometheus.io/port";
  const PATH = "prometheus.io/path";
  it.each([
    ["a host in the port", { [PORT]: "80@metadata.internal:80" }, "port"],
    ["a path in the port", { [PORT]: "9400/../x" }, "port"],
    ["port 0", { [PORT]: "0" }, "port"],
    ["a port beyond the last", { [PORT]: "65536" }, "port"],
    ["a port that is empty", { [PORT]: "" }, "port"],
    ["a URL in the path", { [PATH]: "http://metadata.internal/latest" }, "path"],
    ["a host in the path", { [PATH]: "//metadata.internal/latest" }, "path"],
    ["a host behind a backslash", { [PATH]: "/\\metadata.internal/latest" }, "path"],
    ["a query in the path", { [PATH]: "/probe?target=metadata.internal" }, "path"],
    ["a fragment in the path", { [PATH]: "/metrics#x" }, "path"],
    ["a path without its slash", { [PATH]: "@metadata.internal/" }, "path"],
    ["a line end in the path", { [PATH]: "/a\r\nx-header: y" }, "path"],
  ])("are not requested by %s", async (_, annotations, reason) => {
    putExporter("one", { node: "gpu-a", annotations });
    const found = discover();
    await vi.waitFor(() => expect(found.updates).toBe(1), 90_000);
    expect(found.targets).toEqual([]);
    expect(found.refused.map((pod) => [pod.name, pod.reason])).toEqual([["one", reason]]);
  });

  it.each(["metadata.internal", "10.0.0.7@metadata.internal", "10.0.0.7:80", "10.0.0.7/x?", "fe80::1%eth0"])(
    "are not requested at an invalid address: %s",
    async (podIP) => {
      putExporter("one", { node: "gpu-a", podIP });
      const found = discover();
      await vi.waitFor(() => expect(found.updates).toBe(1), 90_000);
      expect(found.targets).toEqual([]);
      expect(found.refused.map(({ reason }) => reason)).toEqual(["address"]);
    },
  );

  it("are requested at the port and the path of their annotations", async () => {
    putExporter("one", { node: "gpu-a", annotations: { [PORT]: "9410", [PATH]: "/gpu/metrics" }, podIP: "fd00::7" });
    const found = discover();
    await vi.waitFor(() => expect(urls(found.targets)).toEqual(["http://[fd00::7]:9410/gpu/metrics"]), 90_000);
  });

  it("are those of the whole demo fleet, each at its own address", async () => {
    const fleet = createFleet({ seed: 3, gpus: 96 });
    const exporters = fleet.nodes.map(({ name }, index) => ({
      node: name,
      url: `http://127.0.0.1:${4_000 + index}/metrics`,
    }));
    const noon = Date.UTC(2026, 6, 8, 12);
    const driver = createClusterDriver(fleet, server, () => noon, { exporters });
    driver.moveTo(noon);
    const found = discover();
    const present = server.store.snapshot("pods", server.store.resourceVersion).keys.length;
    expect(present).toBeGreaterThan(50);
    await vi.waitFor(() => expect(found.targets.length).toBeGreaterThanOrEqual(fleet.nodes.length - 1), 90_000);
    const wanted = new Map(exporters.map(({ node, url }) => [node, url]));
    for (const { url, pod } of found.targets) expect(url).toBe(wanted.get(pod!.nodeName));
    expect(new Set(urls(found.targets)).size).toBe(found.targets.length);
  });

  it("are reported in the server's words if they may not be listed, and found when they may", async () => {
    putExporter("one", { node: "gpu-a" });
    server.access.withdraw("", "pods", "list", "watch");
    const found = discover();
    await vi.waitFor(() => expect(found.errors[0]).toContain("pods is forbidden"), 90_000);
    expect(found.targets).toEqual([]);
  });
});
