import { readFile } from "node:fs/promises";
import type { InvoiceLine } from "../../domain/charge/invoice.ts";
import { CloseError } from "../../processors/ledger/closing/close-error.ts";
import { closePeriod, type CloseRequest } from "../../processors/ledger/closing/close.ts";
import { readInvoice } from "../../runtime/config/invoice.ts";
import { describeProblem } from "../../runtime/config/file-problem.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { closeText } from "../closing/report.ts";
import { closeSettingOf } from "../../services/ledger-rules.ts";
import { periodOfArgument } from "../period.ts";
import { openLedger } from "../store.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { whoRuns } from "../who.ts";

/** The options of `gpu-ledger close`. */
export interface CloseOptions {
  readonly config?: string;
  readonly dryRun?: true;
  readonly invoice?: string;
  readonly provisional?: true;
  readonly listPrices?: true;
  readonly by?: string;
  readonly why?: string;
  readonly format: "text" | "json";
}

/** Closes a billing period, or prints what a close would freeze. Fails with a `CommandError` if the period cannot be closed. */
export async function runClose(name: string, options: CloseOptions, context: CommandContext): Promise<void> {
  const request = await requestOf(name, options);
  const { config: given } = loadLedgerConfig(options.config, context.env);
  const { store, config, ledger } = await openLedger(given, context);
  try {
    if (ledger.book.isList === true && options.listPrices !== true)
      throw new CommandError(`${request.period.name} is not closed by list prices without --list-prices`);
    const { closed: _, ...report } = await closePeriod(store, request, closeSettingOf(config), Date.now());
    context.stdout.write(`${options.format === "json" ? JSON.stringify(report, null, 2) : closeText(report)}\n`);
    if (report.objections.length > 0) throw new CommandError(`${request.period.name} cannot be closed`);
  } catch (error) {
    if (error instanceof CloseError) throw new CommandError(error.message);
    throw error;
  } finally {
    await store.close();
  }
}

async function requestOf(name: string, { dryRun, provisional, invoice, by, why }: CloseOptions): Promise<CloseRequest> {
  const isDryRun = dryRun === true;
  if (!isDryRun && (why ?? "").trim() === "")
    throw new CommandError("--why is required: a close is final, and the audit trail has its reason", 2);
  return {
    period: periodOfArgument(name),
    by: by ?? whoRuns(),
    why: why ?? "",
    invoice: invoice === undefined ? [] : await invoiceOf(invoice),
    isDryRun,
    isProvisional: provisional === true,
  };
}

async function invoiceOf(file: string): Promise<readonly InvoiceLine[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
  const read = readInvoice(text, file.toLowerCase().endsWith(".csv") ? "csv" : "yaml");
  if ("value" in read) return read.value;
  throw new CommandError([`${file} is not a valid invoice:`, ...read.problems.map(describeProblem)].join("\n"), 2);
}
