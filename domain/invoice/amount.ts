import { rational, type Rational } from "../exact/rational.ts";

/** An amount of an export: `-0.0012`, `1E-05`, `+.5`. */
const AMOUNT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/** The largest exponent that is read. A double has none beyond it, and a larger number would only cost time. */
const LARGEST_EXPONENT = 400;

/** The form that {@link readAmount} accepts, for error messages. */
export const AMOUNT_FORM = "a number such as 3.60 or 1E-05";

/**
 * Returns the exact number that a text of an export writes; undefined for another text. Other than a price book, an export of Azure or
 * BigQuery has exponents (`1E-05`).
 */
export function readAmount(text: string): Rational | undefined {
  const match = AMOUNT.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const power = Number(exponent) - fraction.length;
  if (whole === "" && fraction === "") return undefined;
  if (Math.abs(Number(exponent)) > LARGEST_EXPONENT) return undefined;
  const digits = BigInt(`${sign === "-" ? "-" : ""}${whole}${fraction}`);
  return power >= 0 ? rational(digits * 10n ** BigInt(power)) : rational(digits, 10n ** BigInt(-power));
}
