import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Card, CardKind } from "../../domain/advice/card.ts";
import { amountOf, difference, formatAmount, sum } from "../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { compareBills } from "../../cli/advise/what-if.ts";
import { makeCards } from "../../processors/ledger/advice/make-cards.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { readWhatIf } from "../../runtime/config/what-if.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { RESTARTABLE_LABEL } from "../../domain/advice/rules/spot.ts";
import { PLANTED_PRICES } from "../support/advice/planted-fleet.ts";
import {
  plantHours,
  type Interval,
  type PlantedNode,
  type PlantedPod,
  type PlantedWorkload,
} from "../support/advice/planted-week.ts";
import { createTestDatabase } from "../support/database.ts";

/** A Monday. */
const START = Date.UTC(2026, 2, 2);
const HOURS = 7 * 24;
const WINDOW = { from: START, until: START + HOURS * HOUR_MILLIS };

const CONFIG = parseConfig(JSON.stringify({ prices: PLANTED_PRICES, owners: { team: [{ namespaceLabel: "team" }] } }), {
  source: "the test",
  folder: ".",
  env: {},
});

const A100 = { model: "NVIDIA-A100-SXM4-40GB", memoryMiB: 40_960 };
const H100 = { model: "NVIDIA-H100-80GB-HBM3", memoryMiB: 81_559 };
const L4 = { model: "NVIDIA-L4", memoryMiB: 22_888 };
/** Bound by the bandwidth of the memory, so that no other GPU and no part fits. */
const BOUND = { sm: 0.9, tensor: 0.1, dram: 1 };

const always =
  (part: number): PlantedPod["activity"] =>
  () => ({ mean: Math.round(part * 1_000_000), max: Math.round(part * 1_000_000) });
const inHours =
  (works: (hour: number) => boolean, part = 1): PlantedPod["activity"] =>
  (interval): Interval =>
    always(works(Math.floor(interval / 12)) ? part : 0)(interval, 0);

/** Hours of a week with 168 h at 3.60 USD for an A100, 6.88 for an H100, 4.20 if reserved, 1.40 for a spot A100 and 0.80 for an L4. */
const CASES: readonly (readonly [CardKind, string, string, string])[] = [
  ["idle-workload", "debug", "604.8", "168 h × 3.60"],
  ["idle-workload", "done", "432", "48 of 168 h it worked: 120 h × 3.60"],
  ["unused-gpus", "three-unused", "1814.4", "3 GPUs × 168 h × 3.60"],
  ["unused-gpus", "one-of-two", "1209.6", "2 pods × 1 GPU × 168 h × 3.60"],
  ["smaller-part", "small-part", "518.400000048", "1g.5gb is 1/7: 168 h × (3.60 − 0.514285714)"],
  ["smaller-part", "half-of-h100", "577.92", "3g.40gb is half of the memory slices: 168 h × 3.44"],
  ["smaller-model", "to-l4", "470.4", "168 h × (3.60 − 0.80)"],
  ["smaller-model", "two-to-l4", "940.8", "2 pods × 168 h × (3.60 − 0.80)"],
  ["fewer-replicas", "five", "1814.4", "5 × 0.1 / 0.7 needs 1, but at least 2 stay: 3 × 168 h × 3.60"],
  ["fewer-replicas", "four", "1209.6", "4 × 0.3 / 0.7 = 1.71 needs 2: 2 × 168 h × 3.60"],
  ["off-hours", "office", "406.8", "5 nights of 14 h, less 1 h to warm up, and 48 h: 113 h × 3.60"],
  ["off-hours", "nights", "126", "5 nights of 8 h, less 1 h: 35 h × 3.60"],
  ["empty-nodes", "free-a100", "2419.2", "2 nodes × 2 GPUs × 168 h × 3.60"],
  ["empty-nodes", "free-l4", "134.4", "168 h × 0.80"],
  ["pack-nodes", "half-held", "1209.6", "the pod of one of 3 nodes fits on another: 2 GPUs × 168 h × 3.60"],
  ["pack-nodes", "one-after-other", "134.4", "two pods that never ran at once need one of 2 nodes: 168 h × 0.80"],
  ["spot", "restartable", "369.6", "168 h × (3.60 − 1.40)"],
  ["spot", "four-restartable", "1478.4", "2 pods × 2 GPUs × 168 h × (3.60 − 1.40)"],
  ["commitment", "one-node", "900.48", "2 GPUs × 168 h × (6.88 − 4.20)"],
  ["commitment", "two-nodes", "1800.96", "2 nodes × 2 GPUs × 168 h × (6.88 − 4.20)"],
  ["waiting-gang", "waits-10h", "72", "2 pods × 10 h × 3.60"],
  ["waiting-gang", "waits-a-day", "172.8", "2 pods × 24 h × 3.60"],
];

