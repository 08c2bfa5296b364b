import { describe, expect, it } from "vitest";
import type { InventoryFact } from "../../../../../domain/inventory.ts";
import { overTooManyNodes } from "../../../../../domain/practice/checks/spread.ts";
import type { WorkloadFact } from "../../../../../domain/workload.ts";
import { NOON } from "../../../../support/facts.ts";
import { exempted, goodNode, goodPod, gpusWith, practicesOf } from "../../../../support/practices.ts";

const HOURS_2 = { created: 0, started: NOON - 7_200_000 };

/** The pods of a job by node: the GPUs of each pod. */
type Places = Readonly<Record<string, readonly number[]>>;

function recordsOf(places: Places, given: Partial<WorkloadFact> = {}, lastNode: Partial<InventoryFact> = {}) {
  const pods = Object.entries(places).flatMap(([node, sizes]) =>
    sizes.map((count, index) =>
      goodPod(`train-${node}-${index}`, {
        node,
        times: HOURS_2,
        asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count }],
      }),
    ),
  );
  const names = Object.keys(places);
  return {
    pods: [...pods.slice(0, -1), { ...pods.at(-1)!, ...given }],
    nodes: names.map((name) => goodNode(name, name === names.at(-1) ? lastNode : {})),
  };
}

function detailsOf(...of: Parameters<typeof recordsOf>): readonly string[] {
  return overTooManyNodes.check(practicesOf(recordsOf(...of))).flatMap(({ objects: [first] }) => first!.detail);
}

const SPREAD: Places = { a: [4], b: [4], c: [2, 2], d: [3], e: [1] };

describe("a job on too many nodes", () => {
  it("is found where its pods fit into fewer of its nodes", () => {
    expect(detailsOf(SPREAD)).toEqual(["16 GPUs on 5 nodes, 2 are enough"]);
    expect(detailsOf({ a: [8], b: [8] })).toEqual([]);
    expect(detailsOf({ a: [8], b: [1] })).toEqual([]);
    expect(detailsOf({ a: [4], b: [4] })).toEqual(["8 GPUs on 2 nodes, 1 is enough"]);
  });

  it("is not found where its pods are too large to share nodes, although the sum of the GPUs would fit", () => {
    expect(detailsOf({ a: [5], b: [5], c: [5] })).toEqual([]);
    expect(detailsOf({ a: [5], b: [5], c: [5], d: [3] })).toEqual(["18 GPUs on 4 nodes, 3 are enough"]);
  });

  it("packs the largest pods first", () => {
    expect(detailsOf({ a: [2, 2], b: [6], c: [6] })).toEqual(["16 GPUs on 3 nodes, 2 are enough"]);
  });

  it("is not found while a pod waits, is new, or is no training", () => {
    expect(detailsOf(SPREAD, { node: "", phase: "Pending", times: { created: 0 } })).toEqual([]);
    expect(detailsOf(SPREAD, { phase: "Pending" })).toEqual([]);
    expect(detailsOf(SPREAD, { times: { created: 0 } })).toEqual([]);
    expect(detailsOf(SPREAD, { times: { created: 0, started: NOON - 61 * 60_000 } })).toHaveLength(1);
    expect(detailsOf(SPREAD, { times: { created: 0, started: NOON - 61 * 60_000 + 1 } })).toEqual([]);
    const { pods, nodes } = recordsOf(SPREAD);
    const inference = pods.map((pod) => ({ ...pod, type: "inference" as const }));
    expect(overTooManyNodes.check(practicesOf({ pods: inference, nodes }))).toEqual([]);
  });

  it("is not found where GPUs are shared or divided, or nodes are not alike or unknown", () => {
    expect(detailsOf(SPREAD, { asks: [{ kind: "claim", claim: "gpu" }] })).toEqual([]);
    expect(detailsOf(SPREAD, { node: "unknown" })).toEqual([]);
    expect(detailsOf(SPREAD, {}, { gpus: gpusWith({ count: 4 }) })).toEqual([]);
    expect(detailsOf(SPREAD, {}, { gpus: gpusWith({ model: "NVIDIA-L4" }) })).toEqual([]);
    expect(detailsOf(SPREAD, {}, { gpus: gpusWith({ sharing: "time-slicing", replicas: 2 }) })).toEqual([]);
    expect(detailsOf(SPREAD, {}, { gpus: [...gpusWith({}), ...gpusWith({ model: "NVIDIA-L4" })] })).toEqual([]);
  });

  it("is not found where it is exempt", () => {
    expect(overTooManyNodes.check(practicesOf(exempted(recordsOf(SPREAD), "job-over-too-many-nodes")))).toEqual([]);
  });
});
