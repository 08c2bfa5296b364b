import { createHash } from "node:crypto";
import {
  namedNodes,
  type Card,
  type CardHours,
  type CardKind,
  type Proposal,
  type Refusal,
} from "../../../domain/advice/card.ts";
import type { HourEvidence, Window, WorkloadEvidence } from "../../../domain/advice/evidence.ts";
import { devicesOf } from "../../../domain/advice/evidence.ts";
import { withPartners } from "../../../domain/advice/partners.ts";
import { judge } from "../../../domain/advice/rules.ts";
import type { AdviceRules } from "../../../domain/advice/rule.ts";
import { commitment } from "../../../domain/advice/rules/commitment.ts";
import { emptyNodes } from "../../../domain/advice/rules/empty-nodes.ts";
import { nodesToPack } from "../../../domain/advice/rules/pack-nodes.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../../domain/time.ts";
import type { ConfiguredAdvice } from "../../../runtime/config/advice.ts";
import type { Ledger } from "../../../runtime/config/ledger.ts";
import { createNodePrices } from "../charge/node-prices.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { clustersWithUsage } from "../metering/clusters.ts";
import { createCheaperShapes, isCheaperReserved } from "./cheapest.ts";
import { readEvidence } from "./read-evidence.ts";
import { priceProposals, type Priced } from "./savings.ts";

/** The cards of a window, and how many workloads had a reason against a card. */
export interface Advice {
  readonly window: Window;
  /** The card that saves the organization or its owner most comes first. */
  readonly cards: readonly Card[];
  readonly workloads: number;
  readonly refusals: Readonly<Partial<Record<Refusal, number>>>;
}

/**
 * Makes the cards of a window, whole days in UTC, from the published usage, under the billing policy. A workload has at most one card: that of
 * the change with the largest saving. Its other changes are the card's alternatives. The same usage gives the same cards in the same order.
 * Fails with a `StoreError`.
 */
export async function makeCards(
  store: StoreClient,
  ledger: Ledger,
  { window, advice }: { readonly window: Window; readonly advice: ConfiguredAdvice },
): Promise<Advice> {
  const cards: Card[] = [];
  const refusals: Partial<Record<Refusal, number>> = {};
  const refuse = (because: Refusal): void => void (refusals[because] = (refusals[because] ?? 0) + 1);
  let workloads = 0;
  for (const cluster of await clustersWithUsage(store, window)) {
    const ofCluster = await readEvidence(store, cluster, { window, owners: ledger.owners });
    workloads += ofCluster.workloads.length;
    const { coverage, headroom, minReplicas, spareNodes } = advice;
    const rules: AdviceRules = { window, coverage, headroom, minReplicas };
    const prices = createNodePrices(ledger.book);
    const allowed = [...ofCluster.shapes, ...advice.models.map((model) => ({ model }))];
    const cheaperShapes = createCheaperShapes(prices, cluster, allowed, window);
    const proposed = new Map<Proposal, WorkloadEvidence>();
    for (const workload of ofCluster.workloads) {
      const [gpu] = devicesOf(workload);
      const shapes = gpu === undefined ? [] : cheaperShapes({ cluster, ...gpu });
      const judged = judge(workload, { ...rules, shapes });
      for (const proposal of judged.proposals) proposed.set(proposal, workload);
      judged.refusals.forEach(refuse);
    }
    const byWorkload = withPartners(proposed, rules);
    const { groups, hours } = ofCluster;
    const packed = groups.flatMap((group) => nodesToPack(group, { window, spare: spareNodes, hours }));
    const packings = new Map(packed.map(({ proposal, packing }) => [proposal, packing]));
    const ofNodes = groups.flatMap((group) => [
      ...emptyNodes(group, { window, spare: spareNodes }),
      ...(isCheaperReserved(prices, group, window) ? commitment(group, window) : []),
    ]);
    const proposals = [...byWorkload.keys(), ...ofNodes, ...packings.keys()];
    const priced = await priceProposals(store, cluster, window, {
      proposals,
      nodes: nodesOf(byWorkload.values(), [
        ...ofNodes.flatMap(({ changes }) => namedNodes(changes)),
        ...packed.flatMap(({ packing }) => packing.nodes),
      ]),
      packings,
      rules: ledger,
      policy: ledger.policies[0],
    });
    const made = proposals.map((proposal, index): Made => ({
      proposal,
      workload: byWorkload.get(proposal),
      ...priced[index]!,
    }));
    for (const group of grouped(made)) {
      const card = cardOf(group, window, ledger.book.currency);
      if (card !== undefined) cards.push(card);
      // Most books have no reserved prices, and nodes are no workloads.
      else if (group[0]!.workload !== undefined) refuse("price");
    }
  }
  return { window, cards: cards.toSorted(byMoney), workloads, refusals };
}

