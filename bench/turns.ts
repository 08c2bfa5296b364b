import { report } from "./report.ts";

const TURNS = 5;
/** The promised 95th percentile of panels. */
const PROMISED_MILLIS = 500;

/** Runs a query five times, prints the times, and returns the median in milliseconds. */
export async function asked(what: string, ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const begun = performance.now();
    await ask();
    times.push(performance.now() - begun);
  }
  report(what, times, "ms", {});
  return times.toSorted((a, b) => a - b)[Math.floor(TURNS / 2)]!;
}

/** Prints the 95th percentile of the medians of all panels. */
export function reportPanels(medians: readonly number[]): void {
  const sorted = medians.toSorted((a, b) => a - b);
  report("19 of 20 panels", [sorted[Math.ceil(sorted.length * 0.95) - 1]!], "ms", { atMost: PROMISED_MILLIS });
}
