import { money } from "../ledger.ts";
import { toPage, cell } from "../links.ts";
import type { Thresholds } from "../model.ts";
import type { PanelDraft } from "../section.ts";
import { numberOf } from "../thresholds.ts";
import type { DashboardOptions } from "../options.ts";
import { range, rows } from "../queries.ts";

const MOST = 12;
const NO_CARDS =
  "No processor has a card: no advice was computed yet, all cards are dismissed, or server.moneyOnMetrics is false.";
/** Two processors can have the series while the leader changes. */
const SERIES = 'gpu_ledger_advice_saving_per_month{team=~"$team"}';
const SAVING = `max by (team, kind) (${SERIES})`;
/** The same at the end of the shown time. */
const AT_END = `max by (team, kind) (${SERIES} @ end())`;

/** Panels of what the newest advice would have saved the owners in a month. Dismissed cards are left out. */
export function savings(options: DashboardOptions): readonly PanelDraft[] {
  const unit = money(options);
  const high: Thresholds = [
    { color: "text" },
    { color: "orange", from: numberOf(options, "TeamAdviceSavingsHigh", "saving") },
  ];
  return [
    {
      title: "Savings now",
      description:
        "What the newest cards would have saved each team in a month of 730 h. Freed GPUs go on to cost their price until their nodes leave, so this is not the organization's saving. The page of a card has both.",
      needs: "C",
      view: {
        kind: "table",
        columns: [
          { field: "team", title: "team", link: toPage("The team's cards", `/advice?team=${cell("team")}`) },
          { field: "Value", title: "per month", unit, decimals: 2, thresholds: high },
        ],
        sortedBy: "Value",
      },
      unit: "none",
      queries: [rows(`sum by (team) (${SAVING})`)],
      empty: NO_CARDS,
      width: 8,
    },
    {
      title: "Savings by team",
      description: `Possible savings per month over time, for the ${MOST} teams with the most. A line that stays has cards that nobody takes or dismisses.`,
      needs: "C",
      view: { kind: "series", isStacked: true },
      unit,
      decimals: 0,
      queries: [range(`sum by (team) (${SAVING}) and topk(${MOST}, sum by (team) (${AT_END}))`, "{{team}}")],
      empty: NO_CARDS,
      width: 8,
      height: 9,
    },
    {
      title: "Savings by kind",
      description:
        "Possible savings per month over time, by the kind of change. A large kind can be worth a rule for all teams, such as notebooks that stop at night.",
      needs: "C",
      view: { kind: "series", isStacked: true },
      unit,
      decimals: 0,
      queries: [range(`sum by (kind) (${SAVING})`, "{{kind}}")],
      empty: NO_CARDS,
      width: 8,
      height: 9,
    },
  ];
}
