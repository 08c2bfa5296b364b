import { PHASES } from "../../domain/serving/split-rule.ts";
import { amountOf } from "../../domain/exact/units.ts";
import { minorUnitOf, roundedColumn, roundedMoney } from "../format/rounded.ts";
import { formatTable, type TableCell } from "../format/table.ts";
import { titleOfDimension } from "../question/question.ts";
import type { ServingMeasures, ServingReport } from "./read-serving.ts";
import { unmatchedText, type UnmatchedModel } from "./unmatched.ts";

/**
 * Returns a report about serving for people: sentences about the whole, then a table with the costs of phases and of a million tokens.
 * Amounts are rounded so that every column adds up.
 */
export function servingText(report: ServingReport, unmatched: readonly UnmatchedModel[]): string {
  const { rows } = report;
  const heads = [...headsOf(report), ...[unmatchedText(unmatched) ?? []].flat()].join("\n");
  return rows.length === 0 ? `${heads}\n\nno charges of services\n` : `${heads}\n\n${tableOf(report)}`;
}

function headsOf({ span, policy, rule, currency, total }: ServingReport): readonly string[] {
  const { cost, gpuHours, saved, excessTokens, gatewayPrice, margin, unitCosts } = total;
  const { loaded, busy } = unitCosts.millionTokens;
  return [
    `serving in ${span.name} under the policy ${policy}, split by ${rule}: ${cost} ${currency} for ${gpuHours} GPU-hours`,
    ...(loaded === null
      ? []
      : [`a million tokens: ${loaded} ${currency}, of which ${busy} ${currency} for time of work`]),
    ...(saved === "0" ? [] : [`cached tokens saved ${saved} ${currency}, which nobody pays`]),
    ...(gatewayPrice === null
      ? []
      : [`gateways charged ${gatewayPrice} ${currency}, ${besideCost(margin!, currency)}`]),
    ...(excessTokens === "0" ? [] : [`gateways counted ${excessTokens} tokens more than the engines`]),
  ];
}

/** Returns a margin as words: how much more or less than the cost a price is. */
function besideCost(margin: string, currency: string): string {
  return margin.startsWith("-")
    ? `${margin.slice(1)} ${currency} less than the cost`
    : `${margin} ${currency} more than the cost`;
}

function tableOf({ by, currency, rows, total }: ServingReport): string {
  const all = [...rows, total];
  const money = (of: (row: ServingMeasures) => string): readonly string[] =>
    roundedColumn(
      rows.map((row) => amountOf<"currency">(of(row))),
      minorUnitOf(currency),
    );
  const phases = by.includes("phase") ? [] : PHASES.filter((phase) => total.phases[phase] !== undefined);
  const columns: readonly (readonly [head: string, values: readonly string[]])[] = [
    [currency, money((row) => row.cost)],
    ...phases.map((phase) => [phase, money((row) => row.phases[phase] ?? "0")] as const),
    ["prompt tokens", all.map((row) => row.computedTokens)],
    ["cached", all.map((row) => row.cachedTokens)],
    ["generated", all.map((row) => row.generatedTokens)],
    ["per million tokens", all.map((row) => roundedMoney(row.unitCosts.millionTokens.loaded, currency))],
    ["while busy", all.map((row) => roundedMoney(row.unitCosts.millionTokens.busy, currency))],
  ];
  return formatTable(
    [...by.map(titleOfDimension), ...columns.map(([head]) => head)],
    [...all.keys()].map((index) => [
      ...by.map((name, at): TableCell => {
        const row = rows[index];
        return { text: row === undefined ? (at === 0 ? "total" : " ") : row.dimensions[name]! };
      }),
      ...columns.map(([, values]) => cellOf(values[index]!)),
    ]),
  );
}

function cellOf(text: string): TableCell {
  return text === "" ? { text } : { number: text };
}
