import { CHARGE_STATES } from "../../domain/charge/charge.ts";
import { amountOf } from "../../domain/exact/units.ts";
import { percent } from "../format/percent.ts";
import { isZero, minorUnitOf, roundedChanges, roundedColumn, roundedMoney, signed, unitOf } from "../format/rounded.ts";
import { formatTable, type TableCell } from "../format/table.ts";
import { filterText, titleOfDimension } from "../question/question.ts";
import type { Report, ReportRow } from "./report.ts";
import { monthsIn, spanText } from "../question/span.ts";

const HOUR_DIGITS = 2;

/**
 * Returns reports of one span for people: sentences about the whole, then a table. One report has its cost by state and its trend. Several
 * reports, of policies side by side, have a column each and the difference of the last to the first. Amounts are rounded so that every
 * column adds up.
 */
export function reportsText(reports: readonly [Report, ...Report[]]): string {
  const [first] = reports;
  const heads = [...reports.map(titleOf), ...remarksOf(first)].join("\n");
  if (reports.every(({ rows }) => rows.length === 0)) return `${heads}\n\nno charges\n`;
  const table = reports.length === 1 ? tableOf(first) : tableOfSeveral(reports);
  return `${heads}\n\n${table}${explainCommand(first)}`;
}

/**
 * Returns the command that explains a row down to its samples, with placeholders for the row's values; empty for several months at once.
 */
function explainCommand({ kind, span, policy, by, where }: Report): string {
  if (kind === "chargeback" && monthsIn(span).length > 1) return "";
  const when = kind === "chargeback" ? "--month" : "--span";
  const asked = where.map(filterText);
  const conditions = [...asked, ...by.map((name) => `${name}=…`)];
  const only = conditions.length === 0 ? "" : ` --where ${conditions.join(" ")}`;
  return `\nto explain a row: gpu-ledger explain ${when} ${spanText(span)}${only} --policy ${policy}\n`;
}

function titleOf({ kind, span, policy, currency, total, chargedUntil }: Report): string {
  const { cost, gpuHours } = total;
  const isPart = chargedUntil !== null && chargedUntil < span.until;
  const until = isPart ? `, charged until ${new Date(chargedUntil).toISOString().slice(0, 16)}Z` : "";
  return `${kind} of ${span.name} under the policy ${policy}: ${cost} ${currency} for ${gpuHours} GPU-hours${until}`;
}

function remarksOf({ currency, total, comparedWith }: Report): readonly string[] {
  const { coverage, unpricedGpuHours, corrections, before, change } = total;
  return [
    coverage === null ? "no GPU was held" : `coverage: ${percent(coverage)} of the held time is observed`,
    ...(unpricedGpuHours === "0" ? [] : [`without a price: ${unpricedGpuHours} GPU-hours, which have no cost`]),
    ...(corrections === "0"
      ? []
      : [`corrections of earlier charges (included in the cost): ${corrections} ${currency}`]),
    ...(comparedWith === null || before === null
      ? []
      : [`compared with ${spanText(comparedWith)}: ${before} ${currency}, change ${signed(change!)}`]),
  ];
}

function tableOf(report: Report): string {
  const { by, currency, rows, total, comparedWith } = report;
  const hours = columnOf(rows, (row) => row.gpuHours, unitOf(HOUR_DIGITS));
  const money = (of: (row: ReportRow) => string): readonly string[] => columnOf(rows, of, minorUnitOf(currency));
  const states = by.includes("state") ? [] : CHARGE_STATES.filter((state) => total.states[state] !== undefined);
  const columns: readonly (readonly [head: string, values: readonly string[]])[] = [
    ["GPU-hours", hours],
    [currency, money((row) => row.cost)],
    ...states.map((state) => [state, money((row) => row.states[state] ?? "0").map(orNothing)] as const),
    ["per held GPU-hour", [...rows, total].map((row) => roundedMoney(row.costPerHeldGpuHour, currency))],
    ...(comparedWith === null ? [] : ([["change", changesOf(rows, minorUnitOf(currency))]] as const)),
  ];
  return formatTable(
    [...by.map(titleOfDimension), ...columns.map(([head]) => head)],
    [...rows.keys(), rows.length].map((index) => [
      ...dimensionCells(by, rows[index]),
      ...columns.map(([, values]) => numberCell(values[index]!)),
    ]),
  );
}

function tableOfSeveral(reports: readonly [Report, ...Report[]]): string {
  const [{ by, currency }] = reports;
  const keyOf = (row: ReportRow): string => JSON.stringify(Object.values(row.dimensions));
  const found = reports.map(({ rows }) => new Map(rows.map((row) => [keyOf(row), row])));
  const rows = [...new Map(reports.flatMap((each) => each.rows.map((row) => [keyOf(row), row] as const))).values()];
  const costs = found.map((ofPolicy) => rows.map((row) => amountOf<"currency">(ofPolicy.get(keyOf(row))?.cost ?? "0")));
  const unit = minorUnitOf(currency);
  const columns = [
    ...costs.map((amounts) => roundedColumn(amounts, unit)),
    roundedChanges(costs.at(-1)!, costs[0]!, unit).map(signed),
  ];
  return formatTable(
    [...by.map(titleOfDimension), ...reports.map(({ policy }) => `${policy} ${currency}`), "difference"],
    [...rows.keys(), rows.length].map((index) => [
      ...dimensionCells(by, rows[index]),
      ...columns.map((values) => numberCell(values[index]!)),
    ]),
  );
}

/** Returns the cells of a row's dimensions. The line of sums has its title in the first cell. */
function dimensionCells(by: readonly string[], row: ReportRow | undefined): readonly TableCell[] {
  if (row !== undefined) return by.map((name) => ({ text: row.dimensions[name]! }));
  return by.map((_, index) => ({ text: index === 0 ? "total" : " " }));
}

function orNothing(amount: string): string {
  return isZero(amount) ? "" : amount;
}

function numberCell(text: string): TableCell {
  return text === "" ? { text } : { number: text };
}

/** Returns the changes since the time before, with their sum at the end. */
function changesOf(rows: readonly ReportRow[], unit: bigint): readonly string[] {
  const amounts = (of: (row: ReportRow) => string) => rows.map((row) => amountOf<"currency">(of(row)));
  return roundedChanges(
    amounts(({ cost }) => cost),
    amounts(({ before }) => before!),
    unit,
  ).map(signed);
}

/** Returns a column with its sum at the end. */
function columnOf(rows: readonly ReportRow[], of: (row: ReportRow) => string, unit: bigint): readonly string[] {
  return roundedColumn(
    rows.map((row) => amountOf<"currency">(of(row))),
    unit,
  );
}
