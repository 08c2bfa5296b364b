import { NO_ENERGY } from "../../../domain/allocation/segment.ts";
import type { UsageHour, UsagePlace } from "../../../domain/allocation/usage-hour.ts";
import type { OwnedEntry, PriceBook, PriceEntry } from "../../../domain/price/book.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import { priceFactsOfNode } from "../../../domain/price/facts.ts";
import { isGlob } from "../../../domain/price/glob.ts";
import { candidates, firstHolding, fits } from "../../../domain/price/match.ts";
import { writtenOffMillis } from "../../../domain/price/owned.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import type { SlotSpan } from "./standing.ts";

interface Span {
  readonly from: number;
  readonly until: number;
}

/** A machine of one's own, and what is known of it from outside the hour. */
export interface OwnedMachine {
  readonly node: string;
  /** Where it was seen, and as its Node was last; undefined where it never was. */
  readonly seen: { readonly cluster: string; readonly gpus: number; readonly fact: InventoryFact } | undefined;
}

/** The names of all machines that owned entries list. */
export function listedMachines({ prices }: Pick<PriceBook, "prices">): readonly string[] {
  return [...new Set(prices.flatMap((entry) => (entry.per === "owned" ? entry.owned.machines : [])))];
}

/** Whether an owned entry is for all machines that it matches, which have to be seen to be known. */
export function hasOwnedByMatch({ prices }: Pick<PriceBook, "prices">): boolean {
  return prices.some((entry) => entry.per === "owned" && entry.owned.machines.length === 0);
}

/**
 * Rows for the times of an hour in which a machine of one's own is in service and in no cluster: its slots are unavailable, because
 * `absent` (ledger, "Prices"). A machine is one that an owned entry lists, or that was ever seen as an owned entry prices it. It has the GPUs that its entry says, else those that were ever seen of it, else one, so
 * that its cost is somewhere.
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
    return gaps.flatMap((gap) => {
      const entry = entries.find((one) => serviceOf(one).from <= gap.from && gap.from < serviceOf(one).until)!;
      if (winner !== undefined && entry.owned.machines.length === 0 && winner(gap.from) !== entry) return [];
      const cluster = there[0]?.cluster ?? seen?.cluster ?? entry.match.cluster ?? "";
      const delivered = entry.delivered ?? (seen === undefined || seen.gpus === 0 ? 1 : seen.gpus);
      const place = entry.owned.machines.includes(node) ? placeOfEntry(entry) : placeOfNode(seen!.fact);
      return Array.from({ length: delivered }, (_, slot) =>
        absentHour(entry, { cluster, node, slot, delivered, ...place }, gap),
      );
    });
  });
}

/**
 * When a machine of an entry is in service. One that the entry does not list by name is over when it is written off: of a machine
 * that has left nobody says that it is retired.
 */
function serviceOf({ owned, fromMillis, untilMillis }: OwnedEntry): Span {
  const over = owned.machines.length > 0 ? owned.retiredMillis : Math.min(owned.retiredMillis, writtenOffMillis(owned));
  return { from: Math.max(owned.inServiceMillis, fromMillis), until: Math.min(over, untilMillis) };
}

/** What prices a machine as it was seen last, by a time: an entry of higher rank can be for the machine, too. */
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

/** Whether an entry is for a machine: it lists the machine, or lists none and prices the machine as that was seen last. */
function isFor(entry: OwnedEntry, node: string, seen: OwnedMachine["seen"]): boolean {
  const { machines } = entry.owned;
  if (machines.length > 0) return machines.includes(node);
  return seen !== undefined && priceFactsOfNode(seen.fact).some((facts) => fits(entry.match, facts));
}

/** What a machine is while nothing shows it. */
interface AbsentPlace {
  readonly model: string | undefined;
  readonly where: Pick<UsagePlace, "instanceType" | "region" | "zone" | "pool" | "capacityType" | "labels">;
}

function placeOfEntry({ match }: OwnedEntry): AbsentPlace {
  const { model, instanceType, region, zone, pool, capacityType = "owned", nodeLabels: labels } = match;
  return {
    model: model === undefined || isGlob(model) ? undefined : model,
    where: { capacityType, labels, ...given({ instanceType, region, zone, pool }) },
  };
}

function placeOfNode({
  gpus,
  instanceType,
  region,
  zone,
  pool,
  capacityType = "owned",
  labels,
}: InventoryFact): AbsentPlace {
  return { model: gpus[0]?.model, where: { capacityType, labels, ...given({ instanceType, region, zone, pool }) } };
}

/** Without what is not known. */
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
  }: AbsentPlace & { cluster: string; node: string; slot: number; delivered: number },
  { from, until }: Span,
): UsageHour {
  const place: UsagePlace = { appearedAt: owned.inServiceMillis, since: owned.inServiceMillis, delivered, ...where };
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
    place,
    holders: [],
    telemetry: [],
  };
}

/** Spans as one after the other, those that touch made one. */
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

/** What spans leave of others; both in order. */
function without(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
  return spans.flatMap(({ from, until }) => {
    const inside = within(taken, { from, until });
    const edges = [from, ...inside.flatMap((one) => [one.from, one.until]), until];
    return edges
      .flatMap((at, index) => (index % 2 === 0 ? [{ from: at, until: edges[index + 1]! }] : []))
      .filter((gap) => gap.from < gap.until);
  });
}
