import { NO_ENERGY } from "../../../domain/allocation/segment.ts";
import type { UsageHour, UsageMachine } from "../../../domain/allocation/usage-hour.ts";
import type { OwnedEntry, PriceBook, PriceEntry } from "../../../domain/price/book.ts";
import { deliveredOf, type InventoryFact } from "../../../domain/inventory.ts";
import { priceFactsOfNode } from "../../../domain/price/facts.ts";
import { isGlob } from "../../../domain/glob.ts";
import { candidates, firstHolding, fits } from "../../../domain/price/match.ts";
import { writtenOffMillis } from "../../../domain/price/owned.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import type { SlotSpan } from "./standing.ts";

interface Span {
  readonly from: number;
  readonly until: number;
}

/** An owned machine, with what is known about it from outside the hour. */
export interface OwnedMachine {
  readonly node: string;
  /** The cluster where it was seen, with its last Node; undefined if it was never seen. */
  readonly seen: { readonly cluster: string; readonly gpus: number; readonly fact: InventoryFact } | undefined;
}

/**
 * Returns rows for the times of an hour in which an owned machine is in service and in no cluster. Its slots are unavailable because
 * `absent` (docs/prices.md). The machine is listed by an owned entry, or an owned entry prices it as it was last seen. Its number of GPUs
 * comes from its entry, otherwise from what was seen or delivered, otherwise it is one, so that its cost has a slot.
 */
export function absentHours(
  { prices }: Pick<PriceBook, "prices">,
  machines: readonly OwnedMachine[],
  slots: readonly SlotSpan[],
  hour: Span,
): readonly UsageHour[] {
  return machines.flatMap(({ node, seen }) => {
    const entries = prices.filter((entry): entry is OwnedEntry => entry.per === "owned" && isFor(entry, node, seen));
    const there = slots.filter((slot) => slot.node === node && slot.slot === 0);
    const inService = entries.map(serviceOf);
    const winner = winnerOf(prices, seen);
    const gaps = without(within(union(inService), hour), union(there));
    const entryAt = (at: number): OwnedEntry | undefined => {
      const entry = entries.find((one) => serviceOf(one).from <= at && at < serviceOf(one).until);
      const isListed = entry !== undefined && entry.owned.machines.length > 0;
      return winner === undefined || isListed || winner(at) === entry ? entry : undefined;
    };
    return cutByEntry(gaps, prices, entryAt).flatMap(({ entry, ...gap }) => {
      const cluster = there[0]?.cluster ?? seen?.cluster ?? entry.match.cluster ?? "";
      const known = seen === undefined ? 0 : Math.max(seen.gpus, deliveredOf(seen.fact) ?? 0);
      const delivered = entry.delivered ?? Math.max(1, known);
      const machine = entry.owned.machines.includes(node) ? machineOfEntry(entry) : machineOfNode(seen!.fact);
      return Array.from({ length: delivered }, (_, slot) =>
        absentHour(entry, { cluster, node, slot, delivered, ...machine }, gap),
      );
    });
  });
}

/** Returns the parts of gaps in which an entry prices the machine. Another entry can win from the time at which any entry begins or ends. */
function cutByEntry(
  gaps: readonly Span[],
  prices: PriceBook["prices"],
  entryAt: (at: number) => OwnedEntry | undefined,
): readonly (Span & { readonly entry: OwnedEntry })[] {
  const cuts = prices.flatMap((entry) => {
    const { from, until } =
      entry.per === "owned" ? serviceOf(entry) : { from: entry.fromMillis, until: entry.untilMillis };
    return [from, until, entry.fromMillis];
  });
  const parts: { from: number; until: number; readonly entry: OwnedEntry }[] = [];
  for (const { from, until } of gaps) {
    const edges = [...new Set([from, ...cuts.filter((at) => from < at && at < until), until])].sort((a, b) => a - b);
    for (const [index, at] of edges.slice(0, -1).entries()) {
      const entry = entryAt(at);
      const last = parts.at(-1);
      if (entry === undefined) continue;
      if (last !== undefined && last.until === at && last.entry === entry) last.until = edges[index + 1]!;
      else parts.push({ from: at, until: edges[index + 1]!, entry });
    }
  }
  return parts;
}

/**
 * Returns when a machine of an entry is in service. If the entry does not list it by name, service ends when the machine is written off,
 * because nothing reports the retirement of a machine that has left.
 */
