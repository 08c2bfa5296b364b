import { ledgerOf } from "../../runtime/config/ledger.ts";
import { findUnowned, type UnownedReport } from "../../reports/read/unowned.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { renderTable } from "../table.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

/** The options of `gpu-ledger owners check`. */
export interface OwnersCheckOptions {
  readonly config?: string;
  readonly days: string;
  readonly format: "table" | "json";
}

/** Prints the workloads without a team. Fails with a `CommandError` if there is one. */
export async function runOwnersCheck(
  { config: path, days, format }: OwnersCheckOptions,
  context: CommandContext,
): Promise<void> {
  if (!/^[1-9]\d{0,2}$/.test(days)) throw new CommandError(`--days ${days}: must be a number of days from 1 to 999`, 2);
  const { config } = loadLedgerConfig(path, context.env);
  const { owners: rules, policies } = ledgerOf(config);
  const store = await openStore(config);
  try {
    const until = Date.now();
    const from = until - Number(days) * DAY_MILLIS;
    const report = await findUnowned(store, rules, { policy: policies[0].name, from, until });
    context.stdout.write(`${format === "json" ? JSON.stringify(report, null, 2) : render(report)}\n`);
    const { length } = report.workloads;
    if (length > 0) throw new CommandError(`${length} workload${length === 1 ? " is" : "s are"} unowned`);
  } finally {
    await store.close();
  }
}

function render({ workloads, unownedCost, heldCost }: UnownedReport): string {
  if (workloads.length === 0) return "every workload has a team";
  const rows = workloads.map(({ namespace, workloadKind, workload, pods, gpuHours, cost, refused }) => [
    namespace,
    workloadKind,
    workload,
    String(pods),
    gpuHours,
    cost,
    refused.length === 0 ? "" : `refused: ${refused.join(", ")}`,
  ]);
  const table = renderTable(["namespace", "kind", "workload", "pods", "GPU-hours", "cost", ""], rows);
  return `${table}\n\nunowned: ${unownedCost} of ${heldCost}, the cost of all holders`;
}
