import { decimalText } from "../../domain/exact/integer.ts";
import { split } from "../../domain/exact/split.ts";

/** Digits of a ratio after the point: as many as every reader of JSON keeps of a number. */
const RATIO_DIGITS = 15;

/**
 * Which part of the whole each quantity is, as decimal texts that sum to 1 exactly, by largest remainder. Undefined where there is no
 * whole: where all are 0, or one is negative.
 */
export function ratiosOf(quantities: readonly bigint[]): readonly string[] | undefined {
  if (quantities.some((quantity) => quantity < 0n)) return undefined;
  return split(10n ** BigInt(RATIO_DIGITS), quantities)?.map((ratio) => decimalText(ratio, RATIO_DIGITS));
}
