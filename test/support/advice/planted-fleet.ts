import type { CardKind } from "../../../domain/advice/card.ts";
import { RESTARTABLE_LABEL } from "../../../domain/advice/rules/spot.ts";
import type { CapacityType } from "../../../domain/inventory.ts";
import { roll } from "../../../demo/fleet/hash.ts";
import { bursts, daily, gaps, idle, inHours, keyOf, quiet, training, untilHour, type Shape } from "./shapes.ts";
import type { PlantedNode, PlantedPod, PlantedWorkload } from "./planted-week.ts";

/** A fleet for a week, with what each workload and pool is planted as. */
export interface PlantedFleet {
  readonly nodes: readonly PlantedNode[];
  readonly workloads: readonly PlantedWorkload[];
  /** The kind of the planted waste by the name of the workload, or of the pool for nodes. */
  readonly planted: ReadonlyMap<string, CardKind>;
  readonly healthy: number;
}

/** The prices of the fleet: per GPU-hour. */
export const PLANTED_PRICES = [
  { match: { model: "NVIDIA-H100*" }, from: "2026-01-01", per: "gpu-hour", effective: "6.88" },
  { match: { model: "NVIDIA-A100*" }, from: "2026-01-01", per: "gpu-hour", effective: "3.60" },
  {
    match: { model: "NVIDIA-H100*", capacityType: "reserved" },
    from: "2026-01-01",
    per: "gpu-hour",
    effective: "4.20",
  },
  { match: { model: "NVIDIA-A100*", capacityType: "spot" }, from: "2026-01-01", per: "gpu-hour", effective: "1.40" },
  { match: { model: "NVIDIA-L4" }, from: "2026-01-01", per: "gpu-hour", effective: "0.80" },
];

const H100 = { model: "NVIDIA-H100-80GB-HBM3", memoryMiB: 81_559 };
const A100 = { model: "NVIDIA-A100-SXM4-40GB", memoryMiB: 40_960 };
const LLM = { sm: 0.9, tensor: 0.1, dram: 0.95 };
const CNN = { sm: 0.8, tensor: 0.4, dram: 0.3 };
const isWeekend = (day: number): boolean => day >= 5;

/** A way in which a workload can look, in one of several variants. */
type Plan = (make: Maker, variant: number) => void;

/** Adds workloads and their nodes to a fleet. */
interface Maker {
  readonly key: number;
  readonly name: string;
  /** Adds a workload with equal pods; each pod has a node of its own. */
  add(of: {
    readonly type: PlantedWorkload["type"];
    readonly kind?: string;
    readonly pods?: number;
    readonly gpus?: number;
    readonly activity: (pod: number) => Shape;
    readonly memoryMiB: PlantedPod["memoryMiB"];
    readonly profile?: PlantedPod["profile"];
    readonly fromHour?: number;
    readonly stage?: PlantedPod["stage"];
    readonly labels?: PlantedWorkload["labels"];
    readonly capacityType?: CapacityType;
  }): void;
  /** Adds a pool of nodes of two GPUs, the last ones of which nobody holds. A pod on each other node holds the GPUs in `slots`: both by default. */
  pool(
    nodes: number,
    free: number,
    of?: Pick<PlantedNode, "model" | "memoryMiB" | "capacityType">,
    slots?: readonly number[],
  ): void;
}

