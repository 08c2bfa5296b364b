import { Option, type Command } from "commander";
import { readDimensions } from "../domain/charge/dimension.ts";
import { reportsCsv, reportsNdjson } from "../reports/report/flat.ts";
import { objectionTo, readFilters, REPORT_KINDS, type ReportKind } from "../reports/report/question.ts";
import { readReport, TooManyGroupsError } from "../reports/report/read.ts";
import type { Report } from "../reports/report/report.ts";
import { readSpan } from "../reports/report/span.ts";
import { reportsText } from "../reports/report/table.ts";
import { ledgerOf } from "../runtime/config/ledger.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { keptPolicies } from "./kept-policies.ts";
import { openStore } from "./store.ts";
import { loadLedgerConfig } from "./ledger-config.ts";

type Reports = readonly [Report, ...Report[]];

const FORMATS: Readonly<Record<string, (reports: Reports) => string>> = {
  table: reportsText,
  json: (reports) => `${JSON.stringify({ reports }, null, 2)}\n`,
  ndjson: reportsNdjson,
  csv: reportsCsv,
};

interface Options {
  readonly kind: ReportKind;
  readonly by: string;
  readonly where: readonly string[];
  readonly policy: readonly string[];
  readonly format: string;
  readonly config?: string;
}

/** `gpu-ledger report`: what a time comes to, grouped by any dimensions, under one kept policy or several side by side. */
export function addReport(program: Command, context: CommandContext): void {
  program
    .command("report")
    .description("what a time costs, by team or any dimension, with its trend; see docs/reports.md")
    .argument("[span]", "2026-03, 2026-03-01/2026-03-15, 7d, today, lastmonth, …", "month")
    .addOption(
      new Option("--kind <kind>", "what was booked in whole months, or what was used in a time")
        .choices([...REPORT_KINDS])
        .default("showback"),
    )
    .option("--by <dimensions>", "what rows are added up by; see docs/scenarios.md", "team")
    .option("--where <conditions...>", "only lines with these values, such as team=vision,nlp", [])
    .option("--policy <names...>", "kept policies, laid side by side; the billing one by default", [])
    .addOption(new Option("--format <format>", "how").choices(Object.keys(FORMATS)).default("table"))
    .option("--config <file>", "the configuration")
    .action(async (name: string, options: Options) => {
      const { span } = orWrongUse("span", readSpan(name, Date.now()));
      const { by } = orWrongUse("--by", readDimensions(options.by));
      const { where } = orWrongUse("--where", readFilters(options.where));
      const objection = objectionTo({ kind: options.kind, span });
      if (objection !== undefined) throw new CommandError(`--kind: ${objection}`, 2);
      const { config } = loadLedgerConfig(options.config, context.env);
      const ledger = ledgerOf(config);
      const [first, ...others] = keptPolicies(ledger, options.policy);
      const store = await openStore(config);
      try {
        const ask = (policy: string): Promise<Report> =>
          readReport(store, { policy, kind: options.kind, span, by, where }, ledger.book.currency);
        const reports: [Report, ...Report[]] = [await ask(first)];
        for (const policy of others) reports.push(await ask(policy));
        context.stdout.write(FORMATS[options.format]!(reports));
      } catch (error) {
        if (error instanceof TooManyGroupsError) throw new CommandError(error.message);
        throw error;
      } finally {
        await store.close();
      }
    });
}

function orWrongUse<Value extends object>(what: string, read: Value | { readonly error: string }): Value {
  if ("error" in read) throw new CommandError(`${what}: ${read.error}`, 2);
  return read;
}
