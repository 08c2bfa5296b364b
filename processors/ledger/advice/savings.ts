import { namedNodes, type CardLine, type Proposal, type Saving } from "../../../domain/advice/card.ts";
import type { Window } from "../../../domain/advice/evidence.ts";
import type { Packing } from "../../../domain/advice/packing/pack.ts";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import { difference, lastUnits, sum, type Money } from "../../../domain/exact/units.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { hourOf } from "../../../domain/time.ts";
import { isNodeChange, readWhatIf } from "../../../runtime/config/what-if.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { chargeNode, type Rules } from "../charge/charge-node.ts";
import type { ChargeRules } from "../charging/charge-window.ts";
import { pricesOfSpan } from "../charging/read-invoiced.ts";
import { createNodePrices } from "../charge/node-prices.ts";
import { readUsage } from "../metering/usage-rows.ts";
import { prepareChanges, type AppliedChanges } from "../what-if/apply.ts";
import { hourNumber } from "../../../domain/advice/packing/node-time.ts";
import { workloadKey } from "./read-evidence.ts";

/** The saving of a proposal in the window, with both bills of the GPUs that it changes. */
export interface Priced {
  readonly saving: Saving;
  readonly lines: readonly CardLine[];
}

/** States of GPUs that nobody holds. */
const FREE = new Set(["unallocated", "stranded"]);

interface Work {
  readonly proposal: Proposal;
  /** The nodes of a proposal for nodes. */
  readonly nodes: readonly string[];
  /** Returns true for the time of a GPU that leaves with its node. Absent if no node leaves. */
  readonly leaves?: (row: UsageHour) => boolean;
  readonly changes: AppliedChanges;
  /** The rules for the GPUs that are held instead. Prices are cached for one machine after the other. */
  readonly otherRules: Rules;
  readonly lines: Map<string, { readonly team: string; readonly state: string; was: bigint; otherwise: bigint }>;
  /** The cost of the changed GPUs, as it was and if the freed GPUs leave. */
  was: bigint;
  left: bigint;
}

/**
 * Returns the saving of each proposal of a cluster, in their order: the difference between the charges of the window under a policy, before
 * anything is spread and without markups, and the charges after the change. Only GPUs that a proposal changes are charged. Fails with a
 * `StoreError`.
 */
export async function priceProposals(
  store: StoreClient,
  cluster: string,
  window: Window,
  of: {
    readonly proposals: readonly Proposal[];
    /** The nodes of the GPUs that the proposals change, sorted. Others are not read. */
    readonly nodes: readonly string[];
    /** The plans of proposals by which the pods of nodes move to others. */
    readonly packings: ReadonlyMap<Proposal, Packing>;
    readonly rules: Omit<ChargeRules, "policies">;
    readonly policy: Policy;
  },
): Promise<readonly Priced[]> {
  const { proposals, policy } = of;
  if (of.nodes.length === 0) return [];
  const book = { prices: createNodePrices(of.rules.book), invoices: of.rules.invoices };
  const prices = await pricesOfSpan(store, { cluster, nodes: of.nodes, ...window }, book);
  const rules: Rules = { prices, owners: of.rules.owners, policies: [policy] };
  const works = proposals.map((proposal) => workOf(proposal, rules, window, of.packings.get(proposal)));
  const byWorkload = new Map<string, Work[]>();
  const byNode = new Map<string, Work[]>();
  for (const work of works) {
    for (const node of work.nodes) byNode.set(node, [...(byNode.get(node) ?? []), work]);
    const { namespace, kind, workload } = work.proposal.subject;
    const key = workloadKey({ namespace, workloadKind: kind, workload });
    if (workload !== "") byWorkload.set(key, [...(byWorkload.get(key) ?? []), work]);
  }
  for await (const rows of slotHours(readUsage(store, cluster, window, of.nodes))) {
    const touching = new Set<Work>();
    for (const { holders } of rows)
      for (const holder of holders) for (const work of byWorkload.get(workloadKey(holder)) ?? []) touching.add(work);
    let was: Amounts | undefined;
    const costsWere = (): Amounts => (was ??= amountsOf([rows], rules));
    for (const work of touching) addDifference(work, rows, rules, costsWere);
    for (const work of byNode.get(rows[0]!.node) ?? [])
      if (work.leaves === undefined) addDifference(work, rows, rules, costsWere);
      else if (work.leaves(rows[0]!)) addCost(work, costsWere());
  }
  return works.map(pricedOf);
}

