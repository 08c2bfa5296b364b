import { Option, type Command } from "commander";
import type { VerifyOptions } from "./actions/verify.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger verify`: checks from every stored row that closed periods are unchanged. */
export function addVerify(program: Command, context: CommandContext): void {
  program
    .command("verify")
    .description("compute the hashes of closed periods from the stored lines again, and show differences")
    .argument("[period]", "a month, such as 2026-03 (default: all closed months)")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "text or json").choices(["text", "json"]).default("text"))
    .action(async (name: string | undefined, options: VerifyOptions) =>
      (await import("./actions/verify.ts")).runVerify(name, options, context),
    );
}
