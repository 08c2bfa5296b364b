import { Option, type Command } from "commander";
import { ROLES } from "../domain/role.ts";
import type { TokenActorOptions, TokenCreateOptions, TokenListOptions } from "./actions/token.ts";
import type { CommandContext } from "./context.ts";

/** Adds `gpu-ledger token create|list|revoke`: the tokens of readers of reports. */
export function addToken(program: Command, context: CommandContext): void {
  const token = program.command("token").description("create, list and revoke tokens for access to reports");

  acted(token.command("create"))
    .description("create a token and show it once")
    .argument("<name>", "the viewer's name")
    .addOption(
      new Option("--role <role>", "a viewer sees its teams, finance sees all, an administrator can make changes")
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option(
      "--team <team>",
      "a team that a viewer sees; can be repeated",
      (team, before: readonly string[]) => [...before, team],
      [],
    )
    .option("--expires <time>", "never, days such as 90d, or a date or time in UTC", "90d")
    .option("--for-config", "print an entry for server.access.tokens, without an entry in the store")
    .action(async (name: string, options: TokenCreateOptions) =>
      (await import("./actions/token.ts")).runTokenCreate(name, options, context),
    );

  token
    .command("list")
    .description("list the tokens of the store with name, role, teams and end")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async (options: TokenListOptions) => (await import("./actions/token.ts")).runTokenList(options, context));

  acted(token.command("revoke"))
    .description("revoke a token; within 5 seconds the server refuses it")
    .argument("<token>", "the id or the name of the token")
    .action(async (idOrName: string, options: TokenActorOptions) =>
      (await import("./actions/token.ts")).runTokenRevoke(idOrName, options, context),
    );
}

function acted(command: Command): Command {
  return command
    .option("--by <name>", "the person for the audit trail (default: the current user)")
    .option("--why <text>", "the reason for the audit trail")
    .option("--config <file>", "the configuration");
}
