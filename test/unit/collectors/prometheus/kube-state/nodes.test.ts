import { describe, expect, it } from "vitest";
import { compareFacts } from "../../../../../domain/fact.ts";
import { createPodPlaces } from "../../../../../collectors/prometheus/kube-state/pod-places.ts";
import type { SeriesRuns } from "../../../../../collectors/prometheus/kube-state/runs.ts";
import type { StateObject } from "../../../../support/kube-state-metrics.ts";
import { importScrapes, importSeries, scrapeTime, timeText } from "../../../../support/state-import.ts";

const LABELS = { labelsAllowlist: { nodes: ["*"] } };

interface NodeParts {
  readonly created?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly gpus?: string;
  readonly ready?: string;
  readonly unschedulable?: boolean;
}

function nodeOf({
  created = -100,
  labels = {},
  gpus = "8",
  ready = "True",
  unschedulable = false,
}: NodeParts = {}): StateObject {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: "gpu-1",
      uid: "real",
      creationTimestamp: timeText(created),
      labels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", ...labels },
    },
    spec: { unschedulable, taints: [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }] },
    status: {
      capacity: { cpu: "96", memory: "64Gi", "nvidia.com/gpu": gpus },
      allocatable: { cpu: "95500m", memory: "63Gi", "nvidia.com/gpu": gpus },
      conditions: [
        { type: "Ready", status: ready },
        { type: "MemoryPressure", status: "False" },
      ],
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    },
  };
}

const other: StateObject = { ...nodeOf(), metadata: { ...(nodeOf().metadata as object), name: "gpu-2" } };

