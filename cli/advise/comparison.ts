import { difference, formatAmount, sum, type GpuHours, type Money } from "../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import type { AppliedChanges } from "../../processors/ledger/what-if/apply.ts";
import { LEFT } from "../../processors/ledger/what-if/left.ts";
import { formatCsv } from "../../reports/format/csv.ts";
import type { PrintFormat } from "../../reports/format/names.ts";
import { formatTable } from "../../reports/format/table.ts";
import { gpuHoursOf, groupLines, unpricedGpuHoursOf, type Bill, type BillGroup } from "../../scenarios/bill.ts";

/** The bill of a span, the bill that it would have been, and what the changes did. */
export interface Compared {
  readonly was: Bill;
  readonly otherwise: Bill;
  readonly changes: Pick<AppliedChanges, "left" | "changedMillis">;
  readonly span: string;
  /** The policies of the two bills. */
  readonly policies: readonly string[];
}

/** How two bills are printed. */
export interface ComparisonOptions {
  readonly by: readonly string[];
  readonly currency: string;
  readonly format: PrintFormat;
}

/** States of GPUs that nobody holds. */
const FREE = ["unallocated", "stranded"];

/** A group of lines in both bills. Amounts of a bill without such lines are 0. */
interface Row {
  readonly dimensions: Readonly<Record<string, string>>;
  readonly was: Amounts;
  readonly otherwise: Amounts;
}

interface Amounts {
  readonly cost: Money;
  readonly gpuHours: GpuHours;
}

/** Returns two bills side by side as text that ends with a line break. Amounts are exact. */
export function printComparison(compared: Compared, options: ComparisonOptions): string {
  const rows = rowsOf(compared, options.by);
  switch (options.format) {
    case "table":
      return tableOf(compared, rows, options);
    case "json":
      return `${JSON.stringify(jsonOf(compared, rows, options), undefined, 2)}\n`;
    case "csv":
      return csvOf(rows, options);
  }
}

function rowsOf({ was, otherwise }: Compared, by: readonly string[]): readonly Row[] {
  const [before, after] = [groupLines(was.lines, by), groupLines(otherwise.lines, by)];
  const keyOf = ({ dimensions }: Pick<BillGroup, "dimensions">): string =>
    JSON.stringify(by.map((name) => dimensions[name]));
  const find = (groups: readonly BillGroup[], key: string): Amounts => {
    const group = groups.find((each) => keyOf(each) === key);
    return { cost: group?.cost ?? sum([]), gpuHours: group?.gpuHours ?? sum([]) };
  };
  const keys = new Map([...before, ...after].map((group) => [keyOf(group), group.dimensions]));
  return [...keys].map(([key, dimensions]) => ({ dimensions, was: find(before, key), otherwise: find(after, key) }));
}

/** The cost of GPUs that nobody holds. */
function freeCost({ lines }: Bill): Money {
  return sum(lines.flatMap(({ dimensions, cost }) => (FREE.includes(dimensions["state"] ?? "") ? (cost ?? []) : [])));
}

function tableOf(compared: Compared, rows: readonly Row[], { by, currency }: ComparisonOptions): string {
  const { was, otherwise, changes, span, policies } = compared;
  const [policy, other] = policies;
  const under = policy === other ? `the policy ${policy}` : `the policies ${policy} and ${other}`;
  const [free, freeOtherwise] = [freeCost(was), freeCost(otherwise)];
  const table = formatTable(
    [...by, `${currency} as it was`, "otherwise", "difference", "GPU-hours", "otherwise"],
    rows.map((row) => [
      ...by.map((name) => ({ text: row.dimensions[name] ?? "" })),
      { number: formatAmount(row.was.cost) },
      { number: formatAmount(row.otherwise.cost) },
      { number: formatAmount(difference(row.otherwise.cost, row.was.cost)) },
      { number: formatAmount(row.was.gpuHours) },
      { number: formatAmount(row.otherwise.gpuHours) },
    ]),
  );
  const unpriced = unpricedGpuHoursOf(otherwise.lines);
  return [
    `${span} under ${under}: ${formatAmount(was.total)} ${currency} as it was, ${formatAmount(otherwise.total)} otherwise\n\n`,
    table,
    "\n",
    sentence("The organization pays", difference(otherwise.total, was.total), currency),
    sentence("GPUs that nobody holds cost", difference(freeOtherwise, free), currency),
    `The changes affected ${hours(changes.changedMillis)} GPU-hours.\n`,
    ...[...changes.left].map(
      ([because, millis]) => `Left as they were: ${hours(millis)} GPU-hours: ${LEFT[because]}.\n`,
    ),
    ...(unpriced === 0n ? [] : [`Without a price: ${formatAmount(unpriced)} GPU-hours.\n`]),
  ].join("");
}

function sentence(what: string, more: Money, currency: string): string {
  if (more === 0n) return `${what} the same.\n`;
  return `${what} ${formatAmount(more < 0n ? difference(sum([]), more) : more)} ${currency} ${more < 0n ? "less" : "more"}.\n`;
}

/** For people: GPU-hours with at most two digits after the point. */
function hours(millis: number): string {
  return String(Math.round((millis / HOUR_MILLIS) * 100) / 100);
}

function jsonOf(compared: Compared, rows: readonly Row[], { currency }: ComparisonOptions): object {
  const { was, otherwise, changes, span, policies } = compared;
  const billOf = (bill: Bill, index: number): object => ({
    policy: policies[index],
    total: formatAmount(bill.total),
    free: formatAmount(freeCost(bill)),
    gpuHours: formatAmount(gpuHoursOf(bill.lines)),
    unpricedGpuHours: formatAmount(unpricedGpuHoursOf(bill.lines)),
  });
  const amounts = ({ cost, gpuHours }: Amounts): object => ({
    cost: formatAmount(cost),
    gpuHours: formatAmount(gpuHours),
  });
  return {
    span,
    currency,
    was: billOf(was, 0),
    otherwise: billOf(otherwise, 1),
    changedGpuHours: changes.changedMillis / HOUR_MILLIS,
    left: Object.fromEntries([...changes.left].map(([because, millis]) => [because, millis / HOUR_MILLIS])),
    lines: rows.map((row) => ({ ...row.dimensions, was: amounts(row.was), otherwise: amounts(row.otherwise) })),
  };
}

function csvOf(rows: readonly Row[], { by, currency }: ComparisonOptions): string {
  const heads = [...by, "cost", "otherwiseCost", "gpuHours", "otherwiseGpuHours", "currency"].map((text) => ({ text }));
  return formatCsv([
    heads,
    ...rows.map((row) => [
      ...by.map((name) => ({ text: row.dimensions[name] ?? "" })),
      { number: formatAmount(row.was.cost) },
      { number: formatAmount(row.otherwise.cost) },
      { number: formatAmount(row.was.gpuHours) },
      { number: formatAmount(row.otherwise.gpuHours) },
      { text: currency },
    ]),
  ]);
}
