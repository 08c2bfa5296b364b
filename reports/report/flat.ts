import { CHARGE_STATES, type ChargeState } from "../../domain/charge/charge.ts";
import { formatCsv, type CsvCell } from "../format/csv.ts";
import type { Report, ReportRow } from "./report.ts";

/** A row for programs: a value for each column name, as text or exact decimal text; null if there is none. */
export type FlatRow = Readonly<Record<string, string | null>>;

/** The columns of measures, which are numbers. Columns of dimensions are texts. */
const NUMBERS = [
  "gpuHours",
  "heldGpuHours",
  "activeGpuHours",
  "list",
  "contracted",
  "cost",
  "power",
  "corrections",
  "unpricedGpuHours",
  "coverage",
  "costPerHeldGpuHour",
  "costPerActiveGpuHour",
  "kWh",
  "carbonGrams",
  "before",
  "change",
] as const satisfies readonly (keyof ReportRow)[];

/** Returns the column of a state's cost: `idleCost`, `unusedCommitmentCost`. */
function stateColumn(state: ChargeState): string {
  return `${state.replace(/[ -](.)/g, (_, letter: string) => letter.toUpperCase())}Cost`;
}

/** Returns the rows of reports as one table, with policy, span, and the cost by state in columns. No row repeats another. */
export function flatRows(reports: readonly Report[]): readonly FlatRow[] {
  return reports.flatMap((report) =>
    report.rows.map((row) => ({
      policy: report.policy,
      kind: report.kind,
      from: new Date(report.span.from).toISOString(),
      until: new Date(report.span.until).toISOString(),
      ...row.dimensions,
      currency: report.currency,
      prices: report.prices,
      ...Object.fromEntries(NUMBERS.map((name) => [name, row[name]])),
      ...Object.fromEntries(CHARGE_STATES.map((state) => [stateColumn(state), row.states[state] ?? "0"])),
      lines: String(row.lines),
    })),
  );
}

/** The names of the columns of {@link flatRows} that are numbers, `lines` among them. */
export const NUMBER_COLUMNS: ReadonlySet<string> = new Set([...NUMBERS, ...CHARGE_STATES.map(stateColumn), "lines"]);

/** Returns the names of the columns of {@link flatRows}, in their order. */
export function columnsOf([{ by }]: readonly [Report, ...Report[]]): readonly string[] {
  return ["policy", "kind", "from", "until", ...by, "currency", "prices", ...NUMBER_COLUMNS];
}

/** Returns the rows of reports as CSV with a header line. Amounts are exact, and no line is a sum of others. */
export function reportsCsv(reports: readonly [Report, ...Report[]]): string {
  const rows = flatRows(reports);
  const heads = columnsOf(reports);
  const cell = (name: string, value: string | null): CsvCell =>
    NUMBER_COLUMNS.has(name) ? { number: value ?? "" } : { text: value ?? "" };
  return formatCsv([
    heads.map((text) => ({ text })),
    ...rows.map((row) => heads.map((name) => cell(name, row[name] ?? null))),
  ]);
}

/** Returns the rows of reports as NDJSON. Amounts are texts, so that nothing is rounded. */
export function reportsNdjson(reports: readonly Report[]): string {
  return flatRows(reports)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");
}
