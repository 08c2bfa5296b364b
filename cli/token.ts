import { Option, type Command } from "commander";
import { ROLES, type Role } from "../domain/role.ts";
import { instantOf, INSTANT_FORM } from "../domain/price/instant.ts";
import {
  TokenError,
  createToken,
  listTokens,
  makeToken,
  revokeToken,
  type TokenRequest,
} from "../reports/access/tokens.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { loadConfig } from "../runtime/config/load.ts";
import { CommandError, type CommandContext } from "./context.ts";
import { openStore } from "./store.ts";
import { configEntry, madeText, tokenRecords, tokensText } from "./token/text.ts";
import { whoRuns } from "./who.ts";
import { DAY_MILLIS } from "../domain/time.ts";

interface ActorOptions {
  readonly config?: string;
  readonly by?: string;
  readonly why?: string;
}

interface CreateOptions extends ActorOptions {
  readonly role: Role;
  readonly team: readonly string[];
  readonly expires: string;
  readonly forConfig?: true;
}

interface ListOptions {
  readonly config?: string;
  readonly format: "table" | "json";
}

/** Adds `gpu-ledger token create|list|revoke`: the tokens of readers of reports. */
export function addToken(program: Command, context: CommandContext): void {
  const token = program.command("token").description("create, list and revoke tokens for access to reports");
  const { stdout, stderr, env } = context;
  async function inStore<Value>(path: string | undefined, act: (store: StoreClient) => Promise<Value>): Promise<Value> {
    const store = await openStore(loadConfig(path, env).config);
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  }

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
    .action((name: string, options: CreateOptions) =>
      orRefused(async () => {
        const now = Date.now();
        const { role, team: teams, expires, config, forConfig } = options;
        const request: TokenRequest = { name, role, teams, expiresMillis: expiresOf(expires, now) };
        const made =
          forConfig === true
            ? makeToken(request)
            : await inStore(config, (store) => createToken(store, request, actorOf(options), now));
        stdout.write(`${made.text}\n${forConfig === true ? `\n${configEntry(request, made)}` : ""}`);
        stderr.write(`${madeText(request, made, forConfig === true)}\n`);
      }),
    );

  token
    .command("list")
    .description("list the tokens of the store with name, role, teams and end")
    .option("--config <file>", "the configuration")
    .addOption(new Option("--format <format>", "table or json").choices(["table", "json"]).default("table"))
    .action(async ({ config, format }: ListOptions) => {
      const records = tokenRecords(await inStore(config, listTokens), Date.now());
      stdout.write(`${format === "json" ? JSON.stringify(records, null, 2) : tokensText(records)}\n`);
    });

  acted(token.command("revoke"))
    .description("revoke a token; within 5 seconds the server refuses it")
    .argument("<token>", "the id or the name of the token")
    .action((idOrName: string, options: ActorOptions) =>
      orRefused(async () => {
        const { id, viewer } = await inStore(options.config, (store) =>
          revokeToken(store, idOrName, actorOf(options), Date.now()),
        );
        stdout.write(`${id} of ${viewer.name} is revoked\n`);
      }),
    );
}

function acted(command: Command): Command {
  return command
    .option("--by <name>", "the person for the audit trail (default: the current user)")
    .option("--why <text>", "the reason for the audit trail")
    .option("--config <file>", "the configuration");
}

function actorOf({ by, why }: ActorOptions): { readonly by: string; readonly why: string } {
  return { by: by ?? whoRuns(), why: why ?? "" };
}

async function orRefused(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof TokenError) throw new CommandError(error.message);
    throw error;
  }
}

function expiresOf(text: string, now: number): number | undefined {
  if (text === "never") return undefined;
  const days = /^([1-9]\d{0,3})d$/.exec(text)?.[1];
  const millis = days === undefined ? instantOf(text) : now + Number(days) * DAY_MILLIS;
  if (millis === undefined)
    throw new CommandError(`--expires ${text}: must be never, days such as 90d, or ${INSTANT_FORM}`, 2);
  if (millis <= now) throw new CommandError(`--expires ${text}: must be in the future`, 2);
  return millis;
}
