import { floorQuotient, halfEvenQuotient } from "./integer.ts";
import { lastUnits, sum, type Amount, type Quantity } from "./units.ts";

/**
 * Rounds amounts to multiples of `unit` (the currency's minor unit, in last units) by largest remainder, so that they add up to their sum
 * rounded half to even (docs/closing.md: posted amounts add up to the posted total). Each amount, also a negative one, becomes an adjacent
 * multiple. An amount that is a multiple stays. Ties keep the given order.
 */
export function roundTogether<Of extends Quantity>(
  amounts: readonly Amount<Of>[],
  unit: bigint,
): readonly Amount<Of>[] {
  const floors = amounts.map((amount) => floorQuotient(amount, unit));
  const rests = amounts.map((amount, index) => amount - (floors[index] ?? 0n) * unit);
  const target = halfEvenQuotient(sum(amounts), unit);
  const left = Number(target - floors.reduce((total, floor) => total + floor, 0n));
  const order = rests.map((rest, index) => ({ rest, index }));
  order.sort((a, b) => (a.rest < b.rest ? 1 : a.rest > b.rest ? -1 : a.index - b.index));
  for (const { index } of order.slice(0, left)) floors[index] = (floors[index] ?? 0n) + 1n;
  return floors.map((floor) => lastUnits<Of>(floor * unit));
}
