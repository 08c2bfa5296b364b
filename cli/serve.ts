import type { Command } from "commander";
import type { ServeOptions } from "./actions/serve.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger serve`: the API and the pages, from a store that processors fill. Any number of servers may run. */
export function addServe(program: Command, context: CommandContext): void {
  program
    .command("serve")
    .description("serve the API and the pages from a store that processors fill")
    .option("--config <file>", "the configuration")
    .action(async (options: ServeOptions) => (await import("./actions/serve.ts")).runServe(options, context));
}
