import { expect, it } from "vitest";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { loadBetween } from "../../demo/fleet/load.ts";
import type { FleetNode, Slot } from "../../demo/fleet/node.ts";
import { demoLedger } from "../../demo/fleet/prices.ts";
import { RESIDENTS } from "../../demo/fleet/residents.ts";
import { tenancyAt } from "../../demo/fleet/tenancy.ts";
import { livesBetween, type PodLife } from "../../demo/kubernetes/cluster/lives.ts";
import { ownersOf } from "../../demo/kubernetes/cluster/pod-owners.ts";
import { CARD_KINDS, type CardKind } from "../../domain/advice/card.ts";
import { canonicalModel } from "../../domain/gpu-model/names.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import { makeCards } from "../../processors/ledger/advice/make-cards.ts";
import { advice as adviceSchema } from "../../runtime/config/advice.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { plantHours, type PlantedNode, type PlantedPod, type PlantedWorkload } from "../support/advice/planted-week.ts";
import { createTestDatabase } from "../support/database.ts";

const HOURS = 7 * 24;
const INTERVAL_MILLIS = HOUR_MILLIS / 12;
const PPM = 1_000_000;
const LEDGER = ledgerOf({ ...parseConfig("", { source: "the test", folder: ".", env: {} }), ...demoLedger() });

/** The advice for each resident of the demo, and for its pools, by the beginning of the name. */
const WASTES: Readonly<Record<CardKind, string>> = {
  "idle-workload": "jupyter-gus-",
  "unused-gpus": "diarize",
  "smaller-part": "prompt-guard",
  "smaller-model": "rerank-api",
  "fewer-replicas": "image-tags",
  "off-hours": "label-assist",
  "empty-nodes": "mi300x-spare",
  "pack-nodes": "mi300x-training",
  spot: "domain-pretrain-",
  commitment: "h100mig-inference",
  "waiting-gang": "policy-distill-",
};

/** Returns the demo's nodes with residents, its spare nodes, and its residents in a week from a start on. */
function demoFrom(start: number) {
  const whole = createFleet({ seed: 1, gpus: 96 });
  const isWasted = ({ resident, use }: Slot): boolean => resident !== undefined || use === "spare";
  const fleet = { ...whole, nodes: whole.nodes.filter(({ gpus }) => gpus.some(({ slots }) => slots.some(isWasted))) };
  const nodes = new Map(fleet.nodes.map((node) => [node.name, plantedNode(node)]));
  const workloads = new Map<string, PlantedWorkload & { pods: PlantedPod[] }>();
  const lives = livesBetween(fleet, start, start + HOURS * HOUR_MILLIS).filter(
    ({ slots, boundMillis, endMillis }) => slots[0]!.resident !== undefined && boundMillis < endMillis,
  );
  for (const life of lives) {
    const { kind, name } = ownersOf(life).at(-1)!;
    const { namespace, type, labels, workload } = life.pod;
    const known = workloads.get(workload.uid) ?? { namespace, kind, name, type, labels, pods: [] };
    const gang = lives.filter(({ pod }) => pod.workload.uid === workload.uid);
    known.pods.push(plantedPod(life, gang, nodes.get(life.node.name)!, start));
    workloads.set(workload.uid, known);
  }
  return { nodes: [...nodes.values()], workloads: [...workloads.values()] };
}

function plantedNode({ name, model, gpus, pool, capacityType }: FleetNode): PlantedNode {
  const { memoryMib: memoryMiB } = model;
  return { name, model: canonicalModel(model.name), memoryMiB, gpus: gpus.length, pool, capacityType };
}

function plantedPod(life: PodLife, gang: readonly PodLife[], node: PlantedNode, start: number): PlantedPod {
  const { pod, slots, boundMillis, endMillis } = life;
  const hourOf = (millis: number): number => Math.floor((millis - start) / HOUR_MILLIS);
  const wholeHour = hourOf(Math.max(...gang.map((each) => each.boundMillis)));
  const { tensorRatio: tensor, dramRatio: dram } = pod;
  return {
    name: pod.name,
    node,
    slots: slots.map(({ gpu }) => gpu),
    fromHour: hourOf(boundMillis),
    untilHour: hourOf(endMillis),
    stage: (hour) => (hour < wholeHour ? "waiting" : "running"),
    activity(interval, device) {
      const from = start + interval * INTERVAL_MILLIS;
      const area = loadBetween(tenancyAt(slots[device]!, from).load, from / 1000, (from + INTERVAL_MILLIS) / 1000);
      const mean = Math.round((Math.max(0, area) / (INTERVAL_MILLIS / 1000)) * PPM);
      // The exporters' utilization is up to an eighth above the load.
      return { mean, max: Math.min(PPM, Math.round(mean * 1.125)) };
    },
    memoryMiB: (device) => Math.round(node.memoryMiB * (slots[device]!.resident!.isUsed ? pod.memoryRatio : 0.01)),
    profile: { sm: 0.9, tensor, dram },
  };
}

it.each([
  ["Monday", Date.UTC(2026, 10, 2)],
  ["Thursday", Date.UTC(2027, 2, 4)],
])(
  "the demo has a card of each kind in the week from a %s on, each for its own waste",
  async (day, start) => {
    const store = await createTestDatabase(`advice_demo_${day.toLowerCase()}`);
    try {
      await plantHours(store, { cluster: "demo", start, hours: HOURS, ...demoFrom(start) });
      const window = { from: start, until: start + 7 * DAY_MILLIS };
      const { cards } = await makeCards(store, LEDGER, { window, advice: adviceSchema.parse({}) });
      for (const kind of Object.keys(CARD_KINDS) as CardKind[]) {
        const names = cards.filter((card) => card.kind === kind).map(({ subject }) => subject.workload || subject.pool);
        expect(
          names.some((name) => name.startsWith(WASTES[kind])),
          `${kind}: ${names.join(" ")}`,
        ).toBe(true);
      }
      // The two nodes with the runs grasp-rollouts have the card, not the runs. The service chat-235b wastes nothing.
      const residents = Object.values(RESIDENTS).flatMap(({ name }) =>
        name === "grasp-rollouts" || name === "chat-235b" ? [] : name,
      );
      const ofWorkloads = cards.filter(({ subject }) => subject.workload !== "");
      expect(residents.filter((name) => !ofWorkloads.some(({ subject }) => subject.workload.startsWith(name)))).toEqual(
        [],
      );
      expect(ofWorkloads.filter(({ subject }) => subject.workload.startsWith("chat-235b"))).toEqual([]);
    } finally {
      await store.close();
    }
  },
  300_000,
);
