import type { EnergyFactors } from "../../../domain/energy/factors.ts";
import { deliveredOf } from "../../../domain/inventory.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import { priceFactsOfNode } from "../../../domain/price/facts.ts";
import { winnerAt } from "../../../domain/price/match.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { stretches, type Stretch } from "../../../domain/price/stretch.ts";
import type { MachineState, Span } from "./node-record.ts";

/** The dates and machine sizes in the configuration. Segments are also cut at these dates. */
export interface KnownDates {
  /** Returns the times within a window at which the price of a machine in a state, or the emissions of a kWh, change. */
  ofMachine(state: MachineState, window: Span): ReadonlySet<number>;
  /** The times at which owner rules change. */
  readonly ofOwners: readonly number[];
  /** Returns the number of GPUs that the machine was delivered with; undefined if neither the price book nor the node has it. */
  delivered(state: MachineState): number | undefined;
}

/**
 * Creates the dates at which the meter cuts because a price, the emissions of a kWh, or an owner rule changes, and the delivered numbers of
 * GPUs.
 */
export function knownDates(book: PriceBook, ofOwners: readonly number[] = [], energy?: EnergyFactors): KnownDates {
  const ranked = rankEntries(book.prices);
  const emissions = energy?.gramsPerKWh.map(({ fromMillis }) => fromMillis) ?? [];
  // Called at every edge of a node, so each state is looked up in the book only once.
  const delivered = new WeakMap<MachineState, number | undefined>();
  const changes = new WeakMap<MachineState, { readonly window: Span; readonly at: ReadonlySet<number> }>();

  function deliveredTo(state: MachineState): number | undefined {
    const written = deliveredOf(state.fact);
    if (written !== undefined) return written;
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
      if (!delivered.has(state)) delivered.set(state, deliveredTo(state));
      return delivered.get(state);
    },
  };
}

/** Returns the times at which the exchange rate of a stretch's currency changes. */
function rateChanges({ winner, fromMillis, untilMillis }: Stretch, rates: PriceBook["rates"]): readonly number[] {
  if (winner.kind !== "priced") return [];
  const ofCurrency = rates.filter(({ currency }) => currency === winner.entry.currency);
  return ofCurrency.map((rate) => rate.fromMillis).filter((at) => fromMillis < at && at < untilMillis);
}
