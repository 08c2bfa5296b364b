import type { ClusterFact, SliceDevice } from "../../../domain/cluster-fact.ts";
import type { DeviceTaintSpell, NodeRecord } from "./node-record.ts";

/** A fact of a cluster, and since when it holds, milliseconds since the epoch. */
export interface DatedFact {
  readonly fact: ClusterFact;
  readonly from: number;
}

type SliceFact = Extract<ClusterFact, { kind: "ResourceSlice" }>;
type RuleFact = Extract<ClusterFact, { kind: "DeviceTaintRule" }>;

/** A fact, for the time that it held. */
interface Held<Fact> {
  readonly fact: Fact;
  readonly from: number;
  readonly until: number;
}

/**
 * Returns a function from a node to the taints of its devices, from slices and from rules. Facts are sorted by time. A taint counts from
 * when it was added, or else from the first fact with it, until the first fact without it.
 */
export function taintsOfNodes(facts: readonly DatedFact[]): (node: string) => NodeRecord["taints"] {
  const slices = heldFacts(
    facts.filter((one): one is DatedFact & { fact: SliceFact } => one.fact.kind === "ResourceSlice"),
  );
  const rules = heldFacts(
    facts.filter((one): one is DatedFact & { fact: RuleFact } => one.fact.kind === "DeviceTaintRule"),
  );
  const byNode = new Map<string, DeviceTaintSpell[]>();
  for (const { fact, from, until } of slices) {
    const { node, devices } = fact.body;
    const spells = devices.flatMap((device): readonly DeviceTaintSpell[] => [
      ...(device.taints ?? []).map(({ key, since = from }) => ({ device, key, from: since, until })),
      ...rules.filter((rule) => isMeant(rule.fact, fact, device)).map((rule) => spellOf(rule, device)),
    ]);
    if (spells.length > 0) byNode.set(node, [...(byNode.get(node) ?? []), ...spells]);
  }
  return (node) => byNode.get(node) ?? [];
}

/** Returns each fact of an object until the next fact of the object. The last one has no end. */
function heldFacts<Fact extends ClusterFact>(
  facts: readonly { readonly fact: Fact; readonly from: number }[],
): readonly Held<Fact>[] {
  const byObject = new Map<string, { readonly fact: Fact; readonly from: number }[]>();
  for (const one of facts) byObject.set(one.fact.uid, [...(byObject.get(one.fact.uid) ?? []), one]);
  return [...byObject.values()].flatMap((states) =>
    states.flatMap(({ fact, from }, index) =>
      fact.end === undefined ? [{ fact, from, until: states[index + 1]?.from ?? Infinity }] : [],
    ),
  );
}

function isMeant({ body }: RuleFact, slice: SliceFact, { name }: SliceDevice): boolean {
  const { driver = slice.body.driver, pool = slice.body.pool, device = name } = body;
  return driver === slice.body.driver && pool === slice.body.pool && device === name;
}

function spellOf({ fact, from, until }: Held<RuleFact>, device: SliceDevice): DeviceTaintSpell {
  const { key, since = from } = fact.body.taint;
  return { device, key, from: since, until };
}
