import { PHASES } from "../../domain/serving/split-rule.ts";
import { formatCsv, type CsvCell } from "../format/csv.ts";
import type { FlatRow } from "../report/flat.ts";
import type { ServingReport, ServingRow } from "./read-serving.ts";

/** The columns of a row without its dimensions. All are numbers. */
const NUMBERS: readonly (readonly [name: string, of: (row: ServingRow) => string | null])[] = [
  ["gpuHours", (row) => row.gpuHours],
  ["list", (row) => row.list],
  ["contracted", (row) => row.contracted],
  ["cost", (row) => row.cost],
  ...PHASES.map((phase) => [`${phase}Cost`, (row: ServingRow) => row.phases[phase] ?? "0"] as const),
  ["computedTokens", (row) => row.computedTokens],
  ["cachedTokens", (row) => row.cachedTokens],
  ["generatedTokens", (row) => row.generatedTokens],
  ["requests", (row) => row.requests],
  ["inferences", (row) => row.inferences],
  ["excessTokens", (row) => row.excessTokens],
  ["saved", (row) => row.saved],
  ["gatewayPrice", (row) => row.gatewayPrice],
  ["margin", (row) => row.margin],
  ["costPerMillionTokens", (row) => row.unitCosts.millionTokens.loaded],
  ["busyCostPerMillionTokens", (row) => row.unitCosts.millionTokens.busy],
  ["prefillCostPerMillionTokens", (row) => row.unitCosts.millionPromptTokens],
  ["decodeCostPerMillionTokens", (row) => row.unitCosts.millionGeneratedTokens],
  ["costPerThousandRequests", (row) => row.unitCosts.thousandRequests],
  ["costPerThousandInferences", (row) => row.unitCosts.thousandInferences],
  ["costPerGpuHour", (row) => row.unitCosts.gpuHour],
  ["kWh", (row) => row.kWh],
  ["carbonGrams", (row) => row.carbonGrams],
];

/** Returns the rows of a report as one table: a value for each column name, as text or exact decimal text. */
function servingRows({ policy, rule, by, rows }: ServingReport): readonly FlatRow[] {
  return rows.map((row) => ({
    policy,
    rule,
    ...Object.fromEntries(by.map((name) => [name, row.dimensions[name]!])),
    ...Object.fromEntries(NUMBERS.map(([name, of]) => [name, of(row)])),
  }));
}

/** Returns the rows of a report as CSV, with a line of heads. */
export function servingCsv(report: ServingReport): string {
  const texts = ["policy", "rule", ...report.by];
  const heads = [...texts, ...NUMBERS.map(([name]) => name)];
  const cell = (name: string, value: string | null): CsvCell =>
    texts.includes(name) ? { text: value ?? "" } : { number: value ?? "" };
  return formatCsv([
    heads.map((head) => ({ verbatim: head })),
    ...servingRows(report).map((row) => heads.map((head) => cell(head, row[head]!))),
  ]);
}

/** Returns the rows of a report as lines of JSON. */
export function servingNdjson(report: ServingReport): string {
  return servingRows(report)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join("");
}
