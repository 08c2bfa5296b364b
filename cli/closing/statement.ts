import { CHARGE_STATES } from "../../domain/charge/charge.ts";
import { percent } from "../../reports/format/percent.ts";
import type { MonthStatements, Statement } from "../../reports/read/statements.ts";
import { renderTable } from "../table.ts";

/** Returns the statements of a month as text, one after the other. */
export function statementsText(month: MonthStatements): string {
  const { billingPeriod, policy, closed, statements } = month;
  const named = `${billingPeriod} under the policy ${policy}`;
  if (closed === null && statements.length === 0) return `${named}: no charges`;
  const standing =
    closed === null ? "the month is open, and its amounts can change" : `closed by ${closed.by} at ${closed.at}`;
  const head = `${named}: ${standing}`;
  if (statements.length === 0) return `${head}\n\nno charges`;
  return [head, ...statements.map((statement) => statementText(statement, month))].join("\n\n");
}

function statementText(statement: Statement, { currency }: MonthStatements): string {
  const { team, costCenter, cost, posted, hash, gpuHours, coverage, unpricedGpuHours, corrections } = statement;
  const { states, stateGpuHours } = statement;
  const paid = posted === null ? `${cost} ${currency}` : `${posted} ${currency}, exactly ${cost}`;
  const rows = CHARGE_STATES.filter((state) => states[state] !== undefined || stateGpuHours[state] !== undefined).map(
    (state) => [state, stateGpuHours[state] ?? "0", states[state] ?? "0"],
  );
  return [
    `${costCenter === "" ? team : `${team}/${costCenter}`}: ${paid}`,
    renderTable(["state", "GPU-hours", "cost"], [...rows, ["total", gpuHours, cost]]),
    ...(coverage === null ? [] : [`coverage: ${percent(coverage)} of the held time`]),
    ...(unpricedGpuHours === "0" ? [] : [`without a price: ${unpricedGpuHours} GPU-hours, which have no cost`]),
    ...(corrections === "0" ? [] : [`corrections of earlier periods: ${corrections} ${currency}`]),
    ...(hash === null ? [] : [`SHA-256 ${hash}`]),
  ].join("\n");
}
