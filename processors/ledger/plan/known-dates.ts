import { DELIVERED_LABEL } from "../../../domain/inventory.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import { priceFactsOfNode } from "../../../domain/price/facts.ts";
import { winnerAt } from "../../../domain/price/match.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { stretches, type Stretch } from "../../../domain/price/stretch.ts";
import type { MachineState, Span } from "./node-record.ts";

/** What the configuration knows of dates and machines: where segments are cut besides. */
export interface KnownDates {
  /** When the price of a machine in a state changes, within a window. */
  ofMachine(state: MachineState, window: Span): readonly number[];
  /** When rules change that say who owns what. */
  readonly ofOwners: readonly number[];
  /** How many GPUs the machine was delivered with, where the price book or the node says so. */
  delivered(state: MachineState): number | undefined;
}

/** Where the meter cuts because a price or a rule about owners changes, and how many GPUs machines were delivered with. */
export function knownDates(book: PriceBook, ofOwners: readonly number[] = []): KnownDates {
  const ranked = rankEntries(book.prices);
  return {
    ofOwners,
    ofMachine(state, { from, until }) {
      const cuts = priceFactsOfNode(state.fact).flatMap((facts) =>
        stretches(ranked, facts, from, until).flatMap((stretch) => [
          stretch.fromMillis,
          ...rateChanges(stretch, book.rates),
        ]),
      );
      return [...new Set(cuts)].filter((at) => from < at && at < until);
    },
    delivered(state) {
      const written = state.fact.labels[DELIVERED_LABEL];
      if (written !== undefined && /^\d{1,4}$/.test(written)) return Number(written);
      for (const facts of priceFactsOfNode(state.fact)) {
        const winner = winnerAt(ranked, facts, state.from);
        if (winner.kind === "priced" && winner.entry.delivered !== undefined) return winner.entry.delivered;
      }
      return undefined;
    },
  };
}

/** When the rate of the currency changes in which a stretch is priced. */
function rateChanges({ winner, fromMillis, untilMillis }: Stretch, rates: PriceBook["rates"]): readonly number[] {
  if (winner.kind !== "priced") return [];
  const ofCurrency = rates.filter(({ currency }) => currency === winner.entry.currency);
  return ofCurrency.map((rate) => rate.fromMillis).filter((at) => fromMillis < at && at < untilMillis);
}
