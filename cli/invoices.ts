import { Option, type Command } from "commander";
import type { InvoicesImportOptions, InvoicesReconcileOptions } from "./actions/invoices.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger invoices`: exports of providers' bills. */
export function addInvoices(program: Command, context: CommandContext): void {
  const invoices = program.command("invoices").description("read exports of providers' bills, and reconcile them");

  invoices
    .command("import")
    .description(
      "read files of an export, or the folders and buckets of the configuration; the same content twice changes nothing",
    )
    .argument("[files...]", "the files of one export (default: what the configured folders and buckets have)")
    .option("--source <name>", "the source of the configuration (default: the only one)")
    .option("--by <name>", "who imports, for the record (default: the user of this machine)")
    .option("--config <file>", "the configuration")
    .action(async (files: readonly string[], options: InvoicesImportOptions) =>
      (await import("./actions/invoices.ts")).runInvoicesImport(files, options, context),
    );

  invoices
    .command("reconcile")
    .description("show where each part of a month's bill went, and what it has that no node was")
    .argument("[period]", "a month, such as 2026-03 (default: the running month)")
    .option("--book", "compute the month by the price book alone, too, and show both costs by pool and model")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string | undefined, options: InvoicesReconcileOptions) =>
      (await import("./actions/invoices.ts")).runInvoicesReconcile(name, options, context),
    );
}
