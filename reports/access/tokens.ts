import type { StoreClient } from "../../runtime/store/client.ts";
import { insertRecords } from "../../runtime/store/schema/records.ts";
import { generateToken, tokenHash, tokenId } from "./token.ts";
import { ROLES, type Role, type Viewer } from "./viewer.ts";

/** A request to make a token. */
export interface TokenRequest {
  readonly name: string;
  readonly role: Role;
  /** At least one for the role `viewer`, none for the others. */
  readonly teams: readonly string[];
  /** Milliseconds since the epoch; undefined if the token does not expire. */
  readonly expiresMillis: number | undefined;
}

/** The author and the reason of a change to tokens, for the audit trail. */
export interface TokenActor {
  readonly by: string;
  readonly why: string;
}

/** A token in the store. Times are milliseconds since the epoch. */
export interface StoredToken {
  /** Short, printable, not secret. */
  readonly id: string;
  readonly viewer: Viewer;
  readonly hash: string;
  readonly createdMillis: number;
  readonly createdBy: string;
  readonly expiresMillis: number | undefined;
  readonly revoked: { readonly millis: number; readonly by: string } | undefined;
}

/** A token that cannot be made or revoked. The message contains the reason. */
export class TokenError extends Error {
  readonly code = "token-refused";
  readonly retriable = false;

  constructor(message: string) {
    super(message);
    this.name = "TokenError";
  }
}

/** A new token. Its text is stored nowhere and cannot be recovered. */
export interface MadeToken {
  readonly text: string;
  readonly hash: string;
  readonly id: string;
}

/** Makes a token and does not store it. Fails with a {@link TokenError} if the role and the teams do not match. */
export function makeToken({ name, role, teams }: TokenRequest): MadeToken {
  if (!/^\P{Cc}{1,100}$/u.test(name)) throw new TokenError("a token's name is 1 to 100 characters of one line");
  if (role === "viewer" && teams.length === 0) throw new TokenError("a viewer sees teams: name one at least");
  if (role !== "viewer" && teams.length > 0) throw new TokenError(`the role ${role} sees all teams: name none`);
  const text = generateToken();
  const hash = tokenHash(text);
  return { text, hash, id: tokenId(hash) };
}

/**
 * Makes a token and stores its hash. Fails with a {@link TokenError} if the role and the teams do not match, or if a token of this name can
 * still be used. Fails with a `StoreError`.
 */
export async function createToken(
  store: StoreClient,
  request: TokenRequest,
  { by, why }: TokenActor,
  now: number,
): Promise<MadeToken> {
  const made = makeToken(request);
  const { name, role, teams, expiresMillis } = request;
  const other = (await listTokens(store)).find((each) => each.viewer.name === name && isLive(each, now));
  if (other !== undefined) throw new TokenError(`${name} has a token, ${other.id}: revoke it, or choose another name`);
  await insertRecords(store, "access_tokens", [
    {
      id: made.id,
      what: "created",
      at: new Date(now).toISOString(),
      who: by,
      why,
      name,
      role,
      teams,
      hash: made.hash,
      expires_at: expiresMillis === undefined ? null : new Date(expiresMillis).toISOString(),
    },
  ]);
  return made;
}

/** Returns every token that was ever made, oldest first. Fails with a `StoreError`. */
export async function listTokens(store: StoreClient): Promise<readonly StoredToken[]> {
  const rows = await store.query<TokenRow>(
    `SELECT id, what, toUnixTimestamp64Milli(at) AS millis, who, name, role, teams, hash,
       toUnixTimestamp64Milli(expires_at) AS expires
     FROM access_tokens ORDER BY at, id`,
  );
  const revocations = new Map<string, StoredToken["revoked"]>();
  for (const { id, what, millis, who } of rows) {
    if (what === "revoked" && !revocations.has(id)) revocations.set(id, { millis: Number(millis), by: who });
  }
  return rows.flatMap(({ id, what, millis, who, name, role: given, teams, hash, expires }) => {
    const role = ROLES.find((each) => each === given);
    // A role of a later release gives no access here.
    if (what !== "created" || role === undefined) return [];
    return {
      id,
      viewer: { name, role, teams: role === "viewer" ? teams : "all" },
      hash,
      createdMillis: Number(millis),
      createdBy: who,
      expiresMillis: expires === null ? undefined : Number(expires),
      revoked: revocations.get(id),
    };
  });
}

/**
 * Revokes a token by its id or its name. Fails with a {@link TokenError} if no such token can still be used, or if several tokens have the
 * name. Fails with a `StoreError`.
 */
export async function revokeToken(
  store: StoreClient,
  idOrName: string,
  { by, why }: TokenActor,
  now: number,
): Promise<StoredToken> {
  const live = (await listTokens(store)).filter((each) => isLive(each, now));
  const named = live.filter(({ viewer }) => viewer.name === idOrName);
  const found = live.find(({ id }) => id === idOrName) ?? named[0];
  if (found === undefined) throw new TokenError(`${idOrName}: no token of this id or name can be used`);
  if (found.id !== idOrName && named.length > 1) {
    throw new TokenError(
      `${idOrName}: several tokens have this name: ${named.map(({ id }) => id).join(", ")}; take an id`,
    );
  }
  const { id, viewer } = found;
  await insertRecords(store, "access_tokens", [
    {
      id,
      what: "revoked",
      at: new Date(now).toISOString(),
      who: by,
      why,
      name: viewer.name,
      role: viewer.role,
      teams: viewer.teams === "all" ? [] : viewer.teams,
    },
  ]);
  return found;
}

function isLive({ revoked, expiresMillis = Infinity }: StoredToken, now: number): boolean {
  return revoked === undefined && now < expiresMillis;
}

/** 64-bit integers are texts. */
interface TokenRow {
  readonly id: string;
  readonly what: string;
  readonly millis: string;
  readonly who: string;
  readonly name: string;
  readonly role: string;
  readonly teams: readonly string[];
  readonly hash: string;
  readonly expires: string | null;
}
