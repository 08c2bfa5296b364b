import { multiply, parseDecimal, rational, roundedDecimal } from "../../domain/exact/rational.ts";

/** Returns a ratio, given as decimal text, as a percentage: `99.5 %`. */
export function percent(ratio: string): string {
  const parsed = parseDecimal(ratio);
  return "error" in parsed ? ratio : `${roundedDecimal(multiply(parsed.value, rational(100)), 4)} %`;
}
