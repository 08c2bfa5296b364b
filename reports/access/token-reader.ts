import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../runtime/clock.ts";
import type { ConfiguredToken } from "../../runtime/config/access.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { isTokenText, tokenHash } from "./token.ts";
import { listTokens } from "./tokens.ts";
import type { Viewer } from "./viewer.ts";

/** For so long what the store said is taken as it is: a token that was taken back works no longer than that, and the wait below. */
const FRESH_MILLIS = 3_000;
/** So long is waited for the store, before what is remembered is taken. */
const WAIT_MILLIS = 1_500;
/** And for so long, while the store is away: long enough for its restart, short for whoever takes a token back meanwhile. */
const REMEMBERED_MILLIS = 30_000;

/** Why a token is not accepted; for the log, and not for whoever asks. */
export type TokenRefusal = "unknown" | "expired" | "revoked";

/** Knows whose a token is. Both methods fail with a `StoreError` where the store is away for longer than is remembered. */
export interface TokenReader {
  viewerOf(token: string): Promise<Viewer | TokenRefusal>;
  /** Whether a token was ever made. One that has ended counts: a server does not open because its last token ends. */
  hasTokens(): Promise<boolean>;
}

/** What is known of a token; times in milliseconds since the epoch. */
interface KnownToken {
  readonly viewer: Viewer;
  readonly expiresMillis: number | undefined;
  readonly isRevoked: boolean;
}

/**
 * Reads tokens from the configuration and from the store. All of the store's are read at once and remembered: whoever asks with
 * tokens that do not exist causes no question. They are found by their hash; how long that takes tells nothing, as nobody can choose
 * a hash digit by digit.
 */
export function createTokenReader(
  store: StoreClient,
  clock: Clock,
  configured: readonly ConfiguredToken[],
): TokenReader {
  const fixed = new Map(configured.map((token) => [token.sha256, ofConfiguration(token)]));
  let remembered: { readonly tokens: ReadonlyMap<string, KnownToken>; readonly atMillis: number } | undefined;
  let reading: { readonly done: Promise<void>; readonly sinceMillis: number } | undefined;

  async function read(sinceMillis: number): Promise<void> {
    try {
      const stored = await listTokens(store);
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
    const now = clock.monotonicMillis();
    if (remembered !== undefined && now - remembered.atMillis < FRESH_MILLIS) return remembered.tokens;
    reading ??= { done: read(now), sinceMillis: now };
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

/** What went wrong, within a time; undefined where nothing did. */
function failureOf(done: Promise<void>, millis: number): Promise<unknown> {
  const late = new StoreError("timeout", "The store does not say in time which tokens there are.", { retriable: true });
  const failed = done.then(
    () => undefined,
    (error: unknown) => error,
  );
  return Promise.race([failed, sleep(Math.max(0, millis), late, { ref: false })]);
}
