import type { Rational } from "../exact/rational.ts";
import type { CapacityType } from "../inventory.ts";

/** The conditions of a price entry on a GPU and its node. Every given key must match. An absent key matches anything. */
export interface Match {
  readonly cluster?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly pool?: string;
  /** Exact, or a glob with `*` and `?`. */
  readonly model?: string;
  readonly capacityType?: CapacityType;
  /** Node labels with their values. Each label counts as a key. Empty if the entry names none. */
  readonly nodeLabels: Readonly<Record<string, string>>;
}

/** The three prices of FOCUS: before any discount, with negotiated discounts, and with all discounts spread over what they cover. */
export type CostKind = "list" | "contracted" | "effective";

/** Unit prices in the entry's currency. Prices that an entry leaves out are filled in. */
export type UnitPrices = Readonly<Record<CostKind, Rational>>;

/** An owned machine: its purchase and its running costs. Amounts are in the entry's currency. */
export interface OwnedTerms {
  /** When depreciation begins, milliseconds since the epoch. */
  readonly inServiceMillis: number;
  readonly purchase: Rational;
  /** The residual value; 0 by default. */
  readonly residual: Rational;
  /** The depreciation in calendar months. */
  readonly months: number;
  /** The overhead of each calendar month until the machine is retired; 0 by default. */
  readonly overheadPerMonth: Rational;
  /** When the machine was retired, milliseconds since the epoch; Infinity if it was not. */
  readonly retiredMillis: number;
  /** Node names, whether or not the cluster has such nodes. Empty if the entry prices each node that it matches. */
  readonly machines: readonly string[];
  /** If absent, power has no price. */
  readonly power?: PowerTerms;
}

/** The terms of a power price: kWh × PUE × price. */
export interface PowerTerms {
  readonly kWhPrice: Rational;
  /** Power usage effectiveness; 1 by default. */
  readonly pue: Rational;
  /** The machine's power for time without measurements. If absent, such time has no power cost. */
  readonly watts?: Rational;
}

interface EntryTerms {
  /** The entry's key in the configuration: `prices[3]`. Errors use it. */
  readonly key: string;
  /** The given name, or one derived from what the entry is for and since when. Each entry has its own. Charges and explanations use it. */
  readonly name: string;
  /** True if the book gives the name. */
  readonly isNamed: boolean;
  readonly match: Match;
  /** When the entry begins, milliseconds since the epoch. */
  readonly fromMillis: number;
  /** When the entry ends, exclusive, milliseconds since the epoch; Infinity if it has no end. */
  readonly untilMillis: number;
  /** ISO 4217; the book's currency if the entry names none. */
  readonly currency: string;
  /** The number of GPUs that each machine was delivered with, if the entry has it. */
  readonly delivered?: number;
}

/** A price for each GPU. */
export interface GpuHourEntry extends EntryTerms {
  readonly per: "gpu-hour";
  readonly prices: UnitPrices;
}

/** A price for the whole node. */
export interface NodeHourEntry extends EntryTerms {
  readonly per: "node-hour";
  readonly prices: UnitPrices;
  /** The part of the node's price that its GPUs bear, above 0. The rest is a line `non-gpu`. 1 by default. */
  readonly gpuPart: Rational;
}

/** An owned machine, whose cost follows from its purchase. */
export interface OwnedEntry extends EntryTerms {
  readonly per: "owned";
  readonly owned: OwnedTerms;
  /** As in {@link NodeHourEntry}. */
  readonly gpuPart: Rational;
}

/** One entry of a price book (docs/prices.md). */
export type PriceEntry = GpuHourEntry | NodeHourEntry | OwnedEntry;

/** A cost that is due whether it is used or not: `amount` for each calendar month or hour of the term, for the whole quantity. */
export interface StandingEntry {
  /** `commitments[0]` or `fixed[0]`. */
  readonly key: string;
  /** As in {@link PriceEntry}, after the kind: `commitment reserved H100s`, `fixed cost everything from 2025-01-01`. */
  readonly name: string;
  readonly isNamed: boolean;
  readonly fromMillis: number;
  /** Infinity if it has no end. A commitment always has one. */
  readonly untilMillis: number;
  readonly amount: Rational;
  readonly currency: string;
  readonly per: "month" | "hour";
  /** The GPUs and nodes that can use it. */
  readonly scope: Match;
  /** The number of GPUs that it covers, if given. */
  readonly quantity?: Rational;
}

/**
 * An exchange rate: from `fromMillis` until the next rate of the same currency, one unit of `currency` is `rate` units of the book's
 * currency.
 */
export interface ExchangeRate {
  readonly fromMillis: number;
  readonly currency: string;
  readonly rate: Rational;
}

/** A markup: a separate line with a percentage of a team's effective cost. Negative for a discount. */
export interface Markup {
  readonly team: string;
  readonly percent: Rational;
}

/** All prices, commitments, fixed costs, exchange rates and markups. */
export interface PriceBook {
  /** The public list prices: they apply because nobody has written a book. */
  readonly isList?: true;
  /** ISO 4217: the currency of every bill. */
  readonly currency: string;
  readonly prices: readonly PriceEntry[];
  readonly commitments: readonly StandingEntry[];
  readonly fixed: readonly StandingEntry[];
  /** Sorted by currency, then by time. */
  readonly rates: readonly ExchangeRate[];
  readonly markup: readonly Markup[];
}

/**
 * Returns when an entry begins to price, milliseconds since the epoch: at its start date, but for an owned machine not before it is in
 * service.
 */
export function beginsAt(entry: PriceEntry): number {
  return entry.per === "owned" ? Math.max(entry.fromMillis, entry.owned.inServiceMillis) : entry.fromMillis;
}
