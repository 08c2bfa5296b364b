import { formatAmount } from "../domain/exact/units.ts";
import { gpuHoursOf, groupLines, unpricedGpuHoursOf, type Bill, type BillGroup } from "./bill.ts";
import { formatCsv } from "./csv.ts";
import { formatTable } from "./table.ts";

/** The formats in which bills are printed. */
export const BILL_FORMATS = ["table", "json", "csv"] as const;

/** How bills are printed. */
export interface PrintOptions {
  readonly currency: string;
  /** The dimensions of a line, at least one. */
  readonly by: readonly string[];
  readonly format: (typeof BILL_FORMATS)[number];
}

/** Bills by the names of their policies, in that order, as text that ends with a line break. */
export function printBills(bills: ReadonlyMap<string, Bill>, options: PrintOptions): string {
  switch (options.format) {
    case "table":
      return [...bills].map(([policy, bill]) => printTable(policy, bill, options)).join("\n");
    case "json":
      return printJson(bills, options);
    case "csv":
      return printCsv(bills, options);
  }
}

/** For people: a bill is a head with its sums and a line for each group. */
function printTable(policy: string, bill: Bill, { currency, by }: PrintOptions): string {
  const unpriced = unpricedGpuHoursOf(bill.lines);
  const hours = `${formatAmount(gpuHoursOf(bill.lines))} GPU-hours`;
  const without = unpriced === 0n ? "" : `, ${formatAmount(unpriced)} of them without a price`;
  const rows = groupLines(bill.lines, by).map(({ dimensions, gpuHours, cost }) => [
    ...by.map((name) => ({ text: dimensions[name]! })),
    { number: formatAmount(gpuHours) },
    cost === undefined ? { text: "unpriced" } : { number: cents(formatAmount(cost)) },
  ]);
  const heading = `${policy}: ${cents(formatAmount(bill.total))} ${currency}, ${hours}${without}\n`;
  return `${heading}${formatTable([...by, "GPU-hours", currency], rows)}`;
}

/** For programs: decimal strings, so that nothing is rounded; the cost of a group without any price is null. */
function printJson(bills: ReadonlyMap<string, Bill>, { currency, by }: PrintOptions): string {
  const line = ({ dimensions, gpuHours, cost }: BillGroup): object => ({
    ...dimensions,
    gpuHours: formatAmount(gpuHours),
    cost: cost === undefined ? null : formatAmount(cost),
  });
  const policies = [...bills].map(([policy, { lines, total }]) => [
    policy,
    {
      total: formatAmount(total),
      gpuHours: formatAmount(gpuHoursOf(lines)),
      unpricedGpuHours: formatAmount(unpricedGpuHoursOf(lines)),
      lines: groupLines(lines, by).map(line),
    },
  ]);
  return `${JSON.stringify({ currency, policies: Object.fromEntries(policies) as object }, undefined, 2)}\n`;
}

/** For spreadsheets: all bills in one table, after the lines of each its total; the cost of a group without any price is empty. */
function printCsv(bills: ReadonlyMap<string, Bill>, { currency, by }: PrintOptions): string {
  const heads = ["policy", ...by, "gpuHours", "cost", "currency"].map((text) => ({ text }));
  const rows = [...bills].flatMap(([policy, { lines, total }]) => [
    ...groupLines(lines, by).map(({ dimensions, gpuHours, cost }) => [
      { text: policy },
      ...by.map((name) => ({ text: dimensions[name]! })),
      { number: formatAmount(gpuHours) },
      { number: cost === undefined ? "" : formatAmount(cost) },
      { text: currency },
    ]),
    [
      { text: policy },
      ...by.map((_, place) => ({ text: place === 0 ? "total" : "" })),
      { number: formatAmount(gpuHoursOf(lines)) },
      { number: formatAmount(total) },
      { text: currency },
    ],
  ]);
  return formatCsv([heads, ...rows]);
}

/** An amount of money for people: two digits after the point at least. */
function cents(amount: string): string {
  const [whole, fraction = ""] = amount.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}
