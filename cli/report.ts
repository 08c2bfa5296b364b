import { FOCUS_VERSIONS } from "../domain/focus-version.ts";
import { Option, type Command } from "commander";
import { FOCUS_FORMATS, LINE_FORMATS, SUM_FORMATS } from "../reports/format/names.ts";
import { REPORT_KINDS } from "../reports/question/question.ts";
import type { ReportOptions } from "./actions/report.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger report`: the sums of a time, grouped by any dimensions, under one kept policy or several side by side. */
export function addReport(program: Command, context: CommandContext): void {
  program
    .command("report")
    .description("report the cost of a time by team or other dimensions, with its trend; see docs/reports.md")
    .argument("[span]", "2026-03, 2026-03-01/2026-03-15, 7d, today, lastmonth, …", "month")
    .addOption(
      new Option("--kind <kind>", "chargeback: bookings of whole months; showback: usage in a time")
        .choices([...REPORT_KINDS])
        .default("showback"),
    )
    .option("--by <dimensions>", "the dimensions of the rows; see docs/scenarios.md", "team")
    .option("--where <conditions...>", "only lines with these values, such as team=vision,nlp", [])
    .option("--policy <names...>", "kept policies, side by side (default: the billing policy)", [])
    .option("--lines", "all lines of the ledger instead of sums")
    .addOption(
      new Option(
        "--format <format>",
        "table, json, ndjson, csv, parquet, html or pdf; of lines csv, ndjson or parquet; focus or focus-parquet for FOCUS, see docs/focus.md",
      ).choices([...new Set([...SUM_FORMATS, ...LINE_FORMATS, ...Object.keys(FOCUS_FORMATS)])]),
    )
    .option("--check", "with focus: check the file against the rules of FOCUS, and remove it if the check fails")
    .addOption(
      new Option(
        "--focus-version <version>",
        "with focus: the version of FOCUS (default: focus.version; see docs/focus.md)",
      ).choices([...FOCUS_VERSIONS]),
    )
    .option("--list-prices", "with focus: write charges by public list prices too, which nobody has checked")
    .option("--link-to <server>", "with html and pdf: the server for links to explanations, https://gpu-ledger.example")
    .option("--out <file>", "write to a file, which appears only when it is complete")
    .option("--config <file>", "the configuration")
    .action(async (name: string, options: ReportOptions) =>
      (await import("./actions/report.ts")).runReport(name, options, context),
    );
}
