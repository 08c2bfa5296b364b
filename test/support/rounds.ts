/** The part of all rounds that a test makes: a twentieth in the quick tests, all in the long ones, more if ROUNDS_FACTOR asks for it. */
const FACTOR = Number(process.env["ROUNDS_FACTOR"] ?? 0.05);

/** The number of rounds of a test that makes `all` in a long run: runs of a property, or steps through a day; `least` is the minimum. */
export function rounds(all: number, least = 1): number {
  return Math.max(least, Math.ceil(all * FACTOR));
}
