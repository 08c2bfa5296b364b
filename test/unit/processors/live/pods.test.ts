import { beforeEach, describe, expect, it } from "vitest";
import { rational } from "../../../../domain/exact/rational.ts";
import { workloadKey } from "../../../../domain/messages/fact-message.ts";
import type { GpuAsk } from "../../../../domain/workload.ts";
import { heldGpus, type HeldClaim } from "../../../../processors/live/held-gpus.ts";
import { createLivePods, type LivePods } from "../../../../processors/live/pods.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../../../support/facts.ts";
import { ownerRules } from "../../../support/owner-rules.ts";

const OWNERS = ownerRules({
  team: [{ podLabel: "team" }, { namespaceLabel: "team" }],
  costCenter: [{ podLabel: "cost-center" }],
});
const anywhere = (): boolean => true;

/** Claims whose devices are not known yet. */
const UNKNOWN = (): HeldClaim => ({ devices: [], sharers: 0 });

describe("the pods that hold GPUs", () => {
  let pods: LivePods;
  beforeEach(() => {
    pods = createLivePods(OWNERS, "max", () => NOON);
    pods.inventory(inventoryFact());
  });

  it("are listed with their owner and their devices", () => {
    pods.workload(workloadFact({ labels: { team: "vision", "cost-center": "CC-1" }, queue: "gpu" }));
    expect(pods.pods(anywhere)).toEqual([
      {
        cluster: "test",
        namespace: "ml",
        name: "train-0",
        uid: "pod-1",
        node: "gpu-a",
        team: "vision",
        costCenter: "CC-1",
        workload: "train",
        type: "training",
        queue: "gpu",
        gpus: rational(1),
        devices: 1,
        consumes: false,
        regimes: ["whole"],
      },
    ]);
  });

  it("are those of this instance's nodes alone", () => {
    pods.workload(workloadFact());
    expect(pods.pods((_, node) => node === "gpu-b")).toEqual([]);
    expect(pods.nodes((_, node) => node === "gpu-b")).toEqual([]);
    expect(pods.nodes(anywhere).map(({ node }) => node)).toEqual(["gpu-a"]);
  });

  it("are removed when they have ended, are unbound, or request nothing, and late facts change nothing", () => {
    pods.workload(workloadFact({ resourceVersion: "101", phase: "Succeeded" }));
    pods.workload(workloadFact());
    pods.workload(workloadFact({ uid: "pod-2", node: "" }));
    pods.workload(workloadFact({ uid: "pod-3", asks: [] }));
    pods.workload(workloadFact({ uid: "pod-5", phase: "Failed" }));
    pods.workload(workloadFact({ uid: "pod-4" }));
    pods.tombstone("workload", workloadKey({ cluster: "test", uid: "pod-4" }));
    expect(pods.pods(anywhere)).toEqual([]);
  });

  it("take their team from the namespace if they have none, until the namespace is recreated", () => {
    pods.workload(workloadFact({ labels: {} }));
    pods.clusterFact(namespaceFact({ uid: "ns-1", body: { labels: { team: "nlp" }, annotations: {} } }));
    expect(pods.pods(anywhere).map(({ team }) => team)).toEqual(["nlp"]);
    pods.clusterFact(namespaceFact({ uid: "ns-2", body: { labels: { team: "speech" }, annotations: {} } }));
    pods.clusterFact(
      namespaceFact({
        uid: "ns-1",
        resourceVersion: "200",
        end: { atMillis: NOON, inferred: false },
        body: { labels: { team: "nlp" }, annotations: {} },
      }),
    );
    expect(pods.pods(anywhere).map(({ team }) => team)).toEqual(["speech"]);
  });
});