/** Returns the nodes of workloads and other nodes, sorted, each once. */
function nodesOf(workloads: Iterable<WorkloadEvidence>, others: readonly string[]): readonly string[] {
  const names = new Set<string>(others);
  for (const workload of workloads) for (const { node } of devicesOf(workload)) names.add(node);
  return [...names].toSorted();
}

/** A proposal with its saving, and the workload that it is for; undefined for nodes. */
interface Made extends Priced {
  readonly proposal: Proposal;
  readonly workload: WorkloadEvidence | undefined;
}

/** Returns the proposals of each workload, and of each group of nodes, in the order of the proposals. */
function grouped(made: readonly Made[]): readonly (readonly Made[])[] {
  const groups = new Map<WorkloadEvidence | Proposal, Made[]>();
  for (const each of made) {
    const key = each.workload ?? each.proposal;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()];
}

function cardOf(made: readonly Made[], window: Window, currency: string): Card | undefined {
  const saving = made.filter((each) => each.saving.owner > 0n).toSorted((one, other) => compare(other, one));
  const [best, ...others] = saving;
  if (best === undefined) return undefined;
  const { proposal, workload } = best;
  const seen = new Set<CardKind>([proposal.kind]);
  const alternatives = others.flatMap((each) => {
    const { kind, remedy } = each.proposal;
    if (seen.has(kind)) return [];
    seen.add(kind);
    return [{ kind, what: remedy.what, owner: each.saving.owner }];
  });
  return {
    ...proposal,
    id: idOf(proposal),
    window,
    currency,
    saving: best.saving,
    lines: best.lines,
    alternatives,
    ...(workload === undefined ? {} : { hours: hoursOf(workload) }),
  };
}

/** Compares the savings of two proposals for one workload. Of equal savings, the first proposal counts. */
function compare({ saving: one }: Made, { saving: other }: Made): number {
  return Number(one.owner - other.owner);
}

/** The id depends on the kind and the subject alone, so that a card has the same id in each window and on each server. */
function idOf({ kind, subject }: Proposal): string {
  const { cluster, namespace, kind: of, workload, pool, model, instanceType, capacityType } = subject;
  const key =
    workload === ""
      ? [kind, cluster, pool, model, instanceType, capacityType]
      : [kind, cluster, namespace, of, workload];
  return createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 12);
}

function hoursOf({ hours }: WorkloadEvidence): CardHours {
  const ofSamples = (hour: HourEvidence, value: number): number => (hour.coveredMillis === 0 ? -1 : value);
  return {
    mean: hours.map((hour) => ofSamples(hour, round(hour.activityPpmMillis / hour.coveredMillis / 10_000))),
    max: hours.map((hour) => ofSamples(hour, round(hour.maxPpm / 10_000))),
    memoryMiB: hours.map((hour) => ofSamples(hour, hour.memoryMaxMiB)),
    devices: hours.map(({ heldMillis }) => round(heldMillis / HOUR_MILLIS)),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function byMoney(one: Card, other: Card): number {
  const [a, b] = [one.saving.owner, other.saving.owner];
  if (a !== b) return a > b ? -1 : 1;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

/** Returns the window of the last whole days in UTC before a time, milliseconds since the epoch. */
export function lastDays(days: number, now: number): Window {
  const until = Math.floor(now / DAY_MILLIS) * DAY_MILLIS;
  return { from: until - days * DAY_MILLIS, until };
}
