import { periodOf } from "../../domain/period.ts";
import { reconcile } from "../../reports/invoices/reconcile.ts";
import { statementsOf } from "../../reports/invoices/statement.ts";
import type { CommandContext } from "../context.ts";
import { reconcileText } from "../invoices/reconcile-text.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { periodOfArgument } from "../period.ts";
import { openLedger } from "../store.ts";

/** The options of `gpu-ledger invoices reconcile`. */
export interface InvoicesReconcileOptions {
  readonly config?: string;
  readonly format: "text" | "json";
}

/** Prints both statements of each account of a month, and its findings. */
export async function runInvoicesReconcile(
  name: string | undefined,
  { format, config: file }: InvoicesReconcileOptions,
  context: CommandContext,
): Promise<void> {
  const period = name === undefined ? periodOf(Date.now()) : periodOfArgument(name);
  const { config } = loadLedgerConfig(file, context.env);
  const { store, ledger } = await openLedger(config, context);
  try {
    const month = await reconcile(store, { period, policy: ledger.policies[0].name });
    const text =
      format === "json"
        ? JSON.stringify({ ...month, period: period.name, statements: statementsOf(month) }, null, 2)
        : reconcileText(month);
    context.stdout.write(`${text}\n`);
  } finally {
    await store.close();
  }
}
