import type { FactEnd, FactOrigin } from "../../domain/fact.ts";
import { canonicalModel } from "../../domain/gpu-model/names.ts";
import { DELIVERED_LABEL, type InventoryFact, type NodeCondition } from "../../domain/inventory.ts";
import type { Scenario } from "../files.ts";
import { uuidOf } from "./identity.ts";
import { changesOf, gpuIndexes, layoutAt, memoryMiBOf, troublesAt, vendorOf } from "./machine.ts";
import { isBare, isWithin, lifeOf, type ScenarioNode } from "./tenure.ts";

/** The fact of a node from a time on. */
export interface NodeMoment {
  readonly atMillis: number;
  readonly fact: Omit<InventoryFact, keyof FactOrigin>;
}

/**
 * Returns the facts of a scenario's node, as a watcher would send them: when it joins, at each change of its condition, cordon, devices or MIG layout, and
 * when it is gone. None for a node without GPUs or without Kubernetes.
 */
export function nodeMoments(node: ScenarioNode, scenario: Scenario): readonly NodeMoment[] {
  if (node.gpus === 0 || isBare(node, scenario)) return [];
  const life = lifeOf(node, scenario);
  const times = [...new Set([life.from, ...changesOf(node)])]
    .filter((at) => isWithin(life, at))
    .toSorted((a, b) => a - b);
  const moments = times
    .map((atMillis) => ({ atMillis, fact: stateAt(node, life.from, atMillis) }))
    // Kubernetes has no XIDs. A fact without a change is not sent again.
    .filter(({ fact }, index, all) => JSON.stringify(fact) !== JSON.stringify(all[index - 1]?.fact));
  if (node.until === undefined) return moments;
  const end: FactEnd = { atMillis: node.until, inferred: false };
  return [...moments, { atMillis: node.until, fact: { ...stateAt(node, life.from, node.until - 1), end } }];
}

function stateAt(node: ScenarioNode, joined: number, at: number): NodeMoment["fact"] {
  const { name, cluster, providerId, instanceType, region, zone, pool, capacityType, labels, delivered } = node;
  const capacity = amountsAt(node, at, () => true);
  const cordonedSince = sinceOf(node, "cordoned", joined, at);
  const memoryMiB = memoryMiBOf(node);
  const profiles = profilesAt(node, at);
  const units = capacity[`${vendorOf(node)}.com/gpu`] ?? 0;
  return {
    node: name,
    uid: uuidOf("node", cluster, name),
    ...(providerId === undefined ? {} : { providerId }),
    joined,
    gpus: [
      {
        vendor: vendorOf(node),
        model: canonicalModel(node.model, memoryMiB),
        count: node.gpus,
        countedBy: "label",
        ...(units === 0 || Object.keys(profiles).length > 0 ? {} : { offered: units }),
        ...(memoryMiB === undefined ? {} : { memoryMiB }),
        replicas: node.sharing.strategy === "none" ? 1 : node.sharing.replicas,
        sharing: node.sharing.strategy,
        mig: { strategy: node.mig === undefined ? "none" : "mixed", profiles },
      },
    ],
    capacity,
    allocatable: amountsAt(node, at, (index) => !troublesAt(node, index, at).includes("withdrawn")),
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(pool === undefined ? {} : { pool }),
    capacityType,
    taints:
      cordonedSince === undefined ? [] : [{ key: "node.kubernetes.io/unschedulable", value: "", effect: "NoSchedule" }],
    conditions: [readyAt(node, joined, at)],
    ...(cordonedSince === undefined ? {} : { cordonedSince }),
    labels: delivered === undefined ? labels : { ...labels, [DELIVERED_LABEL]: String(delivered) },
  };
}

/** Returns the resources of a node for the given GPUs, by the names of its device plugin. */
function amountsAt(node: ScenarioNode, at: number, isMeant: (index: number) => boolean): Record<string, number> {
  const amounts: Record<string, number> = { [`${vendorOf(node)}.com/gpu`]: 0 };
  for (const index of gpuIndexes(node)) {
    for (const [resource, count] of offerOf(node, index, at))
      amounts[resource] = (amounts[resource] ?? 0) + (isMeant(index) ? count : 0);
  }
  return amounts;
}

function offerOf(
  node: ScenarioNode,
  index: number,
  at: number,
): readonly (readonly [resource: string, count: number])[] {
  const layout = layoutAt(node, index, at);
  const whole = `${vendorOf(node)}.com/gpu`;
  switch (layout.kind) {
    case "whole":
      return [[whole, 1]];
    case "shared":
      return [[whole, layout.replicas]];
    case "partitions":
      return [[whole, layout.count]];
    case "mig":
      return layout.instances.map(({ profile = "" }) => [migResource(profile), 1]);
  }
}

/** Returns the resource of a MIG profile with the mixed strategy: `nvidia.com/mig-1g.10gb.me` for `1g.10gb+me`. */
export function migResource(profile: string): string {
  return `nvidia.com/mig-${profile.replaceAll("+", ".")}`;
}

function profilesAt(node: ScenarioNode, at: number): Readonly<Record<string, number>> {
  const profiles: Record<string, number> = {};
  for (const index of gpuIndexes(node)) {
    const layout = layoutAt(node, index, at);
    for (const { profile = "" } of layout.kind === "mig" ? layout.instances : [])
      profiles[profile] = (profiles[profile] ?? 0) + 1;
  }
  return profiles;
}

function readyAt(node: ScenarioNode, joined: number, at: number): NodeCondition {
  const since = sinceOf(node, "not-ready", joined, at);
  if (since !== undefined) return { type: "Ready", status: "False", reason: "KubeletNotReady", since };
  const ends = node.unavailable.flatMap(({ because, until }) => (because === "not-ready" ? (until ?? []) : []));
  return {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    since: Math.max(joined, ...ends.filter((end) => end <= at)),
  };
}

/** Returns the time since when a node has a trouble of this kind; undefined if it has none. */
function sinceOf(node: ScenarioNode, kind: string, joined: number, at: number): number | undefined {
  const trouble = node.unavailable.find((each) => each.because === kind && isWithin(each, at));
  return trouble === undefined ? undefined : Math.max(joined, trouble.from ?? joined);
}
