import { beginsAt, type ExchangeRate, type PriceBook, type PriceEntry } from "./book.ts";
import { nameProblems } from "./entry-name.ts";
import { pathOf, problemAt, type PriceProblem } from "./problem.ts";

/** Returns the problems between valid parts of a book: a foreign currency without a rate, two rates at once, two entries that tie. */
export function inconsistencies(book: PriceBook): readonly PriceProblem[] {
  const { prices, commitments, fixed, rates } = book;
  return [
    ...withoutRate(book),
    ...twoRates(rates),
    ...indistinct(prices),
    ...nameProblems([...prices, ...commitments, ...fixed]),
  ];
}

/**
 * Returns entries in a foreign currency without a rate. A rate must hold from the moment at which the entry begins to price; there is no
 * default conversion.
 */
function withoutRate({ currency: own, rates, prices, commitments, fixed }: PriceBook): readonly PriceProblem[] {
  const begun = prices.map((entry) => ({ ...entry, fromMillis: beginsAt(entry) }));
  const foreign = [...begun, ...commitments, ...fixed].filter(({ currency }) => currency !== own);
  return foreign.flatMap(({ key, currency, fromMillis }) =>
    rates.some((rate) => rate.currency === currency && rate.fromMillis <= fromMillis)
      ? []
      : [
          problemAt(
            [...pathOf(key), "currency"],
            currency,
            "a currency with a rate from the entry's first day on (rates)",
          ),
        ],
  );
}

/** Returns pairs of rates for the same moment. The rates are sorted by currency and time, so such pairs are adjacent. */
function twoRates(rates: readonly ExchangeRate[]): readonly PriceProblem[] {
  return rates.flatMap(({ currency, fromMillis }, index) => {
    const before = rates[index - 1];
    const isSecond = before?.currency === currency && before.fromMillis === fromMillis;
    const from = new Date(fromMillis).toISOString();
    return isSecond ? [problemAt(["rates"], `${currency} from ${from}`, "a time with one rate: it has two")] : [];
  });
}

/** Returns entries with the same match and the same `from`. They tie wherever they match, so neither can ever win. */
function indistinct(entries: readonly PriceEntry[]): readonly PriceProblem[] {
  const seen = new Map<string, PriceEntry>();
  return entries.flatMap((entry) => {
    const key = JSON.stringify(distinction(entry));
    const other = seen.get(key);
    if (other === undefined) {
      seen.set(key, entry);
      return [];
    }
    const allowed = `distinct: ${other.key} has the same match and the same from`;
    return [problemAt([...pathOf(entry.key), "match"], entry.match, allowed)];
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
