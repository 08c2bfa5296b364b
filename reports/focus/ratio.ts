import { decimalText } from "../../domain/exact/integer.ts";
import { split } from "../../domain/exact/split.ts";

/** The digits of a ratio after the point: as many as every JSON reader keeps of a number. */
const RATIO_DIGITS = 15;

/**
 * Returns the ratio of each quantity to the whole, as decimal texts whose sum is exactly 1, by largest remainder. Undefined if there is no
 * whole: if all are 0, or if one is negative.
 */
export function ratiosOf(quantities: readonly bigint[]): readonly string[] | undefined {
  if (quantities.some((quantity) => quantity < 0n)) return undefined;
  return split(10n ** BigInt(RATIO_DIGITS), quantities)?.map((ratio) => decimalText(ratio, RATIO_DIGITS));
}
