import type { LineDrop } from "../../domain/scrape.ts";
import type { PlannedDrop } from "./fold/plan.ts";
import { run, type Program } from "./fold/program.ts";
import { SENTINEL_TEXT } from "./fold/row.ts";
import type { FullReading } from "./page/full.ts";

/** A dropped line, with the reason as a code and as a sentence. */
export interface InspectedDrop {
  readonly line: number;
  readonly series: string;
  readonly reason: LineDrop;
  readonly why: string;
}

const WHY: Readonly<Partial<Record<LineDrop, string>>> = {
  sentinel: "the exporter's marker for a missing value",
  "not-a-number": "not a finite number",
  "out-of-range": "outside the range of this metric",
  "unsupported-zero": "a 0 here means that the GPU does not measure the value",
};

/** Runs the program of a page that was read in full. Returns its cells, the number of samples and every dropped line, in their order. */
export function inspectLines({
  exposition,
  plan,
  texts,
  truncated,
}: FullReading<{ readonly program: Program; readonly drops: readonly PlannedDrop[] }>): {
  readonly values: Float64Array;
  readonly samples: number;
  readonly drops: readonly InspectedDrop[];
} {
  const drops: InspectedDrop[] = [
    ...plan.drops.map(({ line, name, reason, why }) => ({ line, series: name, reason, why })),
    ...exposition.malformed.map(({ line, text, why }) => ({
      line,
      series: text,
      reason: "malformed-line" as const,
      why,
    })),
    ...texts.map(({ line, name, valueText }) => {
      const reason = SENTINEL_TEXT.test(valueText) ? ("sentinel" as const) : ("not-a-number" as const);
      return { line, series: name, reason, why: `${WHY[reason]}: ${valueText}` };
    }),
  ];
  if (truncated !== undefined) {
    const why = "the page may end within this line";
    drops.push({ line: truncated.line, series: truncated.name, reason: "unterminated-line", why });
  }
  const values = new Float64Array(plan.program.allCells);
  const raw = Float64Array.from(exposition.samples, (sample) => sample.value!);
  run(plan.program, raw, values, (index, reason) => {
    const { line, name, valueText } = exposition.samples[index]!;
    drops.push({ line, series: name, reason, why: `${WHY[reason] ?? reason}: ${valueText}` });
  });
  const samples = exposition.samples.length + texts.length + (truncated === undefined ? 0 : 1);
  return { values, samples, drops: drops.sort((a, b) => a.line - b.line) };
}

/** Returns the values of a row by column, without the missing ones. */
export function valuesOfRow(columns: readonly string[], values: Float64Array, row: number): Record<string, number> {
  const picked: Record<string, number> = {};
  columns.forEach((column, index) => {
    const value = values[row * columns.length + index]!;
    if (!Number.isNaN(value)) picked[column] = value;
  });
  return picked;
}
