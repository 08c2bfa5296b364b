import { meansModel } from "../gpu-model/names.ts";
import type { CapacityType } from "../inventory.ts";
import { beginsAt, type Match, type PriceEntry } from "./book.ts";

import { compareRanks, type RankedEntry } from "./rank.ts";

/** The facts of a GPU and its node that an entry can match. Unknown facts are absent. */
export interface PriceFacts {
  readonly cluster: string;
  readonly node: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly pool?: string;
  /** The canonical model name of the GPU. */
  readonly model?: string;
  readonly capacityType?: CapacityType;
  readonly labels: Readonly<Record<string, string>>;
}

/** The result of pricing a GPU at a time. A tie is an error of the book. An unpriced quantity is reported as unpriced. */
export type Winner =
  | { readonly kind: "priced"; readonly entry: PriceEntry }
  | { readonly kind: "tied"; readonly entries: readonly PriceEntry[] }
  | { readonly kind: "unpriced" };

const UNPRICED: Winner = { kind: "unpriced" };

/**
 * Returns whether all keys of a match fit. An unknown fact fits no key. With `isLenient` an unknown fact fits, and only a contradiction
 * fails.
 */
export function fits(match: Match, facts: PriceFacts, isLenient = false): boolean {
  return (
    agrees(match.instanceType, facts.instanceType, isLenient) &&
    agrees(match.pool, facts.pool, isLenient) &&
    agrees(match.cluster, facts.cluster, isLenient) &&
    agrees(match.region, facts.region, isLenient) &&
    agrees(match.zone, facts.zone, isLenient) &&
    agrees(match.capacityType, facts.capacityType, isLenient) &&
    fitsModel(match.model, facts.model, isLenient) &&
    Object.entries(match.nodeLabels).every(([name, value]) => agrees(value, facts.labels[name], isLenient))
  );
}

function agrees(wanted: string | undefined, known: string | undefined, isLenient: boolean): boolean {
  return wanted === undefined || wanted === known || (isLenient && known === undefined);
}

function fitsModel(wanted: string | undefined, known: string | undefined, isLenient: boolean): boolean {
  if (wanted === undefined || known === undefined) return agrees(wanted, known, isLenient);
  return meansModel(wanted, known);
}

/**
 * Returns whether an entry prices a GPU whenever the entry holds. A machine that an owned entry lists by name is priced even before it was
 * first seen (docs/prices.md). Only its name is known then, so the entry's other keys must only not contradict.
 */
export function canPrice(entry: PriceEntry, facts: PriceFacts): boolean {
  const machines = entry.per === "owned" ? entry.owned.machines : [];
  if (machines.length === 0) return fits(entry.match, facts);
  return machines.includes(facts.node) && fits(entry.match, facts, true);
}

/** Returns whether an entry holds at a time, milliseconds since the epoch. */
function holdsAt(entry: PriceEntry, millis: number): boolean {
  return beginsAt(entry) <= millis && millis < entry.untilMillis;
}

/** Returns the winner for a GPU at a time, milliseconds since the epoch, in the order of {@link rankEntries}. */
export function winnerAt(ranked: readonly RankedEntry[], facts: PriceFacts, millis: number): Winner {
  return firstHolding(candidates(ranked, facts), millis);
}

/** Returns the entries of a book that can price a GPU, in the same order. */
export function candidates(ranked: readonly RankedEntry[], facts: PriceFacts): readonly RankedEntry[] {
  return ranked.filter(({ entry }) => canPrice(entry, facts));
}

/** Returns the winner among {@link candidates} at a time: the first entry that holds, unless the next one that holds has the same rank. */
export function firstHolding(ranked: readonly RankedEntry[], millis: number): Winner {
  const holding = ranked.filter(({ entry }) => holdsAt(entry, millis));
  const [first] = holding;
  if (first === undefined) return UNPRICED;
  const equal = holding.filter(({ rank }) => compareRanks(rank, first.rank) === 0).map(({ entry }) => entry);
  return equal.length === 1 ? { kind: "priced", entry: first.entry } : { kind: "tied", entries: equal };
}
