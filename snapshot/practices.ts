import type { Charge } from "../domain/charge/charge.ts";
import { lastUnits } from "../domain/exact/units.ts";
import type { OwnerRules } from "../domain/owner/compile.ts";
import { DEFAULT_POLICY } from "../domain/policy/policy.ts";
import type { Finding } from "../domain/practice/check.ts";
import { findingsOf } from "../domain/practice/checks.ts";
import { gatherPractices } from "../domain/practice/gather.ts";
import type { Spend } from "../domain/practice/facts.ts";
import type { SeenFacts } from "./facts.ts";
import { grouped } from "./grouped.ts";
import { monthOf } from "./month.ts";
import type { Sample, SeenSamples } from "./samples.ts";

/** Checks about the past. One moment does not show whether a pool was ever smaller or ever used. */
const ABOUT_THE_PAST = ["pool-never-scales-down", "pool-unused"];
/** The days of a month of 730 h. */
const MONTH_DAYS = 30;

/** Returns the findings of the practices about a moment, with the money of a month at its pace. */
export function practicesOf(
  facts: SeenFacts,
  of: {
    readonly charges: readonly Charge[];
    readonly samples: readonly Sample[];
    readonly silent: SeenSamples["silent"];
    readonly owners: OwnerRules;
    readonly atMillis: number;
  },
): readonly Finding[] {
  const { charges, samples, silent, owners, atMillis: now } = of;
  const [origin] = [...facts.nodes, ...facts.pods];
  const cluster = origin?.cluster ?? "";
  // A node whose exporter did not answer has one, with unknown counters.
  const measured = new Map<string, boolean | undefined>(silent.map(({ node = "" }) => [node, undefined]));
  for (const { node, hasProfiling } of samples) measured.set(node, hasProfiling || measured.get(node) === true);
  const records = {
    now,
    days: MONTH_DAYS,
    migMeasure: DEFAULT_POLICY.migShare,
    pods: facts.pods,
    limited: [],
    nodes: facts.nodes,
    cluster: facts.cluster,
    grantUses: [],
    workloadSpends: spends(charges, ({ holder }) =>
      holder === undefined ? undefined : [holder.namespace, holder.workloadKind, holder.workload],
    ).map(([[namespace, kind, name], spend]) => ({
      cluster,
      namespace: namespace!,
      kind: kind!,
      name: name!,
      ...spend,
    })),
    nodeSpends: spends(charges, ({ node }) => (node === "" ? undefined : [node])).map(([[node], spend]) => ({
      cluster,
      node: node!,
      ...spend,
    })),
    telemetry: [...measured].map(([node, hasProfiling]) => ({ cluster, node, hasSamples: true, hasProfiling })),
  };
  return findingsOf(gatherPractices(records, owners), ABOUT_THE_PAST);
}

/** Returns the charges of a month by a key; charges without one are left out. */
function spends(
  charges: readonly Charge[],
  keyOf: (charge: Charge) => readonly string[] | undefined,
): readonly (readonly [readonly string[], Spend])[] {
  const groups = grouped(charges, (charge) => keyOf(charge) ?? []);
  return [...groups.values()].flatMap((group) => {
    const key = keyOf(group[0]);
    return key === undefined ? [] : [[key, spendOf(group)] as const];
  });
}

function spendOf(charges: readonly Charge[]): Spend {
  const costOf = (group: readonly Charge[]): bigint =>
    group.reduce((sum, { costs }) => sum + (costs?.effective ?? 0n), 0n);
  const hoursOf = (group: readonly Charge[]): bigint => group.reduce((sum, { gpuHours }) => sum + gpuHours, 0n);
  const inState = (wanted: Charge["state"]): readonly Charge[] => charges.filter(({ state }) => state === wanted);
  const held = charges.filter(({ holder }) => holder !== undefined);
  return {
    cost: monthOf(lastUnits(costOf(charges))),
    idle: monthOf(lastUnits(costOf(inState("idle")))),
    waiting: monthOf(lastUnits(costOf(inState("waiting")))),
    unallocated: monthOf(lastUnits(costOf(inState("unallocated")))),
    stranded: monthOf(lastUnits(costOf(inState("stranded")))),
    gpuHours: lastUnits(hoursOf(charges)),
    heldGpuHours: lastUnits(hoursOf(held)),
    unallocatedGpuHours: lastUnits(hoursOf(inState("unallocated"))),
  };
}
