import { rational, type Rational } from "../../../../domain/exact/rational.ts";

/** A fraction as people write one: `2/7`, `1`. */
export function textOf({ num, den }: Rational): string {
  return den === 1n ? `${num}` : `${num}/${den}`;
}

/** The fraction that such a text says. */
export function fractionOf(text: string): Rational {
  const [num = "", den = "1"] = text.split("/");
  return rational(BigInt(num), BigInt(den));
}
