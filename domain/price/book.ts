import type { Rational } from "../exact/rational.ts";
import type { CapacityType } from "../inventory.ts";

/** What a price entry asks of a GPU and its node; every key that is given must fit, and one that is left out fits anything. */
export interface Match {
  readonly cluster?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly pool?: string;
  /** Exact, or a glob with `*` and `?`. */
  readonly model?: string;
  readonly capacityType?: CapacityType;
  /** Labels of the node with their values; each counts as a key. Empty where none is asked for. */
  readonly nodeLabels: Readonly<Record<string, string>>;
}

/** The three prices of FOCUS: before any discount, with the negotiated ones, with all of them spread over what they cover. */
export type CostKind = "list" | "contracted" | "effective";

/** Unit prices in the entry's currency. What an entry leaves out is filled in. */
export type UnitPrices = Readonly<Record<CostKind, Rational>>;

/** A machine of one's own: what it was bought for, and what it takes to run it. Amounts in the entry's currency. */
export interface OwnedTerms {
  /** When depreciation begins, milliseconds since the epoch. */
  readonly inServiceMillis: number;
  readonly purchase: Rational;
  /** 0 where it is left out. */
  readonly residual: Rational;
  /** Calendar months of depreciation. */
  readonly months: number;
  /** Each calendar month as long as the machine is not retired; 0 where it is left out. */
  readonly overheadPerMonth: Rational;
  /** When it was taken out of service; Infinity where it was not. */
  readonly retiredMillis: number;
  /** Names of nodes, known to the cluster or not; empty where the entry prices each node that it matches. */
  readonly machines: readonly string[];
  /** Without it, power has no price. */
  readonly power?: PowerTerms;
}

/** What power costs: kWh × PUE × price. */
export interface PowerTerms {
  readonly kWhPrice: Rational;
  /** Power usage effectiveness; 1 where it is left out. */
  readonly pue: Rational;
  /** Of the machine, for the time in which nothing is measured; without it, such time has no cost of power. */
  readonly watts?: Rational;
}

interface EntryTerms {
  /** Where it stands in the book: `prices[3]`. Errors and explanations name it so. */
  readonly place: string;
  readonly match: Match;
  /** From when it holds, milliseconds since the epoch. */
  readonly fromMillis: number;
  /** Up to when, that moment not included; Infinity where it has no end. */
  readonly untilMillis: number;
  /** ISO 4217; the book's own where the entry names none. */
  readonly currency: string;
  /** The GPUs that each machine was delivered with, where the entry knows. */
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
  /** The part of the node's price that its GPUs bear, above 0; the rest is a line `non-gpu`. 1 where it is left out. */
  readonly gpuPart: Rational;
}

/** A machine of one's own, whose cost follows from what was paid. */
export interface OwnedEntry extends EntryTerms {
  readonly per: "owned";
  readonly owned: OwnedTerms;
  /** As in {@link NodeHourEntry}. */
  readonly gpuPart: Rational;
}

/** One entry of a price book (ledger, "Prices"). */
export type PriceEntry = GpuHourEntry | NodeHourEntry | OwnedEntry;

/** What is paid whether it is used or not: `amount` for each calendar month or hour of its term, for all of its quantity. */
export interface StandingEntry {
  /** `commitments[0]` or `fixed[0]`. */
  readonly place: string;
  readonly fromMillis: number;
  /** Infinity where it has no end, which a commitment always has. */
  readonly untilMillis: number;
  readonly amount: Rational;
  readonly currency: string;
  readonly per: "month" | "hour";
  /** What can take it up. */
  readonly scope: Match;
  /** GPUs that it is for, where that is said. */
  readonly quantity?: Rational;
}

/** From a moment on until the next one of its currency, one unit of that currency is `rate` of the book's. */
export interface ExchangeRate {
  readonly fromMillis: number;
  readonly currency: string;
  readonly rate: Rational;
}

/** A line of its own on a team's effective cost: percent of it, negative for a discount. */
export interface Markup {
  readonly team: string;
  readonly percent: Rational;
}

/** All that is known of prices. */
export interface PriceBook {
  /** ISO 4217: the currency of every bill. */
  readonly currency: string;
  readonly prices: readonly PriceEntry[];
  readonly commitments: readonly StandingEntry[];
  readonly fixed: readonly StandingEntry[];
  /** By currency, then by time. */
  readonly rates: readonly ExchangeRate[];
  readonly markup: readonly Markup[];
}

/** When an entry begins to price: from its date on, an owned machine not before it is in service. */
export function beginsAt(entry: PriceEntry): number {
  return entry.per === "owned" ? Math.max(entry.fromMillis, entry.owned.inServiceMillis) : entry.fromMillis;
}