describe("the list for one node", () => {
  let pods: LivePods;
  beforeEach(() => {
    pods = createLivePods(OWNERS, "max", () => NOON);
    pods.inventory(inventoryFact());
    pods.workload(workloadFact());
    pods.workload(workloadFact({ uid: "pod-2", name: "other-0", node: "gpu-b" }));
  });
  const names = (node: string): readonly string[] => pods.podsOn("test", node).map(({ name }) => name);

  it("has the pods that are bound to the node now, and none after their tombstone", () => {
    expect([names("gpu-a"), names("gpu-b"), names("gpu-c")]).toEqual([["train-0"], ["other-0"], []]);
    pods.workload(workloadFact({ resourceVersion: "101", node: "gpu-b" }));
    expect([names("gpu-a"), names("gpu-b")]).toEqual([[], ["other-0", "train-0"]]);
    pods.tombstone("workload", workloadKey({ cluster: "test", uid: "pod-2" }));
    expect(names("gpu-b")).toEqual(["train-0"]);
    expect(pods.node("test", "gpu-a")?.uid).toBe("node-1");
    expect(pods.node("test", "gpu-b")).toBeUndefined();
  });

  it.each<[string, (pods: LivePods) => void]>([
    ["a pod changes", (all) => all.workload(workloadFact({ resourceVersion: "101" }))],
    ["a pod ends", (all) => all.workload(workloadFact({ resourceVersion: "101", phase: "Failed" }))],
    ["its own fact changes", (all) => all.inventory(inventoryFact({ resourceVersion: "101" }))],
    ["a namespace changes", (all) => all.clusterFact(namespaceFact())],
  ])("has another version after a change only if the change is for this node: %s", (_, change) => {
    const before = pods.version("test", "gpu-a");
    pods.workload(workloadFact({ uid: "pod-2", resourceVersion: "101", node: "gpu-b" }));
    pods.workload(workloadFact());
    expect(pods.version("test", "gpu-a")).toBe(before);
    change(pods);
    expect(pods.version("test", "gpu-a")).not.toBe(before);
  });

  it("describes an unknown holder by its name and its namespace alone", () => {
    pods.clusterFact(namespaceFact({ body: { labels: { team: "nlp" }, annotations: {} } }));
    expect(pods.strangerOf("test", "ml", "notebook-0")).toEqual({
      namespace: "ml",
      workload: "notebook-0",
      type: "other",
      team: "nlp",
      costCenter: "",
      queue: "",
    });
  });
});

describe("the part of its node's GPUs that a pod holds", () => {
  const [whole] = inventoryFact().gpus;
  it.each<[string, GpuAsk, Partial<NonNullable<typeof whole>>, [number, number]]>([
    ["whole GPUs", { kind: "gpu", resource: "nvidia.com/gpu", count: 4 }, {}, [4, 1]],
    [
      "replicas of time-sliced ones",
      { kind: "gpu", resource: "nvidia.com/gpu", count: 2 },
      { replicas: 4, sharing: "time-slicing" },
      [1, 2],
    ],
    ["MIG instances", { kind: "mig", resource: "nvidia.com/mig-3g.40gb", profile: "3g.40gb", count: 1 }, {}, [1, 2]],
    ["a fraction", { kind: "fraction", count: 2, ppm: 250_000 }, {}, [1, 2]],
    ["a vGPU", { kind: "vgpu", scheduler: "hami", count: 1, coresPercent: 30, memoryPercent: 50 }, {}, [1, 2]],
    ["a claim", { kind: "claim", claim: "gpu" }, {}, [1, 1]],
  ])("counts %s", (_, ask, more, [num, den]) => {
    expect(heldGpus([ask], [{ ...whole!, ...more }], "max", UNKNOWN)).toEqual(rational(num, den));
  });

  it("counts the devices of a claim once for all of its pods: whole ones, instances, partitions and parts of a capacity", () => {
    const device = { namespace: "ml", claim: "gpu", driver: "gpu.nvidia.com", pool: "gpu-a", device: "gpu-0" };
    const held = (sharers: number, ...devices: readonly object[]) =>
      heldGpus([{ kind: "claim", claim: "gpu" }], [whole!], "max", () => ({
        devices: devices.map((more) => ({ ...device, ...more })),
        sharers,
      }));
    expect(held(2, {})).toEqual(rational(1, 2));
    expect(held(1, {}, { profile: "3g.40gb" })).toEqual(rational(3, 2));
    expect(held(3, { consumed: { amount: 3, of: 4 } })).toEqual(rational(1, 4));
    expect(held(1, { partitions: 8 })).toEqual(rational(1, 8));
  });

  it("sums all requests, and counts an unknown GPU as a whole one", () => {
    const gpu: GpuAsk = { kind: "gpu", resource: "nvidia.com/gpu", count: 1 };
    expect(heldGpus([gpu, { kind: "fraction", count: 1, ppm: 500_000 }], [], "max", UNKNOWN)).toEqual(rational(3, 2));
  });
});
