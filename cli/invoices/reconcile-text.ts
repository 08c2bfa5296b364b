import { isoText } from "../../domain/time.ts";
import type { Reconciliation } from "../../reports/reconcile/reconcile.ts";
import { doubledSentence } from "../../runtime/store/schema/doubled-exports.ts";
import { statementsOf } from "../../reports/reconcile/statement.ts";
import { renderTable } from "../table.ts";

/** Returns a reconciled month as text: both statements of each account, then the findings. */
export function reconcileText(month: Reconciliation): string {
  const { period, machines, freeNodes, charged, doubled } = month;
  const statements = statementsOf(month);
  if (statements.length === 0) return `${period.name}: no lines of exports`;
  return [
    ...doubled.map((each) => `These costs count more than once: ${doubledSentence(each)}.`),
    ...statements.map(({ source, account, currency, isInvoiced, effective, billed, effectiveRows, billedRows }) =>
      [
        `${period.name}, ${source}, account ${account || "(none)"}, ${isInvoiced ? "invoiced" : "provisional"}`,
        renderTable(
          ["effective cost", currency],
          [...effectiveRows.map(({ what, amount }) => [what, amount]), ["total", effective]],
        ),
        renderTable(
          ["billed cost", currency],
          [...billedRows.map(({ what, amount }) => [what, amount]), ["total", billed]],
        ),
      ].join("\n\n"),
    ),
    ...(charged.length === 0
      ? []
      : [
          renderTable(
            ["charged by the ledger", "cost"],
            charged.map(({ source, charged: cost }) => [source, cost]),
          ),
        ]),
    ...(machines.length === 0
      ? []
      : [
          "Paid for, and no node:",
          renderTable(
            ["machine", "type", "why", "from", "until", "cost", "currency"],
            machines.map(({ machine, instanceType, kind, from, until, effective, currency }) => [
              machine,
              instanceType,
              kind === "outside" ? "outside its node's time" : "joined no cluster",
              isoText(from).slice(0, 16),
              isoText(until).slice(0, 16),
              effective,
              currency,
            ]),
          ),
        ]),
    ...(freeNodes.length === 0
      ? []
      : [
          "Nodes with a cost of 0:",
          renderTable(
            ["cluster", "node", "machine", "hours"],
            freeNodes.map(({ cluster, node, machine, hours }) => [cluster, node, machine, String(hours)]),
          ),
        ]),
  ].join("\n\n");
}