describe("a node of kube-state-metrics", () => {
  it("has one fact as long as nothing changes", async () => {
    const { nodes, remarks } = await importScrapes(10, () => [nodeOf()], LABELS);
    expect(nodes).toHaveLength(1);
    expect(nodes[0]).toMatchObject({
      node: "gpu-1",
      uid: `imported/gpu-1/${scrapeTime(-100)}`,
      joined: scrapeTime(-100),
      seenAtMillis: scrapeTime(0),
      gpus: [{ vendor: "nvidia", model: "NVIDIA-H100-80GB-HBM3", count: 8, countedBy: "label", offered: 8 }],
      capacity: { "nvidia.com/gpu": 8 },
      compute: { cpuMillicores: 95_500, memoryBytes: 63 * 1024 ** 3 },
      taints: [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }],
      conditions: [{ type: "Ready", status: "True", reason: "", since: scrapeTime(0) }],
    });
    expect(remarks).toEqual([]);
  });

  it("has a fact at each change of its labels, resources, conditions and cordon", async () => {
    const { nodes } = await importScrapes(
      12,
      (index) => [
        nodeOf({
          labels: { "topology.kubernetes.io/zone": index < 3 ? "a" : "b" },
          gpus: index < 5 ? "8" : "7",
          ready: index < 7 ? "True" : "Unknown",
          unschedulable: index >= 9,
        }),
      ],
      LABELS,
    );
    const facts = nodes.map(({ seenAtMillis, zone, capacity, conditions, cordonedSince }) => [
      seenAtMillis,
      zone,
      capacity["nvidia.com/gpu"],
      `${conditions[0]!.status} ${conditions[0]!.since}`,
      cordonedSince,
    ]);
    const [first, unknown] = [`True ${scrapeTime(0)}`, `Unknown ${scrapeTime(7)}`];
    expect(facts).toEqual([
      [scrapeTime(0), "a", 8, first, undefined],
      [scrapeTime(3), "b", 8, first, undefined],
      [scrapeTime(5), "b", 7, first, undefined],
      [scrapeTime(7), "b", 7, unknown, undefined],
      [scrapeTime(9), "b", 7, unknown, scrapeTime(9)],
    ]);
  });

  it("is another machine if it was created again, even between two samples", async () => {
    const { nodes } = await importScrapes(10, (index) => [nodeOf(index < 5 ? {} : { created: 4.5 })], LABELS);
    expect(nodes.map(({ joined, end }) => [joined, end])).toEqual([
      [scrapeTime(-100), undefined],
      [scrapeTime(-100), { atMillis: scrapeTime(4), inferred: true }],
      [scrapeTime(4.5), undefined],
    ]);
    expect(new Set(nodes.map(({ uid }) => uid)).size).toBe(2);
    expect(nodes.at(-1)!.seenAtMillis).toBe(scrapeTime(4.5));
  });

  it("ends when it disappears, and not with an outage of kube-state-metrics", async () => {
    const gone = await importScrapes(12, (index) => (index < 5 ? [nodeOf()] : []), LABELS);
    expect(gone.nodes.at(-1)!.end).toEqual({ atMillis: scrapeTime(4), inferred: true });
    const outage = await importScrapes(12, (index) => (index > 3 && index < 8 ? undefined : [nodeOf()]), LABELS);
    expect(outage.nodes).toHaveLength(1);
    const untilTheEnd = await importScrapes(12, (index) => (index > 3 ? undefined : [nodeOf()]), LABELS);
    expect(untilTheEnd.nodes.at(-1)).not.toHaveProperty("end");
  });

  it("is known until the end of the import if it still exists", async () => {
    const { nodes, knownNodes } = await importScrapes(
      10,
      (index) => (index < 5 ? [nodeOf()] : [nodeOf(), other]),
      LABELS,
    );
    expect(knownNodes.map(({ node, knownUntil, seenAtMillis }) => [node, knownUntil, seenAtMillis])).toEqual([
      ["gpu-1", scrapeTime(10), scrapeTime(10)],
      ["gpu-2", scrapeTime(10), scrapeTime(10)],
    ]);
    expect(compareFacts(nodes[0]!, knownNodes[0]!)).toBeLessThan(0);
    const gone = await importScrapes(10, (index) => (index < 5 ? [nodeOf()] : []), LABELS);
    expect(gone.knownNodes).toEqual([]);
  });

  it("without exported labels has a remark", async () => {
    const { nodes, remarks } = await importScrapes(4, () => [nodeOf()]);
    expect(nodes[0]!.gpus[0]).toMatchObject({ count: 8, countedBy: "capacity" });
    expect(nodes[0]!.gpus[0]).not.toHaveProperty("model");
    expect(remarks.map(({ text }) => text)).toEqual([
      expect.stringContaining("--metric-labels-allowlist=nodes=[*]"),
      expect.stringContaining("is a guess: 8 by"),
    ]);
  });

  it("has its resources from the metrics of version 1 too", async () => {
    const runs = [{ value: 4, fromMillis: scrapeTime(0), untilMillis: scrapeTime(9) }];
    const series = ["capacity", "allocatable"].map((kind): SeriesRuns => ({
      name: `kube_node_status_${kind}_nvidia_gpu_cards`,
      labels: new Map([["node", "old"]]),
      runs,
    }));
    const { nodes, remarks } = await importSeries(series, runs);
    expect(nodes[0]).toMatchObject({ node: "old", capacity: { "nvidia.com/gpu": 4 }, joined: scrapeTime(0) });
    expect(remarks.map(({ text }) => text)).toContainEqual(expect.stringContaining("Nodes have no creation time"));
  });
});

describe("namespaces and quotas", () => {
  const namespace = (team: string): StateObject => ({
    kind: "Namespace",
    metadata: { name: "ml", creationTimestamp: timeText(-10), labels: { team } },
  });
  const quota: StateObject = {
    kind: "ResourceQuota",
    metadata: { namespace: "ml", name: "gpus", creationTimestamp: timeText(-10) },
    status: { hard: { "requests.nvidia.com/gpu": "8" }, used: { "requests.nvidia.com/gpu": "3" } },
  };

  it("have a fact at each change, and end with the import", async () => {
    const { others } = await importScrapes(8, (index) => [namespace(index < 4 ? "nlp" : "vision"), quota], {
      labelsAllowlist: { namespaces: ["team"] },
    });
    const facts = others.map(({ kind, seenAtMillis, body, end }) => [
      kind,
      seenAtMillis,
      "labels" in body ? body.labels : body,
      end !== undefined,
    ]);
    const amounts = { hard: { "nvidia.com/gpu": 8 }, used: { "nvidia.com/gpu": 3 } };
    expect(facts).toEqual([
      ["Namespace", scrapeTime(0), { team: "nlp" }, false],
      ["Namespace", scrapeTime(4), { team: "vision" }, false],
      ["Namespace", scrapeTime(7), { team: "vision" }, true],
      ["ResourceQuota", scrapeTime(0), amounts, false],
      ["ResourceQuota", scrapeTime(7), amounts, true],
    ]);
  });

  it("without exported labels have a remark", async () => {
    const { remarks } = await importScrapes(4, () => [namespace("nlp")]);
    expect(remarks.map(({ text }) => text)).toEqual([
      expect.stringContaining("--metric-labels-allowlist=namespaces=[team]"),
    ]);
  });
});

