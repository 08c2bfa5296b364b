import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { kubeconfigOf } from "../support/kubeconfig.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const timeText = (millis: number): string => new Date(millis).toISOString().replace(/\.\d+Z$/, "Z");
/** The end of the scenario's hour. */
const END = Math.floor(Date.now() / HOUR) * HOUR;
const CREATED = timeText(END - HOUR);

/** Nodes without a right count of their GPUs: their offered resources, their labels, and their exporters' pages. */
const NODES: Readonly<
  Record<
    string,
    {
      readonly offers: Readonly<Record<string, string>>;
      readonly labels?: Readonly<Record<string, string>>;
      readonly page: readonly string[];
    }
  >
> = {
  sliced: {
    offers: { "nvidia.com/gpu": "4" },
    page: ['DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",modelName="Tesla T4",Hostname="sliced"} 50'],
  },
  amd: {
    offers: { "amd.com/gpu": "4" },
    page: [0, 1, 2, 3].map(
      (id) =>
        `gpu_gfx_activity{gpu_id="${id}",gpu_uuid="u-${id >> 1}",card_series="AMD Instinct MI300X OAM",hostname="amd"} 100`,
    ),
  },
  more: {
    offers: { "nvidia.com/gpu": "2" },
    labels: { "nvidia.com/gpu.count": "1", "nvidia.com/gpu.product": "NVIDIA-L4" },
    page: [0, 1].map(
      (gpu) => `DCGM_FI_DEV_GPU_UTIL{gpu="${gpu}",UUID="GPU-m${gpu}",modelName="NVIDIA L4",Hostname="more"} 100`,
    ),
  },
};

const nodeOf = (name: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `node-${name}`, creationTimestamp: CREATED, labels: NODES[name]!.labels ?? {} },
  status: { capacity: NODES[name]!.offers, allocatable: NODES[name]!.offers },
});

/** A pod on a node with one unit of the node's offered resource. */
const podOf = (name: string): KubernetesObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `on-${name}`, namespace: "ml", uid: `pod-${name}`, creationTimestamp: CREATED },
  spec: {
    nodeName: name,
    containers: [{ name: "c", resources: { limits: { [Object.keys(NODES[name]!.offers)[0]!]: "1" } } }],
  },
  status: {
    phase: "Running",
    startTime: CREATED,
    conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: CREATED }],
    containerStatuses: [{ name: "c", restartCount: 0, state: { running: { startedAt: CREATED } } }],
  },
});

const NAMES = Object.keys(NODES);
const OBJECTS = [
  {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "ml", uid: "ml", labels: { team: "ml" } },
  } as KubernetesObject,
  ...NAMES.map(nodeOf),
  ...NAMES.map(podOf),
];
/** The GPUs that each pod holds: one of four replicas of the one GPU, one of two partitions, a GPU that the label does not count. */
const HELD = { "on-sliced": 0.25, "on-amd": 0.5, "on-more": 1 };
const ALL_GPUS = 1 + 2 + 2;

let folder: CommandFolder;
let server: ApiServer;
let exporters: readonly ExporterDouble[];

beforeEach(async () => {
  folder = createCommandFolder();
  server = await startApiServer();
  for (const object of OBJECTS) server.put(object);
  exporters = await Promise.all(
    NAMES.map((name) =>
      startExporterDouble((_, response, double) => double.page(response, `${NODES[name]!.page.join("\n")}\n`)),
    ),
  );
});
afterEach(async () => {
  await folder.dispose();
  await server.stop();
  await Promise.all(exporters.map((exporter) => exporter.close()));
});

/** A configuration that watches the cluster and scrapes its exporters. */
function configuration(): string {
  const kubeconfig = folder.write("kubeconfig", kubeconfigOf({ prod: server }));
  const targets = NAMES.map((node, index) => ({ address: exporters[index]!.url, labels: { node } }));
  return folder.write("c.yaml", {
    cluster: "prod",
    data: "data",
    server: { listen: "127.0.0.1:0" },
    collector: { interval: "1s", timeout: "900ms", jobs: [{ name: "gpus", targets }] },
    kubernetes: { clusters: [{ kubeconfig }] },
  });
}

describe("a cluster with GPUs that no label counts right", () => {
  it("is the same for inspect, check, a scenario of its objects, and the running system", async () => {
    const file = folder.write("objects.yaml", { apiVersion: "v1", kind: "List", items: OBJECTS });
    const inspected = await folder.run(["inspect", file]);
    expect(inspected.stdout).toMatch(/^sliced +4 +its capacity /m);
    expect(inspected.stdout).toMatch(/^more +1 +its labels /m);
    expect(inspected.stdout).toContain("The number of its GPUs is a guess: 4 by its capacity");

    const config = configuration();
    const checked = await folder.run(["check", "--config", config]);
    expect(checked.stdout).toContain(`cluster prod, GPUs: ${ALL_GPUS} on 3 nodes: ${ALL_GPUS} by exporters`);
    expect(checked.stdout).toContain(
      "sliced has 4 guessed from the capacity, and its exporter shows 1; the ledger counts 1",
    );
    expect(checked.stdout).toContain(
      "amd has 4 guessed from the capacity, and its exporter shows 2; the ledger counts 2",
    );
    expect(checked.stdout).toContain("more has 1 by labels, and its exporter shows 2; the ledger counts 2");

    const scenario = folder.write("scenario.yaml", {
      title: "The cluster over an hour",
      period: { start: CREATED, end: timeText(END) },
      objects: [file],
      pages: Object.fromEntries(NAMES.map((name) => [name, `${NODES[name]!.page.join("\n")}\n\n`])),
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1.00" }],
    });
    const played = await folder.run(["scenario", scenario, "--by", "pod", "--format", "json"]);
    const { lines, totalGpuHours } = billOf(played.stdout);
    expect(totalGpuHours).toBe(ALL_GPUS);
    expect(lines).toMatchObject(HELD);

    const up = folder.start(["up", "--config", config]);
    const address = await up.address();
    await expect.poll(() => heldNow(address), { timeout: 120_000 }).toEqual(HELD);
    const counted = () => seriesOf(address, "/metrics", "gpu_node_inventory_gpus", "node");
    await expect.poll(counted).toEqual({ sliced: 1, amd: 2, more: 2 });
  });
});

/** The GPU-hours of each pod, and of all, in a bill as JSON. */
function billOf(text: string): { readonly lines: Readonly<Record<string, number>>; readonly totalGpuHours: number } {
  const { policies } = JSON.parse(text) as {
    policies: { default: { gpuHours: string; lines: readonly { pod: string; gpuHours: string }[] } };
  };
  const { lines, gpuHours: total } = policies.default;
  return {
    lines: Object.fromEntries(lines.map(({ pod, gpuHours }) => [pod, Number(gpuHours)])),
    totalGpuHours: Number(total),
  };
}

function heldNow(address: string): Promise<Readonly<Record<string, number>>> {
  return seriesOf(address, "/metrics/gpu", "gpu_workload_gpus", "workload");
}

/** The values of a series by one of its labels. */
async function seriesOf(
  address: string,
  path: string,
  name: string,
  label: string,
): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${address}${path}`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line) => [
      new RegExp(`${label}="([^"]*)"`).exec(line)![1]!,
      Number(line.slice(line.lastIndexOf(" ") + 1)),
    ]),
  );
}
