import { formatAmount } from "../../domain/exact/units.ts";
import { momentText } from "../../domain/time.ts";
import { OUTCOME_AMOUNTS, outcomeJson } from "../../reports/advice/outcome-json.ts";
import { formatCsv } from "../../reports/format/csv.ts";
import { formatTable } from "../../reports/format/table.ts";
import type { CameTrue } from "../../reports/advice/came-true.ts";
import type { PrintFormat } from "../../reports/format/names.ts";

const HEADS = ["id", "kind", "team", "workload", "changed", "verdict", "days", "similar"];

/** Returns what cards promised and what came, per hour, as text that ends with a line break. */
export function printOutcomes(
  outcomes: readonly CameTrue[],
  { currency, format }: { readonly currency: string; readonly format: PrintFormat },
): string {
  if (format === "json")
    return `${JSON.stringify(
      outcomes.map((each) => ({ currency, ...outcomeJson(each) })),
      undefined,
      2,
    )}\n`;
  if (format === "table" && outcomes.length === 0) return "no card has ended, and none was marked as taken\n";
  const rows = outcomes.map(({ card, changedAt, outcome }) => {
    const { namespace, kind, workload, team } = card.subject;
    const changed = momentText(changedAt);
    return [
      ...[card.id, card.kind, team, `${namespace}/${kind}/${workload}`, changed, outcome.verdict].map((text) => ({
        text,
      })),
      { number: String(outcome.days) },
      { number: String(outcome.similar) },
      ...OUTCOME_AMOUNTS.map((name) => ({ number: formatAmount(outcome[name]) })),
    ];
  });
  const heads = [...HEADS, ...OUTCOME_AMOUNTS.map((name) => `${name} per hour`)];
  if (format === "csv") return formatCsv([heads.map((text) => ({ text })), ...rows]);
  return `${formatTable(heads, rows)}\nAmounts are ${currency} per hour. "came" is the expected cost minus the cost after the change.\n`;
}
