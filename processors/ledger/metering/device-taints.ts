import type { ClusterFact, SliceDevice } from "../../../domain/cluster-fact.ts";
import type { DeviceTaintSpell, NodeRecord } from "../plan/node-record.ts";

/** A fact of a cluster, and since when it holds: milliseconds since the epoch. */
interface DatedFact {
  readonly fact: ClusterFact;
  readonly from: number;
}

type SliceFact = Extract<ClusterFact, { kind: "ResourceSlice" }>;
type RuleFact = Extract<ClusterFact, { kind: "DeviceTaintRule" }>;

/** A fact for as long as it held. */
interface Held<Fact> {
  readonly fact: Fact;
  readonly from: number;
  readonly until: number;
}

/**
 * The taints of the devices of each node, from slices and from rules, out of facts in the order of time. A taint counts from when it
 * was added, else from the first fact that has it, up to the first that has it no more.
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

/** Each fact of an object up to the next one of it; the last one without an end. */
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