function serviceOf({ owned, fromMillis, untilMillis }: OwnedEntry): Span {
  const over = owned.machines.length > 0 ? owned.retiredMillis : Math.min(owned.retiredMillis, writtenOffMillis(owned));
  return { from: Math.max(owned.inServiceMillis, fromMillis), until: Math.min(over, untilMillis) };
}

/**
 * Returns a function from a time to the entry that prices a machine as it was last seen. An entry of higher rank can also match the
 * machine.
 */
function winnerOf(
  prices: PriceBook["prices"],
  seen: OwnedMachine["seen"],
): ((at: number) => PriceEntry | undefined) | undefined {
  if (seen === undefined) return undefined;
  const [facts] = priceFactsOfNode(seen.fact);
  const ranked = facts === undefined ? [] : candidates(rankEntries(prices), facts);
  return (at) => {
    const winner = firstHolding(ranked, at);
    return winner.kind === "priced" ? winner.entry : undefined;
  };
}

/** Returns whether an entry applies to a machine: it lists the machine, or lists none and matches the machine as it was last seen. */
function isFor(entry: OwnedEntry, node: string, seen: OwnedMachine["seen"]): boolean {
  const { machines } = entry.owned;
  if (machines.length > 0) return machines.includes(node);
  return seen !== undefined && priceFactsOfNode(seen.fact).some((facts) => fits(entry.match, facts));
}

/** The fields of a machine while nothing shows it. */
interface AbsentMachine {
  readonly model: string | undefined;
  readonly where: Pick<UsageMachine, "instanceType" | "region" | "zone" | "pool" | "capacityType" | "labels">;
}

function machineOfEntry({ match }: OwnedEntry): AbsentMachine {
  const { model, instanceType, region, zone, pool, capacityType = "owned", nodeLabels: labels } = match;
  return {
    model: model === undefined || isGlob(model) ? undefined : model,
    where: { capacityType, labels, ...given({ instanceType, region, zone, pool }) },
  };
}

function machineOfNode({
  gpus,
  instanceType,
  region,
  zone,
  pool,
  capacityType = "owned",
  labels,
}: InventoryFact): AbsentMachine {
  return { model: gpus[0]?.model, where: { capacityType, labels, ...given({ instanceType, region, zone, pool }) } };
}

/** Returns the object without its undefined properties. */
function given<Known extends object>(known: Known): { [Key in keyof Known]?: Exclude<Known[Key], undefined> } {
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Known]?: Exclude<Known[Key], undefined>;
  };
}

function absentHour(
  { owned }: OwnedEntry,
  {
    cluster,
    node,
    slot,
    delivered,
    model,
    where,
  }: AbsentMachine & { cluster: string; node: string; slot: number; delivered: number },
  { from, until }: Span,
): UsageHour {
  const machine: UsageMachine = {
    appearedAt: owned.inServiceMillis,
    since: owned.inServiceMillis,
    delivered,
    ...where,
  };
  return {
    cluster,
    node,
    slot,
    gpuKey: "",
    segment: {
      fromMillis: from,
      untilMillis: until,
      gpu: { ...(model === undefined ? {} : { model }), layout: { kind: "whole" } },
      unavailableBecause: "absent",
      isCordoned: false,
      busyMillis: 0,
      energy: NO_ENERGY,
      claims: [],
    },
    machine,
    holders: [],
    telemetry: [],
  };
}

/** Returns spans as sorted, disjoint spans. Spans that touch are joined. */
function union(spans: readonly Span[]): readonly Span[] {
  const joined: { from: number; until: number }[] = [];
  for (const { from, until } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (from >= until) continue;
    if (last !== undefined && from <= last.until) last.until = Math.max(last.until, until);
    else joined.push({ from, until });
  }
  return joined;
}

function within(spans: readonly Span[], { from, until }: Span): readonly Span[] {
  return spans
    .map((span) => ({ from: Math.max(span.from, from), until: Math.min(span.until, until) }))
    .filter((span) => span.from < span.until);
}

/** Returns the parts of spans that other spans leave. Both lists are sorted. */
function without(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
  return spans.flatMap(({ from, until }) => {
    const inside = within(taken, { from, until });
    const edges = [from, ...inside.flatMap((one) => [one.from, one.until]), until];
    return edges
      .flatMap((at, index) => (index % 2 === 0 ? [{ from: at, until: edges[index + 1]! }] : []))
      .filter((gap) => gap.from < gap.until);
  });
}
