import { sum } from "../../domain/exact/units.ts";
import type { Part } from "./part.ts";
import type { FocusColumn } from "./columns.ts";
import { measureOf } from "./measure.ts";
import type { PricedPart } from "./priced-part.ts";
import { ratiosOf } from "./ratio.ts";
import type { FocusSetting } from "./setting.ts";
import { ownPrices, partPrices, type Priced, type UnitPrices } from "./unit-price.ts";

/** A row as written: a text or null for each column. */
export type FocusCells = readonly (string | null)[];

/** Returns the rows of an origin: its requested parts, with the ratios and unit prices of the whole origin. */
export function rowsOf(
  parts: readonly [Part, ...Part[]],
  columns: readonly FocusColumn[],
  setting: FocusSetting,
): readonly FocusCells[] {
  return pricedParts(parts)
    .filter(({ part }) => part.isAskedFor)
    .map((row) => columns.map((column) => column.of(row, setting)));
}

/** Returns the rows of origins, portion by portion. */
export async function* rowsOfAll(
  origins: AsyncIterable<readonly [Part, ...Part[]]>,
  columns: readonly FocusColumn[],
  setting: FocusSetting,
): AsyncGenerator<readonly FocusCells[]> {
  for await (const parts of origins) yield rowsOf(parts, columns, setting);
}

/**
 * Returns the parts of an origin with unit prices and ratios. A correction is a difference between two allocations. It has the unit price
 * of its own sums, if there is one, and no ratio, because quantities of both signs often add up to 0.
 */
function pricedParts(parts: readonly [Part, ...Part[]]): readonly PricedPart[] {
  const [{ origin }] = parts;
  const measured = parts.map((part) => ({ part, measure: measureOf(part) }));
  const quantities = measured.map(({ measure }) => measure?.quantity ?? 0n);
  if (origin.isCorrection)
    return measured.map(({ part, measure }, index) => ({
      part,
      measure,
      ratio: undefined,
      prices: quantities[index] === 0n ? undefined : ownPrices(priced(part, quantities[index]!)),
    }));
  const ratios = ratiosOf(quantities);
  const prices = pricesOfAll(parts, quantities);
  return measured.map(({ part, measure }, index) => ({
    part,
    measure,
    ratio: ratios?.[index],
    prices: measure === undefined ? undefined : partPrices(priced(part, quantities[index]!), prices),
  }));
}

function priced({ lines, list, contracted }: Part, quantity: bigint): Priced {
  return { quantity, lines, list, contracted };
}

function pricesOfAll(parts: readonly Part[], quantities: readonly bigint[]): UnitPrices | undefined {
  return ownPrices({
    quantity: quantities.reduce((total, quantity) => total + quantity, 0n),
    lines: parts.length,
    list: sum(parts.map(({ list }) => list)),
    contracted: sum(parts.map(({ contracted }) => contracted)),
  });
}
