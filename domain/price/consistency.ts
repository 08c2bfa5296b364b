import { beginsAt, type ExchangeRate, type PriceBook, type PriceEntry } from "./book.ts";
import { pathOf, problemAt, type PriceProblem } from "./problem.ts";

/**
 * What is wrong between parts of which each is right: a foreign currency without a rate, two rates at once, two entries
 * that tie.
 */
export function inconsistencies(book: PriceBook): readonly PriceProblem[] {
  return [...withoutRate(book), ...twoRates(book.rates), ...indistinct(book.prices)];
}

/** A rate has to hold from the moment on at which the entry begins to price: there is no conversion by default. */
function withoutRate({ currency: own, rates, prices, commitments, fixed }: PriceBook): readonly PriceProblem[] {
  const begun = prices.map((entry) => ({ ...entry, fromMillis: beginsAt(entry) }));
  const foreign = [...begun, ...commitments, ...fixed].filter(({ currency }) => currency !== own);
  return foreign.flatMap(({ place, currency, fromMillis }) =>
    rates.some((rate) => rate.currency === currency && rate.fromMillis <= fromMillis)
      ? []
      : [
          problemAt(
            [...pathOf(place), "currency"],
            currency,
            "a currency with a rate from the entry's first day on (rates)",
          ),
        ],
  );
}

/** The rates are in order by currency and time, so that two for one moment stand beside each other. */
function twoRates(rates: readonly ExchangeRate[]): readonly PriceProblem[] {
  return rates.flatMap(({ currency, fromMillis }, index) => {
    const before = rates[index - 1];
    const isSecond = before?.currency === currency && before.fromMillis === fromMillis;
    const from = new Date(fromMillis).toISOString();
    return isSecond ? [problemAt(["rates"], `${currency} from ${from}`, "a time with one rate: it has two")] : [];
  });
}

/** Entries with the same match and the same `from` tie wherever they match: neither can ever win. */
function indistinct(entries: readonly PriceEntry[]): readonly PriceProblem[] {
  const seen = new Map<string, PriceEntry>();
  return entries.flatMap((entry) => {
    const key = JSON.stringify(distinction(entry));
    const other = seen.get(key);
    if (other === undefined) {
      seen.set(key, entry);
      return [];
    }
    const allowed = `distinct: ${other.place} has the same match and the same from`;
    return [problemAt([...pathOf(entry.place), "match"], entry.match, allowed)];
  });
}

function distinction(entry: PriceEntry): unknown {
  const { nodeLabels, ...keys } = entry.match;
  const machines = entry.per === "owned" ? entry.owned.machines.toSorted() : [];
  return [inOrder(keys), inOrder(nodeLabels), machines, entry.fromMillis];
}

function inOrder(texts: object): readonly unknown[] {
  return Object.entries(texts).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
