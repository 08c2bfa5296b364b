import { roundedDecimal, type Rational } from "../../domain/exact/rational.ts";
import type { Match, PriceBook, PriceEntry } from "../../domain/price/book.ts";
import { isoText } from "../../domain/time.ts";

/** An entry of the price book for programs and people. Amounts are decimal texts in its currency; times ISO 8601. */
export interface ShownEntry {
  /** The name of the entry in charges: `H100 reserved from 2025-01-01`. */
  readonly name: string;
  readonly kind: "price" | "commitment" | "fixed";
  readonly per: "gpu-hour" | "node-hour" | "owned" | "month" | "hour";
  readonly from: string;
  /** Null if it has no end. */
  readonly until: string | null;
  readonly currency: string;
  readonly match: Readonly<Record<string, string>>;
  readonly list: string | null;
  readonly contracted: string | null;
  /** The effective unit price. For an owned machine, its purchase price. For commitments and fixed costs, the amount. */
  readonly amount: string;
}

/** An exchange rate with its start: the amount of the book's currency for one unit of another currency. */
export interface ShownRate {
  readonly currency: string;
  readonly from: string;
  readonly rate: string;
}

const DIGITS = 9;

/** Returns the rates by which a book converts entries of other currencies, by currency and then by time. */
export function shownRates({ rates }: PriceBook): readonly ShownRate[] {
  return rates.map(({ currency, fromMillis, rate }) => ({ currency, from: isoText(fromMillis), rate: decimal(rate) }));
}

/** Returns every entry of a book, in its order. */
export function shownEntries({ prices, commitments, fixed }: PriceBook): readonly ShownEntry[] {
  const standing = (kind: "commitment" | "fixed", entries: PriceBook["fixed"]): readonly ShownEntry[] =>
    entries.map(({ name, per, fromMillis, untilMillis, currency, scope, amount }) => ({
      name,
      kind,
      per,
      ...term(fromMillis, untilMillis),
      currency,
      match: shownMatch(scope),
      list: null,
      contracted: null,
      amount: decimal(amount),
    }));
  return [...prices.map(shownPrice), ...standing("commitment", commitments), ...standing("fixed", fixed)];
}

function shownPrice(entry: PriceEntry): ShownEntry {
  const { name, per, fromMillis, untilMillis, currency, match } = entry;
  const unit =
    entry.per === "owned"
      ? { list: null, contracted: null, amount: decimal(entry.owned.purchase) }
      : {
          list: decimal(entry.prices.list),
          contracted: decimal(entry.prices.contracted),
          amount: decimal(entry.prices.effective),
        };
  return { name, kind: "price", per, ...term(fromMillis, untilMillis), currency, match: shownMatch(match), ...unit };
}

function term(fromMillis: number, untilMillis: number): Pick<ShownEntry, "from" | "until"> {
  return { from: isoText(fromMillis), until: Number.isFinite(untilMillis) ? isoText(untilMillis) : null };
}

function shownMatch({ nodeLabels, ...keys }: Match): ShownEntry["match"] {
  const labels = Object.entries(nodeLabels).map(([name, value]) => [`nodeLabels.${name}`, value]);
  return { ...keys, ...Object.fromEntries(labels) } as ShownEntry["match"];
}

function decimal(amount: Rational): string {
  return roundedDecimal(amount, DIGITS);
}