interface Planted {
  readonly type: PlantedWorkload["type"];
  readonly activity: PlantedPod["activity"];
  readonly pods?: number;
  readonly gpus?: number;
  readonly of?: Pick<PlantedNode, "model" | "memoryMiB">;
  readonly memoryMiB?: PlantedPod["memoryMiB"];
  readonly profile?: PlantedPod["profile"];
  readonly stage?: PlantedPod["stage"];
  readonly labels?: PlantedWorkload["labels"];
}

const WORKLOADS: Readonly<Record<string, Planted>> = {
  debug: { type: "other", activity: always(0) },
  done: { type: "training", activity: inHours((hour) => hour < 48) },
  "three-unused": {
    type: "training",
    gpus: 4,
    activity: (_, device) => always(device === 0 ? 1 : 0)(0, 0),
    memoryMiB: 500,
  },
  "one-of-two": {
    type: "training",
    pods: 2,
    gpus: 2,
    activity: (_, device) => always(device === 0 ? 1 : 0)(0, 0),
    memoryMiB: (device) => (device === 0 ? 36_000 : 500),
  },
  "small-part": { type: "other", activity: always(0.05), memoryMiB: 3_000 },
  "half-of-h100": { type: "other", activity: always(0.2), memoryMiB: 30_000, of: H100 },
  "to-l4": { type: "other", activity: always(0.2), memoryMiB: 15_000 },
  "two-to-l4": { type: "inference", pods: 2, activity: always(0.2), memoryMiB: 15_000 },
  five: { type: "inference", pods: 5, activity: always(0.1), profile: BOUND },
  four: { type: "inference", pods: 4, activity: always(0.3), profile: BOUND },
  office: { type: "notebook", activity: inHours((hour) => hour < 120 && hour % 24 >= 8 && hour % 24 < 18) },
  nights: { type: "inference", activity: inHours((hour) => hour % 24 >= 6 && hour % 24 < 22) },
  restartable: { type: "training", activity: always(1), labels: { [RESTARTABLE_LABEL]: "true" } },
  "four-restartable": {
    type: "training",
    pods: 2,
    gpus: 2,
    activity: always(1),
    labels: { [RESTARTABLE_LABEL]: "true" },
  },
  "waits-10h": { type: "training", pods: 2, activity: always(1), stage: (hour) => (hour < 10 ? "waiting" : "running") },
  "waits-a-day": {
    type: "training",
    pods: 2,
    activity: always(1),
    stage: (hour) => (hour < 24 ? "waiting" : "running"),
  },
};

/** Nodes of two GPUs in pools: free ones, and ones with a training that works. */
const POOLS: readonly (readonly [pool: string, nodes: number, gpus: number, of: typeof A100, isHeld: boolean])[] = [
  ["free-a100", 2, 2, A100, false],
  ["free-l4", 1, 1, L4, false],
  ["one-node", 1, 2, H100, true],
  ["two-nodes", 2, 2, H100, true],
];

/** Nodes of pools with trainings on some of their GPUs: each node by its pod's slots and hours. */
const PACKED: readonly (readonly [
  pool: string,
  gpus: number,
  of: typeof A100,
  pods: readonly Pick<PlantedPod, "slots" | "fromHour" | "untilHour">[],
])[] = [
  ["half-held", 2, A100, [{ slots: [0] }, { slots: [1] }, { slots: [0] }]],
  [
    "one-after-other",
    1,
    L4,
    [
      { slots: [0], untilHour: 100 },
      { slots: [0], fromHour: 100 },
    ],
  ],
  // The pods run at once and need both nodes.
  [
    "full",
    1,
    L4,
    [
      { slots: [0], untilHour: 101 },
      { slots: [0], fromHour: 100 },
    ],
  ],
];

