import { Option, type Command } from "commander";
import { CARD_KINDS } from "../domain/advice/card.ts";
import type { ActOptions } from "./actions/act.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger act --dry-run`: the changes of cards as files or posts for others to apply. Nothing is changed in a cluster. */
export function addAct(program: Command, context: CommandContext): void {
  program
    .command("act")
    .description(
      "write the changes of cards to files, or post the cards to the webhook of act.webhook; nothing is changed in a cluster",
    )
    .option("--dry-run", "required: gpu-ledger never changes a cluster")
    .option("--out <folder>", "the folder for the files")
    .option("--post", "post each card with its file to the configured webhook")
    .option("--card <id>", "only this card; can be repeated", (id, before: readonly string[]) => [...before, id], [])
    .option("--team <team>", "only cards of a team")
    .addOption(new Option("--kind <kind>", "only cards of a kind").choices(Object.keys(CARD_KINDS)))
    .option("--config <file>", "the configuration")
    .action(async (options: ActOptions) => (await import("./actions/act.ts")).runAct(options, context));
}
