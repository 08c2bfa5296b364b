import type { Command } from "commander";
import type { DeadLetterListOptions, DeadLetterOptions, DeadLetterShowOptions } from "./actions/dead-letter.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger dead-letter list|show|replay`: dead letters with their reason and bytes, and their replay. */
export function addDeadLetter(program: Command, context: CommandContext): void {
  const command = program.command("dead-letter").description("show or retry messages that could not be processed");

  command
    .command("list")
    .description("list the dead letters (oldest first)")
    .option("--config <file>", "the configuration")
    .option("--format <format>", "table or json", "table")
    .action(async (options: DeadLetterListOptions) =>
      (await import("./actions/dead-letter.ts")).runDeadLetterList(options, context),
    );

  command
    .command("show")
    .description("show one dead letter with its raw bytes")
    .argument("<id>", "the id from the list")
    .option("--config <file>", "the configuration")
    .option("--raw", "write only the bytes, for a file")
    .action(async (id: string, options: DeadLetterShowOptions) =>
      (await import("./actions/dead-letter.ts")).runDeadLetterShow(id, options, context),
    );

  command
    .command("replay")
    .description("send dead letters to their topic again; they stay in the list")
    .argument("<ids...>", "the ids from the list")
    .option("--config <file>", "the configuration")
    .action(async (ids: readonly string[], options: DeadLetterOptions) =>
      (await import("./actions/dead-letter.ts")).runDeadLetterReplay(ids, options, context),
    );
}
