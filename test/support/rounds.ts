/** The part of all rounds that a test makes: a tenth in the quick tests, all in the long ones, more by hand. */
const FACTOR = Number(process.env["ROUNDS_FACTOR"] ?? 0.1);

/** How many rounds a test makes whose long run makes `all`: tries of a property, steps through a day; `least` at the least. */
export function rounds(all: number, least = 1): number {
  return Math.max(least, Math.ceil(all * FACTOR));
}
