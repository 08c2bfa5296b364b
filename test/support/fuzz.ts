import fc from "fast-check";

/** The seed of all fuzzers of a run. FUZZ_SEED repeats a run. */
export const FUZZ_SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 1_000_000);
/** How long each group of fuzzers runs, in all. */
const GROUP_SECONDS = Number(process.env["FUZZ_SECONDS"] ?? 50);

/**
 * Runs `check` with random values for a part of the time of its group, and returns the number of runs. Fails with a value that fails, as
 * small as it becomes in the time, and with the seed and the path that lead to it.
 */
export async function fuzz<Value>(
  part: number,
  values: fc.Arbitrary<Value>,
  check: (value: Value) => Promise<void> | void,
): Promise<number> {
  let runs = 0;
  const property = fc.asyncProperty(values, async (value) => {
    runs++;
    await check(value);
  });
  const time = fc.interruptAfterTimeLimit(GROUP_SECONDS * 1000 * part);
  await fc.assert(property, { seed: FUZZ_SEED, numRuns: 1e9, plugins: [time] });
  return runs;
}
