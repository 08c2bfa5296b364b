import { DELIVERED_LABEL } from "../../../domain/inventory.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import { winnerAt, type PriceFacts } from "../../../domain/price/match.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { stretches, type Stretch } from "../../../domain/price/stretch.ts";
import type { MachineState } from "./node-record.ts";
import type { KnownDates } from "./plan.ts";

/** Where the meter cuts because a price or a rule about owners changes, and how many GPUs machines were delivered with. */
export function knownDates(book: PriceBook, ofOwners: readonly number[] = []): KnownDates {
  const ranked = rankEntries(book.prices);
  return {
    ofOwners,
    ofMachine(cluster, state, { from, until }) {
      const cuts = factsOf(cluster, state).flatMap((facts) =>
        stretches(ranked, facts, from, until).flatMap((stretch) => [
          stretch.fromMillis,
          ...rateChanges(stretch, book.rates),
        ]),
      );
      return [...new Set(cuts)].filter((at) => from < at && at < until);
    },
    delivered(cluster, state) {
      const written = state.fact.labels[DELIVERED_LABEL];
      if (written !== undefined && /^\d{1,4}$/.test(written)) return Number(written);
      for (const facts of factsOf(cluster, state)) {
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

/** A machine's GPUs as prices match them, one for each model. */
function factsOf(cluster: string, { fact }: MachineState): readonly PriceFacts[] {
  const { node, region, zone, instanceType, pool, capacityType, labels, gpus } = fact;
  const models = [...new Set(gpus.map(({ model }) => model))];
  return models.map((model): PriceFacts => ({
    cluster,
    node,
    ...(region === undefined ? {} : { region }),
    ...(zone === undefined ? {} : { zone }),
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(pool === undefined ? {} : { pool }),
    ...(model === undefined ? {} : { model }),
    ...(capacityType === undefined ? {} : { capacityType }),
    labels,
  }));
}
