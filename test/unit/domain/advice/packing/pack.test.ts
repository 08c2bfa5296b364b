import { describe, expect, it } from "vitest";
import { createNodeTimes, type NodeTimes } from "../../../../../domain/advice/packing/node-time.ts";
import { packNodes, type Packing } from "../../../../../domain/advice/packing/pack.ts";
import type { UsageHour } from "../../../../../domain/allocation/usage-hour.ts";
import { HOUR_MILLIS } from "../../../../../domain/time.ts";

/** More than one word of bits. */
const SPAN = 40;
const WINDOW = { from: 0, until: SPAN * HOUR_MILLIS };

interface Pod {
  readonly name: string;
  readonly slots: readonly number[];
  readonly from?: number;
  readonly until?: number;
}

interface Node {
  readonly pods?: readonly Pod[];
  readonly gpus?: number;
  readonly pool?: string;
  readonly zone?: string;
  /** An hour in which the node is cordoned. */
  readonly cordonedAt?: number;
  /** The first hour of the node. */
  readonly from?: number;
  readonly held?: "whole" | "fraction";
  readonly kind?: "pod" | "stranger";
}

function timesOf(nodes: Readonly<Record<string, Node>>): NodeTimes {
  const times = createNodeTimes(WINDOW);
  for (const [node, of] of Object.entries(nodes))
    for (let hour = of.from ?? 0; hour < SPAN; hour++)
      for (let slot = 0; slot < (of.gpus ?? 2); slot++) times.add(rowOf(node, of, hour, slot));
  return times;
}

function rowOf(node: string, of: Node, hour: number, slot: number): UsageHour {
  const { pods = [], gpus = 2, pool = "a", zone = "z", cordonedAt, held = "whole", kind = "pod" } = of;
  const holders = pods
    .filter(({ slots, from = 0, until = SPAN }) => slots.includes(slot) && from <= hour && hour < until)
    .map(({ name }) => ({ kind, namespace: "team", name }));
  const claims = holders.map(() => ({ claim: { held: { what: held } } }));
  const fromMillis = hour * HOUR_MILLIS;
  const segment = { fromMillis, untilMillis: fromMillis + HOUR_MILLIS, gpu: { model: "NVIDIA-L4" }, claims };
  return {
    cluster: "prod",
    node,
    slot,
    machine: { pool, zone, delivered: gpus },
    segment: { ...segment, unavailableBecause: "", isCordoned: hour === cordonedAt },
    holders,
  } as unknown as UsageHour;
}

function pack(
  nodes: Readonly<Record<string, Node>>,
  { candidates = Object.keys(nodes), most = Infinity }: { candidates?: readonly string[]; most?: number } = {},
): Packing {
  const times = timesOf(nodes);
  const all = [...times.nodes.values()];
  const wanted = [{ candidates: all.filter(({ row }) => candidates.includes(row.node)), most }];
  return packNodes(all, { wanted, hours: times.hours });
}

const one = (name: string, slot = 0, hours: Pick<Pod, "from" | "until"> = {}): Pod => ({
  name,
  slots: [slot],
  ...hours,
});