function workOf(proposal: Proposal, rules: Rules, window: Window, packing: Packing | undefined): Work {
  const read = readWhatIf(JSON.stringify({ changes: proposal.changes }));
  if ("problems" in read) throw new TypeError(`a card has an invalid change: ${JSON.stringify(read.problems)}`);
  const changes = read.value.changes.filter((change) => !isNodeChange(change));
  const nodes = packing?.nodes ?? namedNodes(proposal.changes);
  const { prices } = rules;
  return {
    proposal,
    nodes,
    ...(nodes.length > 0 && changes.length === 0 ? { leaves: leavesBy(packing, window) } : {}),
    changes: prepareChanges(changes, { owners: rules.owners, prices, isRemoved: () => false, freedLeave: false }),
    otherRules: { ...rules, prices },
    lines: new Map(),
    was: 0n,
    left: 0n,
  };
}

/** Nodes that are removed leave with all of their time. */
function leavesBy(packing: Packing | undefined, window: Window): (row: UsageHour) => boolean {
  if (packing === undefined) return () => true;
  return (row) => packing.leaves(row.node, row.slot, hourNumber(row, window));
}

/** The cost by team and state, under the key of both. */
type Amounts = ReadonlyMap<string, bigint>;

function addDifference(work: Work, rows: readonly UsageHour[], rules: Rules, costsWere: () => Amounts): void {
  const before = work.changes.changedMillis;
  const [own, ...others] = work.changes.apply(rows);
  if (work.changes.changedMillis === before) return;
  addCost(work, costsWere());
  const ofOwn = amountsOf([own!], rules);
  const ofOthers = amountsOf(others, work.otherRules);
  for (const amounts of [ofOwn, ofOthers]) for (const [key, cost] of amounts) lineOf(work, key).otherwise += cost;
  // The GPU leaves for the time in which nobody holds it any more.
  const kept = own!.filter(({ segment }, index) => segment.claims.length > 0 || segment === rows[index]!.segment);
  const ofKept = kept.length === own!.length ? ofOwn : kept.length === 0 ? NOTHING : amountsOf([kept], rules);
  for (const amounts of [ofKept, ofOthers]) for (const cost of amounts.values()) work.left += cost;
}

const NOTHING: Amounts = new Map();

/** Adds the original cost of GPUs. */
function addCost(work: Work, costs: Amounts): void {
  for (const [key, cost] of costs) {
    lineOf(work, key).was += cost;
    work.was += cost;
  }
}

function lineOf({ lines }: Work, key: string) {
  const [team, state] = key.split("\n") as [string, string];
  const line = lines.get(key) ?? { team, state, was: 0n, otherwise: 0n };
  lines.set(key, line);
  return line;
}

function amountsOf(nodes: readonly (readonly UsageHour[])[], rules: Rules): Amounts {
  const amounts = new Map<string, bigint>();
  for (const rows of nodes) {
    const [charges] = chargeNode(rows, rules).charges;
    for (const { team, state, costs } of charges!) {
      if (costs === undefined) continue;
      const key = `${team}\n${state}`;
      amounts.set(key, (amounts.get(key) ?? 0n) + costs.effective);
    }
  }
  return amounts;
}

function pricedOf({ proposal, lines: byKey, was, left }: Work): Priced {
  const lines = [...byKey.values()]
    .map(({ team, state, ...of }) => ({
      team,
      state,
      was: lastUnits<"currency">(of.was),
      otherwise: lastUnits<"currency">(of.otherwise),
    }))
    .toSorted((one, other) => (`${one.team}\n${one.state}` < `${other.team}\n${other.state}` ? -1 : 1));
  const isFree = ({ state }: CardLine): boolean => FREE.has(state);
  return {
    lines,
    saving: {
      owner: less(
        proposal.subject.workload === "" ? lines : lines.filter(({ team }) => team === proposal.subject.team),
      ),
      freed: difference(lastUnits<"currency">(0n), less(lines.filter(isFree))),
      organization: less(lines),
      organizationIfFreedLeave: lastUnits(was - left),
    },
  };
}

/** Returns by how much lines would have cost less. */
function less(lines: readonly CardLine[]): Money {
  return difference(sum(lines.map(({ was }) => was)), sum(lines.map(({ otherwise }) => otherwise)));
}

/** Yields the rows of one GPU in one hour after the other. Rows come sorted by node, hour, slot and time. */
async function* slotHours(portions: AsyncIterable<readonly UsageHour[]>): AsyncGenerator<readonly UsageHour[]> {
  let rows: UsageHour[] = [];
  for await (const portion of portions) {
    for (const row of portion) {
      const [first] = rows;
      if (first !== undefined && !isSameSlotHour(first, row)) {
        yield rows;
        rows = [];
      }
      rows.push(row);
    }
  }
  if (rows.length > 0) yield rows;
}

function isSameSlotHour(one: UsageHour, other: UsageHour): boolean {
  return (
    one.slot === other.slot &&
    one.node === other.node &&
    hourOf(one.segment.fromMillis) === hourOf(other.segment.fromMillis)
  );
}
