import { Option, type Command } from "commander";
import { CARD_KINDS } from "../domain/advice/card.ts";
import { DECISIONS } from "../reports/advice/marks.ts";
import { PRINT_FORMATS } from "../reports/format/names.ts";
import type { AdviseOptions } from "./actions/advise.ts";
import type { AdviseMarkOptions } from "./actions/advise-mark.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger advise`: cards with their savings, or the bill of a time beside the bill after a change. */
export function addAdvise(program: Command, context: CommandContext): void {
  // Options after `mark` belong to `mark`, although `advise` has some of the same names.
  const advise = program.enablePositionalOptions().command("advise").enablePositionalOptions();
  addMark(advise, context);
  advise
    .description(
      "recommend changes with what they would have saved, or compute a past bill after a change; see docs/advice.md",
    )
    .argument(
      "[span]",
      "2026-03, 2026-03-01/2026-03-15, 7d, lastmonth, …; default: the last whole days, or lastmonth with --what-if",
    )
    .option("--team <team>", "only cards of a team")
    .addOption(new Option("--kind <kind>", "only cards of a kind").choices(Object.keys(CARD_KINDS)))
    .option("--card <id>", "one card with its evidence, its change and both bills")
    .option("--outcomes", "the promised and the real savings of cards that ended or were taken")
    .option("--all", "dismissed cards too")
    .option("--what-if <file>", "a change: releases, smaller parts, other GPUs, fewer nodes, prices, a policy")
    .option("--by <dimensions>", "the dimensions of the lines, with --what-if", "team")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "the format of the output").choices([...PRINT_FORMATS]).default("table"))
    .action(async (name: string | undefined, options: AdviseOptions) =>
      (await import("./actions/advise.ts")).runAdvise(name, options, context),
    );
}

/** Adds `gpu-ledger advise mark`: a person's decision about a card, with its reason. */
function addMark(advise: Command, context: CommandContext): void {
  advise
    .command("mark")
    .description("record a decision about a card: taken, dismissed, or open again; dismissed cards are hidden")
    .argument("<card>", "the id of a card that the leading processor has stored")
    .addOption(new Option("--as <decision>", "the decision").choices(DECISIONS).makeOptionMandatory())
    .requiredOption("--why <text>", "the reason, for the page of the card and the audit trail")
    .option("--until <time>", "the end of a dismissal: a date or time in UTC; default: no end")
    .option("--by <name>", "the person who decides (default: the current user)")
    .option("--config <file>", "the configuration")
    .action(async (id: string, options: AdviseMarkOptions) =>
      (await import("./actions/advise-mark.ts")).runAdviseMark(id, options, context),
    );
}
