import { formatAmount } from "../domain/exact/units.ts";
import { siteKWh } from "./energy.ts";
import type { Scenario } from "./files.ts";
import { gpuHoursOf, groupLines, unpricedGpuHoursOf, type Bill, type BillGroup } from "./bill.ts";
import { formatCsv } from "../reports/format/csv.ts";
import type { PrintFormat } from "../reports/format/names.ts";
import { formatTable } from "../reports/format/table.ts";
import { groupServed, type ServedLine } from "./served.ts";

/** How bills are printed. */
export interface PrintOptions {
  readonly currency: string;
  /** The dimensions of a line, at least one. */
  readonly by: readonly string[];
  readonly format: PrintFormat;
  /** Of several scenarios the one whose bills these are: a heading of tables, a key of JSON, which then has one line. */
  readonly file?: string;
  /** Where it is given, kWh and grams of CO₂e are printed too. */
  readonly energy?: Scenario["energy"];
}

type Energy = NonNullable<Scenario["energy"]>;

/** The kWh and the grams of a group, empty where it has none. */
function energyTexts(
  { millijoules, carbon }: BillGroup,
  energy: Energy,
): { readonly kWh: string; readonly grams: string } {
  return {
    kWh: millijoules === undefined ? "" : formatAmount(siteKWh(millijoules, energy)),
    grams: carbon === undefined ? "" : formatAmount(carbon),
  };
}

/** Bills by the names of their policies, in that order, as text that ends with a line break. */
export function printBills(bills: ReadonlyMap<string, Bill>, options: PrintOptions): string {
  switch (options.format) {
    case "table":
      return [
        ...(options.file === undefined ? [] : [`${options.file}\n`]),
        ...[...bills].map(([policy, bill]) => printTable(policy, bill, options)),
      ].join("\n");
    case "json":
      return printJson(bills, options);
    case "csv":
      return printCsv(bills, options);
  }
}

/** For people: a bill is a head with its sums and a line for each group. */
function printTable(policy: string, bill: Bill, { currency, by, energy }: PrintOptions): string {
  const unpriced = unpricedGpuHoursOf(bill.lines);
  const hours = `${formatAmount(gpuHoursOf(bill.lines))} GPU-hours`;
  const without = unpriced === 0n ? "" : `, ${formatAmount(unpriced)} of them without a price`;
  const rows = groupLines(bill.lines, by).map((group) => [
    ...by.map((name) => ({ text: group.dimensions[name]! })),
    { number: formatAmount(group.gpuHours) },
    ...(energy === undefined ? [] : Object.values(energyTexts(group, energy)).map(orNothing)),
    group.cost === undefined ? { text: "unpriced" } : { number: cents(formatAmount(group.cost)) },
  ]);
  const energyHeads = energy === undefined ? [] : ["kWh", "g CO₂e"];
  const rules = [...new Set((bill.served ?? []).map(({ rule }) => rule))];
  const served = rules.map((rule) =>
    printServed(
      bill.served!.filter((line) => line.rule === rule),
      { rule, currency },
    ),
  );
  const heading = `${policy}: ${cents(formatAmount(bill.total))} ${currency}, ${hours}${without}\n`;
  return `${heading}${formatTable([...by, "GPU-hours", ...energyHeads, currency], rows)}${served.join("")}`;
}

/** The lines of services under a rule, by model, tenant and phase. */
function printServed(
  lines: readonly ServedLine[],
  { rule, currency }: { readonly rule: string; readonly currency: string },
): string {
  const by = ["model", "tenant", "phase"];
  const rows = groupServed(lines, by).map(({ dimensions, amounts }) => [
    ...by.map((name) => ({ text: dimensions[name]! })),
    ...[amounts.computedTokens, amounts.cachedTokens, amounts.generatedTokens].map((count) => ({
      number: formatAmount(count),
    })),
    { number: cents(formatAmount(amounts.cost)) },
  ]);
  return `\nserving, split by ${rule}\n${formatTable([...by, "prompt tokens", "cached", "generated", currency], rows)}`;
}

/** For programs: decimal strings, so that nothing is rounded; the cost of a group without any price is null. */
function printJson(bills: ReadonlyMap<string, Bill>, { currency, by, energy, file }: PrintOptions): string {
  const line = (group: BillGroup): object => ({
    ...group.dimensions,
    gpuHours: formatAmount(group.gpuHours),
    cost: group.cost === undefined ? null : formatAmount(group.cost),
    ...(energy === undefined ? {} : orNull(energyTexts(group, energy))),
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
  const printed = { currency, policies: Object.fromEntries(policies) as object };
  return `${file === undefined ? JSON.stringify(printed, undefined, 2) : JSON.stringify({ file, ...printed })}\n`;
}

/** For spreadsheets: all bills in one table, after the lines of each its total; the cost of a group without any price is empty. */
function printCsv(bills: ReadonlyMap<string, Bill>, { currency, by, energy }: PrintOptions): string {
  const energyHeads = energy === undefined ? [] : ["kWh", "grams"];
  const energyCells = (group: BillGroup): { readonly number: string }[] =>
    energy === undefined ? [] : Object.values(energyTexts(group, energy)).map((number) => ({ number }));
  const heads = ["policy", ...by, "gpuHours", "cost", "currency", ...energyHeads].map((text) => ({ text }));
  const rows = [...bills].flatMap(([policy, { lines, total }]) => [
    ...groupLines(lines, by).map((group) => [
      { text: policy },
      ...by.map((name) => ({ text: group.dimensions[name]! })),
      { number: formatAmount(group.gpuHours) },
      { number: group.cost === undefined ? "" : formatAmount(group.cost) },
      { text: currency },
      ...energyCells(group),
    ]),
    [
      { text: policy },
      ...by.map((_, index) => ({ text: index === 0 ? "total" : "" })),
      { number: formatAmount(gpuHoursOf(lines)) },
      { number: formatAmount(total) },
      { text: currency },
      ...groupLines(lines, []).flatMap(energyCells),
    ],
  ]);
  return formatCsv([heads, ...rows]);
}

/** Returns a cell with the number, or an empty text if there is none. */
function orNothing(number: string): { readonly number: string } | { readonly text: string } {
  return number === "" ? { text: "" } : { number };
}

function orNull(texts: Readonly<Record<string, string>>): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text === "" ? null : text]));
}

/** An amount of money for people: two digits after the point at least. */
function cents(amount: string): string {
  const [whole, fraction = ""] = amount.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}
