import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../runtime/clock.ts";
import type { ConfiguredToken } from "../../runtime/config/access.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { isTokenText, tokenHash } from "./token.ts";
import { listTokens } from "./tokens.ts";
import type { Viewer } from "./viewer.ts";

/** How long the tokens that were read stay valid. A revoked token works no longer than this time plus the wait below. */
const FRESH_MILLIS = 3_000;
/** How long a read waits for the store before it uses the remembered tokens. */
const WAIT_MILLIS = 1_500;
/**
 * How long remembered tokens are used while the store is away: long enough for a restart of the store, short enough for a revocation in
 * that time.
 */
const REMEMBERED_MILLIS = 30_000;

/** The reason why a token is not accepted. For the log, not for the client. */
export type TokenRefusal = "unknown" | "expired" | "revoked";

/** A lookup of the viewer of a token. Both methods fail with a `StoreError` if the store is away for longer than tokens are remembered. */
export interface TokenReader {
  viewerOf(token: string): Promise<Viewer | TokenRefusal>;
  /** Returns true if a token was ever made. Tokens that have ended count: a server does not become open because its last token ends. */
  hasTokens(): Promise<boolean>;
}

const NONE: ReadonlyMap<string, KnownToken> = new Map();

/** A token and its viewer. Times are milliseconds since the epoch. */
interface KnownToken {
  readonly viewer: Viewer;
  readonly expiresMillis: number | undefined;
  readonly isRevoked: boolean;
}

/**
 * Reads tokens from the configuration and from the store. All tokens of the store are read at once and remembered, so that a request with
 * an unknown token causes no query. Without a store, only the tokens of the configuration exist. Tokens are found by their hash. The time of the lookup reveals nothing, because nobody can choose a
 * hash digit by digit.
 */
export function createTokenReader(
  store: StoreClient | undefined,
  clock: Clock,
  configured: readonly ConfiguredToken[],
): TokenReader {
  const fixed = new Map(configured.map((token) => [token.sha256, ofConfiguration(token)]));
  let remembered: { readonly tokens: ReadonlyMap<string, KnownToken>; readonly atMillis: number } | undefined;
  let reading: { readonly done: Promise<void>; readonly sinceMillis: number } | undefined;

  async function read(from: StoreClient, sinceMillis: number): Promise<void> {
    try {
      const stored = await listTokens(from);
      const tokens = stored.map(({ hash, viewer, expiresMillis, revoked }): [string, KnownToken] => [
        hash,
        { viewer, expiresMillis, isRevoked: revoked !== undefined },
      ]);
      remembered = { tokens: new Map(tokens), atMillis: sinceMillis };
    } finally {
      reading = undefined;
    }
  }

  async function storedTokens(): Promise<ReadonlyMap<string, KnownToken>> {
    if (store === undefined) return NONE;
    const now = clock.monotonicMillis();
    if (remembered !== undefined && now - remembered.atMillis < FRESH_MILLIS) return remembered.tokens;
    reading ??= { done: read(store, now), sinceMillis: now };
    const failure = await failureOf(reading.done, WAIT_MILLIS - (now - reading.sinceMillis));
    if (failure !== undefined && !(failure instanceof StoreError)) throw failure;
    if (remembered !== undefined && (failure === undefined || now - remembered.atMillis < REMEMBERED_MILLIS))
      return remembered.tokens;
    throw failure;
  }

  return {
    async viewerOf(token) {
      if (!isTokenText(token)) return "unknown";
      const hash = tokenHash(token);
      const known = fixed.get(hash) ?? (await storedTokens()).get(hash);
      if (known === undefined) return "unknown";
      if (known.isRevoked) return "revoked";
      return known.expiresMillis !== undefined && known.expiresMillis <= clock.nowMillis() ? "expired" : known.viewer;
    },
    async hasTokens() {
      return fixed.size > 0 || (await storedTokens()).size > 0;
    },
  };
}

function ofConfiguration({ name, role, teams, expires }: ConfiguredToken): KnownToken {
  return { viewer: { name, role, teams: role === "viewer" ? teams : "all" }, expiresMillis: expires, isRevoked: false };
}

/** Returns the failure of a promise within a time; undefined if it succeeds. */
function failureOf(done: Promise<void>, millis: number): Promise<unknown> {
  const late = new StoreError("timeout", "The store did not return the tokens within the time limit.", {
    retriable: true,
  });
  const failed = done.then(
    () => undefined,
    (error: unknown) => error,
  );
  return Promise.race([failed, sleep(Math.max(0, millis), late, { ref: false })]);
}