const WASTE: Readonly<Record<CardKind, Plan>> = {
  "idle-workload": ({ key, add }, variant) => {
    const of = [
      { type: "notebook", activity: untilHour(20 + Math.floor(60 * roll(key, 3)), bursts(key), idle(key)) },
      { type: "other", kind: "Pod", activity: idle(key) },
      {
        type: "training",
        kind: "Job",
        activity: untilHour(48 + Math.floor(80 * roll(key, 3)), training(key), idle(key)),
      },
      { type: "inference", kind: "Deployment", activity: idle(key) },
    ] as const;
    const { activity, ...rest } = of[variant % of.length]!;
    add({ ...rest, activity: () => activity, memoryMiB: variant % 2 === 0 ? 600 : 30_000 });
  },
  "unused-gpus": ({ key, add }, variant) => {
    const gpus = 2 + (variant % 3);
    const used = 1 + (variant % (gpus - 1));
    const work = variant % 2 === 0 ? training(key) : bursts(key);
    add({
      type: variant % 2 === 0 ? "training" : "inference",
      gpus,
      activity: () => (interval, device) => (device < used ? work : idle(key))(interval, device),
      memoryMiB: (device) => (device < used ? 35_000 : 450),
    });
  },
  "smaller-part": ({ key, add }, variant) => {
    const types = ["notebook", "inference", "training", "other"] as const;
    add({
      type: types[variant % types.length]!,
      activity: () => quiet(key, 0.06 + 0.05 * roll(key, 4)),
      memoryMiB: 2_000 + Math.floor(2_000 * roll(key, 5)),
      ...(variant % 3 === 0 ? {} : { profile: { sm: 0.5, tensor: 0.2, dram: 0.4 } }),
    });
  },
  "smaller-model": ({ key, add }, variant) => {
    const types = ["inference", "other", "training"] as const;
    add({
      type: types[variant % types.length]!,
      activity: () => quiet(key, 0.16 + 0.1 * roll(key, 4)),
      memoryMiB: 11_000 + Math.floor(8_000 * roll(key, 5)),
      ...(variant % 3 === 0 ? {} : { profile: { sm: 0.5, tensor: 0.3, dram: 0.4 } }),
    });
  },
  "fewer-replicas": ({ key, add }, variant) => {
    const pods = 4 + (variant % 3);
    add({
      type: "inference",
      kind: "Deployment",
      pods,
      activity: (pod) => (variant % 2 === 0 ? daily(key + pod, 0.05, 0.2) : quiet(key + pod, 0.2)),
      memoryMiB: 36_000,
      profile: { sm: 0.5, tensor: 0.1, dram: 0.9 },
    });
  },
  "off-hours": ({ key, add }, variant) => {
    const [from, until] = [7 + (variant % 3), 17 + (variant % 4)];
    const worksWeekends = variant % 3 === 2;
    const hours = (day: number, hour: number): boolean =>
      hour >= from && hour < until && (worksWeekends || !isWeekend(day));
    add({
      type: variant % 2 === 0 ? "notebook" : "inference",
      activity: () => inHours(hours, variant % 2 === 0 ? bursts(key) : daily(key, 0.4, 0.8), idle(key)),
      memoryMiB: 25_000,
    });
  },
  "empty-nodes": ({ pool }, variant) => pool(2, 1 + (variant % 2)),
  "pack-nodes": ({ pool }, variant) => pool(2 + (variant % 3), 0, A100, [variant % 2]),
  spot: ({ key, add }, variant) =>
    add({
      type: "training",
      kind: "Job",
      pods: 1 + (variant % 2),
      gpus: 1 + (variant % 3),
      activity: () => training(key),
      memoryMiB: 36_000,
      labels: { [RESTARTABLE_LABEL]: "true" },
    }),
  commitment: ({ pool }, variant) => pool(1 + (variant % 2), 0, H100),
  "waiting-gang": ({ key, add }, variant) => {
    const hours = 8 + Math.floor(40 * roll(key, 6));
    add({
      type: "training",
      kind: "Job",
      pods: 2,
      fromHour: variant % 2 === 0 ? 0 : 60,
      activity: () => training(key),
      memoryMiB: 36_000,
      stage: (hour) => (hour < (variant % 2 === 0 ? 0 : 60) + hours ? "waiting" : "running"),
    });
  },
};

