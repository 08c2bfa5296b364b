import type { Role } from "../../domain/role.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import {
  TokenError,
  createToken,
  listTokens,
  makeToken,
  revokeToken,
  type TokenRequest,
} from "../../reports/access/tokens.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { configEntry, madeText, tokenRecords, tokensText } from "../token/text.ts";
import { whoRuns } from "../who.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

/** The options of `gpu-ledger token revoke`. */
export interface TokenActorOptions {
  readonly config?: string;
  readonly by?: string;
  readonly why?: string;
}

/** The options of `gpu-ledger token create`. */
export interface TokenCreateOptions extends TokenActorOptions {
  readonly role: Role;
  readonly team: readonly string[];
  readonly expires: string;
  readonly forConfig?: true;
}

/** The options of `gpu-ledger token list`. */
export interface TokenListOptions {
  readonly config?: string;
  readonly format: "table" | "json";
}

/** Makes a token and prints it once. Fails with a `CommandError` if the token is refused. */
export async function runTokenCreate(
  name: string,
  options: TokenCreateOptions,
  { stdout, stderr, env }: CommandContext,
): Promise<void> {
  await orRefused(async () => {
    const now = Date.now();
    const { role, team: teams, expires, config, forConfig } = options;
    const request: TokenRequest = { name, role, teams, expiresMillis: expiresOf(expires, now) };
    const made =
      forConfig === true
        ? makeToken(request)
        : await inStore(config, env, (store) => createToken(store, request, actorOf(options), now));
    stdout.write(`${made.text}\n${forConfig === true ? `\n${configEntry(request, made)}` : ""}`);
    stderr.write(`${madeText(request, made, forConfig === true)}\n`);
  });
}

/** Prints the tokens of the store. */
export async function runTokenList(
  { config, format }: TokenListOptions,
  { stdout, env }: CommandContext,
): Promise<void> {
  const records = tokenRecords(await inStore(config, env, listTokens), Date.now());
  stdout.write(`${format === "json" ? JSON.stringify(records, null, 2) : tokensText(records)}\n`);
}

/** Revokes a token. Fails with a `CommandError` if the store has no such token. */
export async function runTokenRevoke(
  idOrName: string,
  options: TokenActorOptions,
  { stdout, env }: CommandContext,
): Promise<void> {
  await orRefused(async () => {
    const { id, viewer } = await inStore(options.config, env, (store) =>
      revokeToken(store, idOrName, actorOf(options), Date.now()),
    );
    stdout.write(`${id} of ${viewer.name} is revoked\n`);
  });
}

async function inStore<Value>(
  path: string | undefined,
  env: NodeJS.ProcessEnv,
  act: (store: StoreClient) => Promise<Value>,
): Promise<Value> {
  const store = await openStore(loadConfig(path, env).config);
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

function actorOf({ by, why }: TokenActorOptions): { readonly by: string; readonly why: string } {
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
