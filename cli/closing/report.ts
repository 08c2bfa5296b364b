import { payerName } from "../../processors/ledger/closing/document.ts";
import type { CloseReport as WholeReport } from "../../processors/ledger/closing/close.ts";
import { percent } from "../../reports/format/percent.ts";
import { roundedMoney } from "../../reports/format/rounded.ts";
import { renderTable } from "../table.ts";

type CloseReport = Omit<WholeReport, "closed">;

/** Returns a closing or a preview of one as text: its amounts, its receivers, missing data, changes and obstacles. */
export function closeText(report: CloseReport): string {
  const { document } = report;
  const { billingPeriod, total, currency, policies, closedBy, unowned, statements } = document;
  const posted = roundedMoney(total.posted, currency);
  const head = report.isDryRun
    ? `dry run of closing ${billingPeriod}: ${posted} ${currency} under the policy ${policies[0]!.name}`
    : `${billingPeriod} was closed by ${closedBy}: ${posted} ${currency} under the policy ${policies[0]!.name}`;
  const rows = statements.map((statement) => [
    payerName(statement),
    statement.gpuHours,
    statement.effective,
    roundedMoney(statement.posted, currency),
  ]);
  const table = renderTable(
    ["team", "GPU-hours", "cost", "posted"],
    [...rows, ["total", total.gpuHours, total.effective, posted]],
  );
  const figures = [
    `coverage: ${total.coverage === null ? "no GPU was held" : percent(total.coverage)}; ${total.unobservedGpuHours} of ${total.heldGpuHours} held GPU-hours are unobserved`,
    `without a price: ${total.unpricedGpuHours} GPU-hours, which have no cost`,
    `unowned: ${unowned} ${currency}`,
    ...(total.corrections === "0" ? [] : [`corrections of earlier periods: ${total.corrections} ${currency}`]),
    ...document.invoice.map(
      ({ account, instanceType, capacityType, invoiced, computed, difference }) =>
        `${account}, ${instanceType} ${capacityType}: invoiced ${invoiced}, computed ${computed}, true-up ${difference}`,
    ),
    `lines: ${total.lines}, runs: ${document.runs.count}`,
  ];
  return [head, table, figures.join("\n"), ...changes(report), ...obstacles(report)].join("\n\n");
}

function changes({ differences }: CloseReport): readonly string[] {
  if (differences === undefined) return [];
  if (differences.length === 0) return ["No difference from the last dry run."];
  const lines = differences.map(({ what, before, now }) => `  ${what}: ${before || "none"} → ${now || "none"}`);
  return [["Since the last dry run:", ...lines].join("\n")];
}

function obstacles({ isDryRun, objections }: CloseReport): readonly string[] {
  if (!isDryRun) return [];
  if (objections.length === 0) return ["The period can be closed."];
  return [["The period cannot be closed:", ...objections.map(({ sentence }) => `  ${sentence}`)].join("\n")];
}