const HEALTHY: readonly Plan[] = [
  // Inference with bursts.
  ({ key, add }) =>
    add({ type: "inference", kind: "Deployment", pods: 2, activity: (pod) => bursts(key + pod), memoryMiB: 30_000 }),
  // A training with warm-up and pauses for checkpoints.
  ({ key, add }) =>
    add({ type: "training", kind: "Job", activity: () => training(key), memoryMiB: 36_000, profile: CNN }),
  // A distributed training.
  ({ key, add }) =>
    add({ type: "training", kind: "Job", pods: 2, gpus: 2, activity: () => training(key), memoryMiB: 36_000 }),
  // A training whose pods are less busy: a small batch, but all of the memory.
  ({ key, add }) => add({ type: "training", kind: "Job", pods: 2, activity: () => quiet(key, 0.3), memoryMiB: 36_000 }),
  // A large model in memory with few requests at a time: bound by memory bandwidth.
  ({ key, add }) => add({ type: "inference", activity: () => quiet(key, 0.6), memoryMiB: 38_000, profile: LLM }),
  // A service that a weekend needs.
  ({ key, add }) =>
    add({ type: "inference", activity: () => inHours(isWeekend, daily(key, 0.5, 0.9), idle(key)), memoryMiB: 36_000 }),
  // A service with a busy day and a quiet night that is not idle.
  ({ key, add }) =>
    add({
      type: "inference",
      kind: "Deployment",
      pods: 2,
      activity: (pod) => daily(key + pod, 0.1, 0.9),
      memoryMiB: 30_000,
    }),
  // A notebook of a person with irregular hours.
  ({ key, add }) =>
    add({
      type: "notebook",
      activity: () => inHours((day, hour) => roll(key, day, Math.floor(hour / 3)) < 0.45, bursts(key), idle(key)),
      memoryMiB: 25_000,
    }),
  // GPUs of one pod that are loaded unevenly.
  ({ key, add }) =>
    add({
      type: "training",
      gpus: 2,
      activity: () => (interval, device) => (device === 0 ? training(key) : quiet(key, 0.25))(interval, device),
      memoryMiB: 30_000,
    }),
  // Nothing runs, but a part of the samples is missing: nobody knows.
  ({ key, add }) => add({ type: "notebook", activity: () => gaps(key, 0.2, idle(key)), memoryMiB: 500 }),
  // No samples at all.
  ({ key, add }) => add({ type: "other", activity: () => gaps(key, 1, idle(key)), memoryMiB: 500 }),
  // A debug pod that is three days old.
  ({ key, add }) => add({ type: "other", kind: "Pod", fromHour: 96, activity: () => idle(key), memoryMiB: 500 }),
  // A training that started late and waited for its gang for a moment.
  ({ key, add }) =>
    add({
      type: "training",
      kind: "Job",
      pods: 2,
      activity: () => training(key),
      memoryMiB: 36_000,
      stage: (hour) => (hour === 0 ? "waiting" : "running"),
    }),
  // A training that can restart, on spot nodes already.
  ({ key, add }) =>
    add({
      type: "training",
      kind: "Job",
      activity: () => training(key),
      memoryMiB: 36_000,
      labels: { [RESTARTABLE_LABEL]: "true" },
      capacityType: "spot",
    }),
  // Nodes that are reserved already.
  ({ pool }) => pool(1, 0, { ...H100, capacityType: "reserved" }),
  // A warm standby: it answers for five minutes every two hours.
  ({ key, add }) =>
    add({
      type: "inference",
      activity: () => (interval, device) =>
        interval % 24 === 0 ? { mean: 300_000, max: 900_000 } : idle(key)(interval, device),
      memoryMiB: 38_000,
    }),
  // A training that waits for its data again and again: a low mean, and full peaks.
  ({ key, add }) =>
    add({
      type: "training",
      kind: "Job",
      activity: () => (interval) => ({ mean: 250_000 + Math.round(100_000 * roll(key, interval)), max: 1_000_000 }),
      memoryMiB: 36_000,
      profile: CNN,
    }),
  // The memory of a smaller model is not large enough, though the number in its name is.
  ({ key, add }) => add({ type: "other", activity: () => quiet(key, 0.2), memoryMiB: 20_500 }),
  // The work takes a little more than 80 % of a smaller model.
  ({ key, add }) => add({ type: "training", kind: "Job", activity: () => quiet(key, 0.36), memoryMiB: 19_000 }),
  // Its fourth replica is needed in the busiest hour.
  ({ key, add }) =>
    add({
      type: "inference",
      kind: "Deployment",
      pods: 4,
      activity: (pod) => daily(key + pod, 0.1, 0.6),
      memoryMiB: 36_000,
      profile: LLM,
    }),
  // One of two GPUs does nothing, and has a little more than 1 GiB in use.
  ({ key, add }) =>
    add({
      type: "training",
      gpus: 2,
      activity: () => (interval, device) => (device === 0 ? training(key) : idle(key))(interval, device),
      memoryMiB: (device) => (device === 0 ? 36_000 : 1_100),
    }),
  // It rests for five hours of each night.
  ({ key, add }) =>
    add({
      type: "inference",
      activity: () => inHours((_, hour) => hour >= 5, daily(key, 0.5, 0.9), idle(key)),
      memoryMiB: 36_000,
    }),
  // A notebook that nobody used for a little less than three days.
  ({ key, add }) => add({ type: "notebook", activity: () => untilHour(70, idle(key), bursts(key)), memoryMiB: 25_000 }),
  // A small service with as many replicas as availability needs.
  ({ key, add }) =>
    add({
      type: "inference",
      kind: "Deployment",
      pods: 2,
      activity: (pod) => quiet(key + pod, 0.5),
      memoryMiB: 30_000,
    }),
];

