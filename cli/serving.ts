import { FOCUS_DRAFTS, FOCUS_VERSIONS } from "../domain/focus-version.ts";
import { Option, type Command } from "commander";
import { SPLIT_RULES } from "../domain/serving/split-rule.ts";
import { FOCUS_FORMATS, SERVING_FORMATS } from "../reports/format/names.ts";
import { REPORT_KINDS } from "../reports/question/question.ts";
import type { ServingOptions } from "./actions/serving.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger serving`: the cost of inference by model, tenant, phase and other dimensions, and the cost of a million tokens. */
export function addServing(program: Command, context: CommandContext): void {
  program
    .command("serving")
    .description("report the cost of inference by model, tenant, phase or other dimensions; see docs/serving.md")
    .argument("[span]", "2026-03, 2026-03-01/2026-03-15, 7d, today, lastmonth, …", "month")
    .addOption(
      new Option("--kind <kind>", "chargeback: bookings of whole months; showback: usage in a time")
        .choices([...REPORT_KINDS])
        .default("showback"),
    )
    .option("--by <dimensions>", "the dimensions of the rows; see docs/serving.md", "model")
    .option("--where <conditions...>", "only lines with these values, such as model=qwen3-32b", [])
    .option("--policy <name>", "a kept policy (default: the billing policy)")
    .addOption(
      new Option("--rule <rule>", "the rule of the split (default: the first one of the configuration)").choices([
        ...SPLIT_RULES,
      ]),
    )
    .addOption(
      new Option("--format <format>", "the format")
        .choices([...SERVING_FORMATS, ...Object.keys(FOCUS_FORMATS)])
        .default("table"),
    )
    .option("--explain", "the hours with the highest cost, down to scrapes and GPUs, instead of rows (table or json)")
    .option("--check", "with focus: check the file against the rules of FOCUS, and remove it if the check fails")
    .addOption(
      new Option(
        "--focus-version <version>",
        "with focus: the version of FOCUS (default: focus.version; see docs/focus.md)",
      ).choices([...FOCUS_VERSIONS]),
    )
    .addOption(
      new Option(
        "--focus-draft <version>",
        "with focus 1.4: the columns and keys that this coming version has merged, too",
      ).choices([...FOCUS_DRAFTS]),
    )
    .option("--list-prices", "with focus: write charges by public list prices too, which nobody has checked")
    .option("--out <file>", "write to a file, which appears only when it is complete")
    .option("--config <file>", "the configuration")
    .action(async (name: string, options: ServingOptions) =>
      (await import("./actions/serving.ts")).runServing(name, options, context),
    );
}
