import { readFile } from "node:fs/promises";
import { Option, type Command } from "commander";
import type { InvoiceLine } from "../domain/charge/invoice.ts";
import { PERIOD_FORM, readPeriod, type BillingPeriod } from "../domain/period.ts";
import { CloseError } from "../processors/ledger/closing/close-error.ts";
import { closePeriod, type CloseRequest } from "../processors/ledger/closing/close.ts";
import { readInvoice } from "../runtime/config/invoice.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { describeProblem } from "../runtime/config/file-problem.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { closeText } from "./closing/report.ts";
import { rulesOfConfig } from "../services/ledger-rules.ts";
import { openStore } from "./store.ts";
import { loadLedgerConfig } from "./ledger-config.ts";
import { whoRuns } from "./who.ts";
import { readable } from "./table.ts";

interface Options {
  readonly config?: string;
  readonly dryRun?: true;
  readonly invoice?: string;
  readonly by?: string;
  readonly why?: string;
  readonly format: "text" | "json";
}

/** Adds `gpu-ledger close`: freezes a billing period, or shows what it would freeze. */
export function addClose(program: Command, context: CommandContext): void {
  program
    .command("close")
    .description("close a billing period finally, with a statement for each team and cost center; see docs/closing.md")
    .argument("<period>", "a month, such as 2026-03")
    .option("--dry-run", "show the figures that would be frozen, and the changes since the last dry run")
    .option("--invoice <file>", "the invoice in YAML or CSV; differences become true-ups")
    .option("--by <name>", "the person who closes the period (default: the current user)")
    .option("--why <text>", "the reason; required without --dry-run")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string, options: Options) => {
      const request = await requestOf(name, options);
      const { config } = loadLedgerConfig(options.config, context.env);
      const { rules, policies, priceBookHash } = rulesOfConfig(config);
      const { closing } = ledgerOf(config);
      const setting = { rules, policies, priceBookHash, closingDay: closing.day, accounts: closing.accounts };
      const store = await openStore(config);
      try {
        const { closed: _, ...report } = await closePeriod(store, request, setting, Date.now());
        context.stdout.write(
          `${options.format === "json" ? JSON.stringify(report, null, 2) : readable(closeText(report))}\n`,
        );
      } catch (error) {
        if (error instanceof CloseError) throw new CommandError(error.message);
        throw error;
      } finally {
        await store.close();
      }
    });
}

async function requestOf(name: string, { dryRun, invoice, by, why }: Options): Promise<CloseRequest> {
  const isDryRun = dryRun === true;
  if (!isDryRun && (why ?? "").trim() === "")
    throw new CommandError("--why is required: a close is final, and the audit trail has its reason", 2);
  return {
    period: periodOfArgument(name),
    by: by ?? whoRuns(),
    why: why ?? "",
    invoice: invoice === undefined ? [] : await invoiceOf(invoice),
    isDryRun,
  };
}

/** Returns the period of an argument. Fails with a sentence if the argument is not a period. */
export function periodOfArgument(name: string): BillingPeriod {
  const period = readPeriod(name);
  if (period === undefined) throw new CommandError(`${name}: a billing period must be ${PERIOD_FORM}`, 2);
  return period;
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
