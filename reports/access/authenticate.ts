import type { Clock } from "../../runtime/clock.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { readToken, type HeaderValue } from "./credentials.ts";
import { isLoopback } from "./loopback.ts";
import type { Throttle } from "./throttle.ts";
import { tokenHash, tokenId } from "./token.ts";
import type { TokenReader, TokenRefusal } from "./token-reader.ts";
import { OPEN, type Viewer } from "./viewer.ts";

/** What a request says of who sends it. */
export interface Asking {
  readonly authorization: HeaderValue;
  readonly cookie: HeaderValue;
  readonly host: HeaderValue;
  /** The address of who is connected; behind a proxy that is trusted, of whom it speaks for. */
  readonly remoteAddress: string;
}

/** A request that is not served. */
export interface Refusal {
  readonly status: 401 | 403 | 429 | 503;
  /** For whoever asks: it does not tell which tokens there are. */
  readonly message: string;
  /** For the log alone. */
  readonly reason: "missing" | "malformed" | "throttled" | "foreign host" | "store away" | TokenRefusal;
  /** The same: the id of the token that was given, and why the store is away. */
  readonly tokenId?: string;
  readonly cause?: StoreError;
}

/** Who asks, or why that is not served. Fails for bugs only. */
export type Authenticate = (asking: Asking) => Promise<{ readonly viewer: Viewer } | { readonly refusal: Refusal }>;

/**
 * Makes the one check of every request. On a loopback address everybody is served as long as there is no token at all, but for pages
 * of other sites, which a browser would let read what a name of theirs resolves to ("DNS rebinding"): their `Host` tells.
 */
export function createAuthenticate(parts: {
  /** `host:port` of the server. */
  readonly listen: string;
  readonly tokens: TokenReader;
  readonly throttle: Throttle;
  readonly clock: Clock;
}): Authenticate {
  const { tokens, throttle, clock } = parts;
  const mayBeOpen = isLoopback(parts.listen);

  async function check({ authorization, cookie, host, remoteAddress }: Asking): ReturnType<Authenticate> {
    if (throttle.isBlocked(remoteAddress, clock.monotonicMillis())) {
      return refused(429, "too many wrong tokens from this address: wait a minute", "throttled");
    }
    if (mayBeOpen && !(await tokens.hasTokens())) {
      const isOurs = host === undefined || (typeof host === "string" && isLoopback(host));
      return isOurs ? { viewer: OPEN } : refused(403, "this server is for this machine alone", "foreign host");
    }
    const given = readToken(authorization, cookie);
    if (given.kind === "none") return refused(401, "a token is needed", "missing");
    const found = given.kind === "token" ? await tokens.viewerOf(given.text) : given.kind;
    if (typeof found !== "string") return { viewer: found };
    // Whoever has a token that has ended does not guess.
    if (found === "unknown" || found === "malformed") throttle.failed(remoteAddress, clock.monotonicMillis());
    const id = given.kind === "token" ? { tokenId: tokenId(tokenHash(given.text)) } : {};
    return refused(401, "the token is not accepted", found, id);
  }

  return async (asking) => {
    try {
      return await check(asking);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return refused(503, "tokens cannot be looked up just now", "store away", { cause: error });
    }
  };
}

function refused(
  status: Refusal["status"],
  message: string,
  reason: Refusal["reason"],
  more: Pick<Refusal, "tokenId" | "cause"> = {},
): { readonly refusal: Refusal } {
  return { refusal: { status, message, reason, ...more } };
}