describe("packing", () => {
  it("empties the node with the least held time", () => {
    const packing = pack({ a: { pods: [one("p")] }, b: { pods: [one("q", 1, { until: 30 })] } });
    expect(packing.leaving).toEqual(["b"]);
    expect(packing.pods).toBe(1);
    expect(packing.nodes).toEqual(["b", "a"]);
  });

  it("drops the free time of the node that leaves, and the time that its pods take on another node", () => {
    const { leaves } = pack({ a: { pods: [one("p")] }, b: { pods: [one("q", 1, { until: 30 })] } });
    // The hours of the pod stay at its own GPU, in the place of those of a/1.
    expect([leaves("b", 1, 29), leaves("b", 1, 30), leaves("b", 0, 0)]).toEqual([false, true, true]);
    expect([leaves("a", 1, 29), leaves("a", 1, 30), leaves("a", 0, 0)]).toEqual([true, false, false]);
    let dropped = 0;
    for (const node of ["a", "b"])
      for (const slot of [0, 1]) for (let hour = 0; hour < SPAN; hour++) dropped += Number(leaves(node, slot, hour));
    // As much time as the node had: the bill is less by its cost.
    expect(dropped).toBe(2 * SPAN);
  });

  it("places pods that never ran at once on one GPU", () => {
    const { leaving } = pack({
      a: { gpus: 1, pods: [one("p", 0, { until: 33 })] },
      b: { gpus: 1, pods: [one("q", 0, { from: 33 })] },
    });
    expect(leaving).toEqual(["b"]);
  });

  it("keeps pods with several GPUs on one node", () => {
    const two: Pod = { name: "two", slots: [0, 1] };
    const { leaving } = pack({
      a: { gpus: 3, pods: [{ name: "x", slots: [0, 1] }] },
      b: { gpus: 3, pods: [{ name: "y", slots: [0, 1] }] },
      c: { gpus: 3, pods: [two] },
    });
    expect(leaving).toEqual([]);
  });

  it("moves pods of one node to several", () => {
    const { leaving, pods } = pack({
      a: { gpus: 3, pods: [{ name: "x", slots: [0, 2] }] },
      b: { gpus: 3, pods: [{ name: "y", slots: [0, 1] }] },
      c: { gpus: 3, pods: [one("p"), one("q", 2)] },
    });
    expect([leaving, pods]).toEqual([["c"], 2]);
  });

  it("moves pods that shared an hour of one GPU together", () => {
    const half = (from: number, until: number): Node => ({ gpus: 1, pods: [one("r", 0, { from, until })] });
    // Each other node has room for one of the two pods, none has room for both.
    const others = { b: half(0, 20), c: half(20, 40) };
    const apart: Node = { gpus: 1, pods: [one("p", 0, { until: 20 }), one("q", 0, { from: 20 })] };
    const together: Node = { gpus: 1, pods: [one("p", 0, { until: 20 }), one("q", 0, { from: 19 })] };
    expect(pack({ a: apart, ...others }, { candidates: ["a"] }).leaving).toEqual(["a"]);
    expect(pack({ a: together, ...others }, { candidates: ["a"] }).leaving).toEqual([]);
  });

  it.each<[string, Node]>([
    ["another pool", { pool: "b" }],
    ["another zone", { zone: "y" }],
    ["another number of GPUs", { gpus: 3 }],
  ])("does not move pods to a node of %s", (_, other) => {
    expect(pack({ a: { pods: [one("p")] }, b: { ...other, pods: [one("q")] } }).leaving).toEqual([]);
  });

  it.each<[string, Node]>([
    ["was cordoned", { cordonedAt: 39 }],
    ["came later", { from: 1 }],
    ["has holders of parts of GPUs", { held: "fraction" }],
    ["has holders that are no pods", { kind: "stranger" }],
  ])("does not empty a node that %s", (_, of) => {
    const nodes = { a: { pods: [one("p")] }, b: { ...of, pods: [one("q")] } };
    expect(pack(nodes, { candidates: ["b"] }).leaving).toEqual([]);
    expect(pack({ ...nodes, b: { pods: [one("q")] } }, { candidates: ["b"] }).leaving).toEqual(["b"]);
  });

  it("moves no pod to a node that nobody held, which can leave as it is", () => {
    expect(pack({ a: { pods: [one("p")] }, free: {} }).leaving).toEqual([]);
  });

  it("takes no room for the first pods of a node that has to stay", () => {
    const nodes = { a: { pods: [one("p")] }, b: { pods: [one("q"), one("r", 1)] } };
    const { leaving, leaves } = pack(nodes, { candidates: ["b"] });
    expect([leaving, leaves("a", 1, 0)]).toEqual([[], false]);
  });

  it("empties at most the requested number of nodes", () => {
    const nodes = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, { pods: [one(name)] }]));
    expect(pack(nodes).leaving).toEqual(["a", "c"]);
    expect(pack(nodes, { most: 1 }).leaving).toEqual(["a"]);
  });

  it("counts only the hours for which there is usage", () => {
    const from = 30;
    const nodes = { a: { from, pods: [one("p")] }, b: { from, pods: [one("q")] } };
    expect(pack(nodes).leaving).toEqual(["a"]);
    expect(pack({ ...nodes, c: { pods: [one("r")] } }).leaving).toEqual([]);
  });

  it("gives the same result in any order of the nodes", () => {
    const nodes = { a: { pods: [one("p")] }, b: { pods: [one("q", 1)] }, c: { pods: [one("r", 0, { from: 35 })] } };
    const backward = Object.fromEntries(Object.entries(nodes).toReversed());
    const [first, second] = [pack(nodes), pack(backward)];
    expect(second.leaving).toEqual(first.leaving);
    expect(second.nodes).toEqual(first.nodes);
  });
});