/** Makes a fleet of `each` planted workloads of each kind, and of `healthy` workloads without waste. The same seed makes the same fleet. */
export function plantedFleet({ seed, each, healthy }: { seed: number; each: number; healthy: number }): PlantedFleet {
  const nodes: PlantedNode[] = [];
  const workloads: PlantedWorkload[] = [];
  const planted = new Map<string, CardKind>();
  const makerOf = (name: string): Maker => ({
    key: keyOf(`${seed} ${name}`),
    name,
    add(of) {
      const { type, kind = "StatefulSet", pods = 1, gpus = 1, activity, memoryMiB, profile, fromHour, stage } = of;
      const { labels = {}, capacityType = "on-demand" } = of;
      const key = keyOf(`${seed} ${name} add`);
      // Some samples are always missing, and a Deployment's pods are replaced once in some weeks.
      const missing = 0.06 * roll(key, 1);
      const replacedAt = kind === "Deployment" && roll(key, 2) < 0.5 ? 10 + Math.floor(150 * roll(key, 3)) : undefined;
      const made = Array.from({ length: pods }, (_, index): readonly PlantedPod[] => {
        const node = { name: `node-${name}-${index}`, ...A100, gpus, pool: "main", capacityType };
        nodes.push(node);
        const pod: PlantedPod = {
          name: `${name}-${index}`,
          node,
          slots: Array.from({ length: gpus }, (__, slot) => slot),
          activity: gaps(key, missing, activity(index)),
          memoryMiB,
          ...(profile === undefined ? {} : { profile }),
          ...(fromHour === undefined ? {} : { fromHour }),
          ...(stage === undefined ? {} : { stage }),
        };
        if (replacedAt === undefined) return [pod];
        return [
          { ...pod, untilHour: replacedAt },
          { ...pod, name: `${name}-new-${index}`, fromHour: replacedAt },
        ];
      }).flat();
      workloads.push({ namespace: `team-${keyOf(name) % 7}`, kind, name, type, labels, pods: made });
    },
    pool(count, free, of = A100, slots = [0, 1]) {
      const ofPool = Array.from({ length: count }, (_, index) => ({
        name: `node-${name}-${index}`,
        ...of,
        gpus: 2,
        pool: name,
      }));
      nodes.push(...ofPool);
      ofPool.slice(0, count - free).forEach((node, index) =>
        workloads.push({
          namespace: "team-0",
          kind: "Job",
          name: `busy-${name}-${index}`,
          type: "training",
          pods: [{ name: `busy-${name}-${index}`, node, slots, activity: training(keyOf(name)), memoryMiB: 36_000 }],
        }),
      );
    },
  });
  for (const [kind, plan] of Object.entries(WASTE) as [CardKind, Plan][])
    for (let index = 0; index < each; index++) {
      const name = `${kind}-${index}`;
      planted.set(name, kind);
      plan(makerOf(name), index);
    }
  for (let index = 0; index < healthy; index++)
    HEALTHY[index % HEALTHY.length]!(makerOf(`healthy-${index % HEALTHY.length}-${index}`), index);
  // A node of the cheaper model, so that it is a shape of the fleet. It is busy.
  const l4: PlantedNode = { name: "node-l4", model: "NVIDIA-L4", memoryMiB: 22_888, gpus: 1, pool: "small" };
  nodes.push(l4);
  const busy = { name: "busy-l4", node: l4, slots: [0], activity: training(1), memoryMiB: 20_000 };
  workloads.push({ namespace: "team-0", kind: "Job", name: "busy-l4", type: "training", pods: [busy] });
  return { nodes, workloads, planted, healthy };
}

/** Returns the same fleet with the GPUs of the pool `main` on nodes of at most `gpus` GPUs, as most fleets have them. */
export function packed({ nodes, workloads, ...fleet }: PlantedFleet, gpus: number): PlantedFleet {
  const packedNodes: { readonly node: PlantedNode; used: number }[] = [];
  const places = new Map<PlantedNode, { readonly node: PlantedNode; readonly first: number }>();
  for (const node of nodes.filter(({ pool }) => pool === "main")) {
    const isAlike = ({ node: other }: (typeof packedNodes)[number]): boolean =>
      other.model === node.model && other.capacityType === node.capacityType;
    let into = packedNodes.findLast(isAlike);
    if (into === undefined || into.used + node.gpus > gpus) {
      into = { node: { ...node, gpus }, used: 0 };
      packedNodes.push(into);
    }
    places.set(node, { node: into.node, first: into.used });
    into.used += node.gpus;
  }
  const placed = (pod: PlantedPod): PlantedPod => {
    const place = places.get(pod.node);
    if (place === undefined) return pod;
    return { ...pod, node: place.node, slots: pod.slots.map((slot) => place.first + slot) };
  };
  return {
    ...fleet,
    nodes: [...packedNodes.map(({ node }) => node), ...nodes.filter((node) => !places.has(node))],
    workloads: workloads.map((workload) => ({ ...workload, pods: workload.pods.map(placed) })),
  };
}
