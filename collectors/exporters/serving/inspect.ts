import type { ServingSeries } from "../../../domain/serving/series.ts";
import { atOnce } from "../../../runtime/steps.ts";
import type { Program } from "../fold/program.ts";
import { failureOf } from "../http/page-error.ts";
import { inspectLines, valuesOfRow, type InspectedDrop } from "../inspect-lines.ts";
import type { Uninspected } from "../inspect.ts";
import { readInFull, type FullReading } from "../page/full.ts";
import { PAGE_LIMITS } from "../page/kind.ts";
import { SERVING_LINES } from "./pages.ts";
import type { ServingPlan } from "./plan.ts";
import { createTenants, TENANT_RULES, type TenantRules } from "./tenants.ts";

/** A line whose value is in a row: the number of the row, and the column. */
export interface UsedLine {
  readonly line: number;
  readonly series: string;
  readonly row: number;
  readonly column: string;
}

/** A line that has no value for a row, with the reason as a sentence. */
export interface UnusedLine {
  readonly line: number;
  readonly series: string;
  readonly why: string;
}

/** The rows that a collector reads from the page of an engine or a gateway, and an explanation of every line. */
export interface ServingInspection {
  readonly exporter: string;
  readonly samples: number;
  readonly rows: readonly { readonly series: ServingSeries; readonly values: Readonly<Record<string, number>> }[];
  readonly used: readonly UsedLine[];
  readonly unused: readonly UnusedLine[];
  /** Lines whose value or whose tenant is left out. */
  readonly drops: readonly InspectedDrop[];
}

/** Reads a page as the collector does and explains each line. Returns the failure if it is not a page of an engine or a gateway. */
export function inspectServingPage(
  page: Buffer,
  complete = true,
  rules: TenantRules = TENANT_RULES,
): ServingInspection | Uninspected {
  const source = createTenants(rules);
  let full: FullReading<ServingPlan>;
  try {
    full = atOnce(readInFull(page, complete, { kind: SERVING_LINES, source, limits: PAGE_LIMITS }));
  } catch (error) {
    return failureOf(error);
  }
  const { values, samples, drops } = inspectLines(full);
  const { shape, program, unused } = full.plan;
  const { columns, series, exporter } = shape;
  const used: UsedLine[] = [];
  const left: UnusedLine[] = [];
  const cellOf = cellsOf(program);
  for (const [index, { line, name }] of full.exposition.samples.entries()) {
    const why = unused[index];
    if (why !== undefined) {
      left.push({ line, series: name, why });
      continue;
    }
    // A duplicate has no cell. It is among the drops.
    if (program.cells[index]! < 0) continue;
    const cell = cellOf(program.cells[index]!);
    used.push({ line, series: name, row: Math.floor(cell / columns.length), column: columns[cell % columns.length]! });
  }
  return {
    exporter,
    samples,
    rows: series.map((each, row) => ({ series: each, values: valuesOfRow(columns, values, row) })),
    used,
    unused: left,
    drops,
  };
}

/** Returns a function that returns the cell of a row to which a cell belongs. */
function cellsOf({ folds, cellCount }: Program): (cell: number) => number {
  const targets = new Map([...folds.from].map((from, index) => [from, folds.to[index]!]));
  return (cell) => (cell < cellCount ? cell : targets.get(cell)!);
}
