import { payerName } from "../../processors/closing/document.ts";
import type { MonthStatement, MonthStatements } from "../../processors/closing/month-statements.ts";
import { percent } from "../../reports/format/percent.ts";
import { renderTable } from "../table.ts";

/** The statements of a month as a person reads them, one after the other. */
export function statementsText(month: MonthStatements): string {
  const { billingPeriod, policy, closed, statements } = month;
  const standing =
    closed === null ? "the month is open, and what it says may change" : `closed by ${closed.by} at ${closed.at}`;
  const head = `${billingPeriod} under the policy ${policy}: ${standing}`;
  if (statements.length === 0) return `${head}\n\nno charges`;
  return [head, ...statements.map((statement) => statementText(statement, month))].join("\n\n");
}

function statementText(statement: MonthStatement, { currency }: MonthStatements): string {
  const { effective, posted, hash, gpuHours, states, coverage, unpricedGpuHours, corrections, trueUp } = statement;
  const paid = posted === null ? `${effective} ${currency}` : `${posted} ${currency}, exactly ${effective}`;
  const rows = states.map((one) => [one.state, one.gpuHours, one.cost]);
  return [
    `${payerName(statement)}: ${paid}`,
    renderTable(["state", "GPU-hours", "cost"], [...rows, ["total", gpuHours, effective]]),
    ...(coverage === null ? [] : [`coverage: ${percent(coverage)} of what was held`]),
    ...(unpricedGpuHours === "0" ? [] : [`without a price: ${unpricedGpuHours} GPU-hours, which have no cost`]),
    ...(corrections === "0" ? [] : [`corrections of earlier periods: ${corrections} ${currency}`]),
    ...(trueUp === "0" ? [] : [`true-up to what was invoiced: ${trueUp} ${currency}`]),
    ...(hash === null ? [] : [`SHA-256 ${hash}`]),
  ].join("\n");
}