describe("Kueue's queues", () => {
  const series = (
    name: string,
    labels: Readonly<Record<string, string>>,
    ...values: readonly number[]
  ): SeriesRuns => ({
    name,
    labels: new Map(Object.entries(labels)),
    runs: values.map((value, index) => ({
      value,
      fromMillis: scrapeTime(index * 10),
      untilMillis: scrapeTime(index * 10 + 9),
    })),
  });
  const seen = [{ fromMillis: scrapeTime(0), untilMillis: scrapeTime(19) }];
  const of = (flavor: string) => ({ cohort: "all", cluster_queue: "gpu", flavor, resource: "nvidia.com/gpu" });

  it("have quota, usage, borrowed quota and waiting workloads", async () => {
    const { others } = await importSeries(
      [
        series("kueue_cluster_queue_nominal_quota", of("h100"), 8, 8),
        series("kueue_cluster_queue_nominal_quota", of("a100"), 4, 4),
        series("kueue_cluster_queue_resource_usage", of("h100"), 8, 10),
        series("kueue_cluster_queue_resource_usage", of("a100"), 1, 1),
        series("kueue_pending_workloads", { cluster_queue: "gpu", status: "active" }, 0, 2),
        series("kueue_pending_workloads", { cluster_queue: "gpu", status: "inadmissible" }, 1, 1),
        series("kueue_local_queue_pending_workloads", { namespace: "ml", name: "nlp", status: "active" }, 3, 3),
      ],
      seen,
    );
    const name = "nvidia.com/gpu";
    const queues = others.map(({ resource, namespace, name: queue, body }) => [
      resource,
      `${namespace}/${queue}`,
      body,
    ]);
    const quota = { scheduler: "kueue", parent: "all", quota: { [name]: 12 } };
    expect(queues[0]).toEqual([
      "clusterqueues.kueue.x-k8s.io",
      "/gpu",
      { ...quota, admitted: { [name]: 9 }, borrowed: { [name]: 0 }, pending: 1 },
    ]);
    expect(queues[1]![2]).toEqual({ ...quota, admitted: { [name]: 11 }, borrowed: { [name]: 2 }, pending: 3 });
    expect(queues.at(-1)).toEqual([
      "localqueues.kueue.x-k8s.io",
      "ml/nlp",
      { scheduler: "kueue", quota: {}, admitted: {}, borrowed: {}, pending: 3 },
    ]);
  });
});

describe("the places of pods", () => {
  const info = (labels: Readonly<Record<string, string>>, from: number, until: number, name = "kube_pod_info") => ({
    name,
    labels: new Map(Object.entries(labels)),
    runs: [{ value: 1, fromMillis: scrapeTime(from), untilMillis: scrapeTime(until) }],
  });
  const places = createPodPlaces();
  const pod = { namespace: "gpu", pod: "dcgm-a", pod_ip: "10.1.0.7", host_ip: "10.0.0.1" };
  places.take(info({ ...pod, node: "one" }, 0, 5));
  places.take(info({ ...pod, pod: "dcgm-b", host_ip: "10.0.0.2", node: "two" }, 8, 12));
  places.take(info({ node: "three", internal_ip: "10.0.0.3" }, 0, 12, "kube_node_info"));
  places.take(info({ namespace: "gpu", pod: "waiting" }, 0, 12));

  it("are known by name, by address and by the address of the node, each at its time", () => {
    const at = (index: number, key: Parameters<typeof places.nodeOfPod>[0]) => places.nodeOfPod(key, scrapeTime(index));
    expect(at(3, { namespace: "gpu", name: "dcgm-a" })).toBe("one");
    expect(at(3, { ip: "10.1.0.7" })).toBe("one");
    expect(at(10, { ip: "10.1.0.7" })).toBe("two");
    expect(at(10, { ip: "10.0.0.2" })).toBe("two");
    expect(at(10, { ip: "10.0.0.3" })).toBe("three");
    expect(at(10, { namespace: "gpu", name: "waiting" })).toBeUndefined();
    expect(at(10, { ip: "10.9.9.9" })).toBeUndefined();
  });
});
