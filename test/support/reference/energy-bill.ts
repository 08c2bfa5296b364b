import type { UsageSegment } from "../../../domain/allocation/segment.ts";
import { add, divide, multiply, parseDecimal, rational, type Rational } from "../../../domain/exact/rational.ts";
import { roundToLastUnit, type Carbon, type Money } from "../../../domain/exact/units.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import type { Stretch } from "../../../domain/price/stretch.ts";
import type { Scenario } from "../../../scenarios/files.ts";

const MILLIJOULES_IN_KWH = rational(3_600_000_000);

/** The emissions of a segment's energy, by the factor that holds when the segment begins: a segment ends where a factor changes. */
export function carbonOf({ energy }: Scenario, segment: UsageSegment): Carbon | undefined {
  const { millijoules, coveredMillis } = segment.energy;
  const holding = energy?.gramsPerKWh.filter(({ from }) => from <= segment.fromMillis) ?? [];
  const latest = holding.toSorted((a, b) => a.from - b.from).at(-1);
  if (energy === undefined || latest === undefined || coveredMillis === 0) return undefined;
  const kWh = divide(rational(millijoules), MILLIJOULES_IN_KWH);
  return roundToLastUnit(multiply(multiply(kWh, exact(energy.pue)), exact(latest.grams)));
}

/**
 * The cost of a GPU's power over segments that all lie in one price piece and end where a rate changes. The cost counts by time if the machine is
 * retired inside one of them.
 */
export function powerOf(
  { winner }: Stretch,
  segments: readonly UsageSegment[],
  delivered: number,
  book: PriceBook,
): Money | undefined {
  if (winner.kind !== "priced" || winner.entry.per !== "owned") return undefined;
  const { owned, currency } = winner.entry;
  if (owned.power === undefined) return undefined;
  const { pue, kWhPrice, watts = rational(0) } = owned.power;
  const costs = segments
    .filter(({ fromMillis }) => fromMillis < owned.retiredMillis)
    .map(({ fromMillis, untilMillis, energy }) => {
      const unmeasured = rational(untilMillis - fromMillis - energy.coveredMillis);
      const assumed = multiply(divide(watts, rational(delivered)), unmeasured);
      const kWh = divide(add(rational(energy.millijoules), assumed), MILLIJOULES_IN_KWH);
      const part = rational(Math.min(untilMillis, owned.retiredMillis) - fromMillis, untilMillis - fromMillis);
      return [part, pue, kWhPrice, rateAt(book, currency, fromMillis)].reduce(multiply, kWh);
    });
  return roundToLastUnit(costs.reduce(add, rational(0)));
}

function rateAt({ currency: own, rates }: PriceBook, currency: string, at: number): Rational {
  if (currency === own) return rational(1);
  return rates.filter((rate) => rate.currency === currency && rate.fromMillis <= at).at(-1)!.rate;
}

function exact(text: string): Rational {
  const parsed = parseDecimal(text);
  if ("value" in parsed) return parsed.value;
  throw new TypeError(parsed.error);
}
