import { Argument, type Command } from "commander";
import type { Shell } from "./actions/completion.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger completion`: the commands, options and choices for the shell, from the declarations of all verbs. */
export function addCompletion(program: Command, context: CommandContext): void {
  program
    .command("completion")
    .description("print a script with which bash, zsh or fish complete the commands and options")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(["bash", "zsh", "fish"]))
    .action(async (shell: Shell) => {
      const { completionScript } = await import("./actions/completion.ts");
      context.stdout.write(completionScript(program, shell));
    });
}
