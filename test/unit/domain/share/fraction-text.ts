import { rational, type Rational } from "../../../../domain/exact/rational.ts";

/** A fraction as a short text: `2/7`, `1`. */
export function textOf({ num, den }: Rational): string {
  return den === 1n ? `${num}` : `${num}/${den}`;
}

/** The fraction of such a text. */
export function fractionOf(text: string): Rational {
  const [num = "", den = "1"] = text.split("/");
  return rational(BigInt(num), BigInt(den));
}
