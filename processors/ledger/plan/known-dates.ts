import type { EnergyFactors } from "../../../domain/energy/factors.ts";
import { DELIVERED_LABEL } from "../../../domain/inventory.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import { priceFactsOfNode } from "../../../domain/price/facts.ts";
import { winnerAt } from "../../../domain/price/match.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { stretches, type Stretch } from "../../../domain/price/stretch.ts";
import type { MachineState, Span } from "./node-record.ts";

/** What the configuration knows of dates and machines: where segments are cut besides. */
export interface KnownDates {
  /** When the price of a machine in a state changes, or what a kWh emits, within a window. */
  ofMachine(state: MachineState, window: Span): ReadonlySet<number>;
  /** When rules change that say who owns what. */
  readonly ofOwners: readonly number[];
  /** How many GPUs the machine was delivered with, where the price book or the node says so. */
  delivered(state: MachineState): number | undefined;
}

/**
 * Where the meter cuts because a price, what a kWh emits or a rule about owners changes, and how many GPUs machines were delivered
 * with.
 */
export function knownDates(book: PriceBook, ofOwners: readonly number[] = [], energy?: EnergyFactors): KnownDates {
  const ranked = rankEntries(book.prices);
  const emissions = energy?.gramsPerKWh.map(({ fromMillis }) => fromMillis) ?? [];
  // Asked at every edge of a node: a state is looked up in the book once.
  const delivered = new WeakMap<MachineState, number | undefined>();
  const changes = new WeakMap<MachineState, { readonly window: Span; readonly at: ReadonlySet<number> }>();

  function deliveredOf(state: MachineState): number | undefined {
    const written = state.fact.labels[DELIVERED_LABEL];
    if (written !== undefined && /^\d{1,4}$/.test(written)) return Number(written);
    for (const facts of priceFactsOfNode(state.fact)) {
      const winner = winnerAt(ranked, facts, state.from);
      if (winner.kind === "priced" && winner.entry.delivered !== undefined) return winner.entry.delivered;
    }
    return undefined;
  }

  function changesOf(state: MachineState, { from, until }: Span): ReadonlySet<number> {
    const cuts = priceFactsOfNode(state.fact).flatMap((facts) =>
      stretches(ranked, facts, from, until).flatMap((stretch) => [
        stretch.fromMillis,
        ...rateChanges(stretch, book.rates),
      ]),
    );
    return new Set([...cuts, ...emissions].filter((at) => from < at && at < until));
  }

  return {
    ofOwners,
    ofMachine(state, window) {
      const known = changes.get(state);
      if (known !== undefined && known.window.from === window.from && known.window.until === window.until)
        return known.at;
      const at = changesOf(state, window);
      changes.set(state, { window, at });
      return at;
    },
    delivered(state) {
      if (!delivered.has(state)) delivered.set(state, deliveredOf(state));
      return delivered.get(state);
    },
  };
}

/** When the rate of the currency changes in which a stretch is priced. */
function rateChanges({ winner, fromMillis, untilMillis }: Stretch, rates: PriceBook["rates"]): readonly number[] {
  if (winner.kind !== "priced") return [];
  const ofCurrency = rates.filter(({ currency }) => currency === winner.entry.currency);
  return ofCurrency.map((rate) => rate.fromMillis).filter((at) => fromMillis < at && at < untilMillis);
}