describe("the saving of a card", () => {
  let store: StoreClient;
  let cards: readonly Card[];

  beforeAll(async () => {
    const nodes: PlantedNode[] = [];
    const workloads: PlantedWorkload[] = [];
    const add = (
      name: string,
      { type, activity, pods = 1, gpus = 1, of = A100, labels = {}, ...rest }: Planted,
    ): void => {
      const { memoryMiB = of.memoryMiB * 0.9, profile, stage } = rest;
      const made = Array.from({ length: pods }, (_, index): PlantedPod => {
        const node = { name: `${name}-${index}`, ...of, gpus, pool: "main", capacityType: "on-demand" as const };
        nodes.push(node);
        return {
          name: `${name}-${index}`,
          node,
          slots: Array.from({ length: gpus }, (__, slot) => slot),
          activity,
          memoryMiB,
          ...(profile === undefined ? {} : { profile }),
          ...(stage === undefined ? {} : { stage }),
        };
      });
      workloads.push({ namespace: `team-${name}`, kind: "Deployment", name, type, labels, pods: made });
    };
    for (const [name, planted] of Object.entries(WORKLOADS)) add(name, planted);
    for (const [pool, count, gpus, of, isHeld] of POOLS)
      for (let index = 0; index < count; index++) {
        const node = { name: `${pool}-${index}`, ...of, gpus, pool };
        nodes.push(node);
        const pod = { name: `busy-${pool}-${index}`, node, slots: [0, 1], activity: always(1), memoryMiB: 70_000 };
        if (isHeld) workloads.push({ namespace: "busy", kind: "Job", name: pod.name, type: "training", pods: [pod] });
      }
    for (const [pool, gpus, of, pods] of PACKED)
      pods.forEach((held, index) => {
        const node = { name: `${pool}-${index}`, ...of, gpus, pool };
        nodes.push(node);
        const pod = {
          name: `works-${pool}-${index}`,
          node,
          activity: always(1),
          memoryMiB: of.memoryMiB * 0.9,
          ...held,
        };
        workloads.push({ namespace: "busy", kind: "Job", name: pod.name, type: "training", pods: [pod] });
      });
    store = await createTestDatabase("advice_savings");
    await plantHours(store, { cluster: "prod", start: START, hours: HOURS, nodes, workloads });
    ({ cards } = await makeCards(store, ledgerOf(CONFIG), { window: WINDOW, advice: CONFIG.advice }));
  });
  afterAll(() => store.close());

  it.each(CASES)("of %s for %s is %s: %s", (kind, name, owner) => {
    const found = cards.filter(({ subject }) => (subject.workload || subject.pool) === name);
    expect(found.map((card) => [card.kind, formatAmount(card.saving.owner)])).toEqual([[kind, owner]]);
  });

  it("is for nothing else, but for the one H100 of a half", () => {
    const names = new Set(CASES.map(([, name]) => name));
    const others = cards.filter(({ subject }) => !names.has(subject.workload || subject.pool));
    // The node of half-of-h100 is in the pool main, and its price on demand is above the reserved one: 168 h × 2.68.
    expect(others.map(({ kind, saving }) => [kind, formatAmount(saving.owner)])).toEqual([["commitment", "450.24"]]);
  });

  it("adds to the saving of all cards together, as a what-if with all changes has it", async () => {
    // The commitments change what nodes cost, so a set with them is not the sum: they are left out.
    const set = cards.filter(({ kind }) => kind !== "commitment");
    const read = readWhatIf(JSON.stringify({ changes: set.flatMap(({ changes }) => changes) }));
    if ("problems" in read) throw new Error(JSON.stringify(read.problems));
    const span = { name: "the week", ...WINDOW };
    const of = { span, by: ["team"], format: "json", write: () => undefined } as const;
    const text = await compareBills(
      { store, config: CONFIG, ledger: ledgerOf(CONFIG) },
      { path: "the test", whatIf: read.value },
      of,
    );
    const { was, otherwise } = JSON.parse(text) as Record<"was" | "otherwise", { readonly total: string }>;
    const together = sum(set.map(({ saving }) => saving.organization));
    const less = difference(amountOf<"currency">(was.total), amountOf<"currency">(otherwise.total));
    expect(formatAmount(less)).toBe(formatAmount(together));
  });
});
