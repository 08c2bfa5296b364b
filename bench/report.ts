/** Prints one figure: the median of its runs with the minimum and the maximum, and the promised value. */
export function report(
  what: string,
  runs: readonly number[],
  unit: string,
  promised: { readonly atLeast?: number; readonly atMost?: number },
): void {
  const sorted = runs.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  const spread = runs.length > 1 ? ` (${round(sorted[0]!)} to ${round(sorted.at(-1)!)} over ${runs.length} runs)` : "";
  const { atLeast, atMost } = promised;
  const kept = (atLeast === undefined || median >= atLeast) && (atMost === undefined || median <= atMost);
  const bound = atLeast === undefined ? (atMost === undefined ? "" : `; at most ${atMost}`) : `; at least ${atLeast}`;
  const verdict = bound === "" ? "" : `${bound}: ${kept ? "kept" : "NOT KEPT"}`;
  process.stdout.write(`  ${what}: ${round(median)} ${unit}${spread}${verdict}\n`);
}

function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
