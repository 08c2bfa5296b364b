import type { Clock } from "../../runtime/clock.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { readToken, type HeaderValue } from "./credentials.ts";
import { isForeignHost, isLoopback } from "../../runtime/http/loopback.ts";
import type { Throttle } from "./throttle.ts";
import { tokenHash, tokenId } from "./token.ts";
import type { TokenReader, TokenRefusal } from "./token-reader.ts";
import { OPEN, type Viewer } from "./viewer.ts";
import type { People, PersonAsking, PersonRefusal } from "../sign-in/people.ts";

/** The parts of a request that identify its sender. */
export interface Asking {
  readonly authorization: HeaderValue;
  readonly cookie: HeaderValue;
  readonly host: HeaderValue;
  /** The address of the client. If the connection is from a trusted proxy, the address that the proxy forwards. */
  readonly remoteAddress: string;
  /** All headers, and the address of the connection itself: for people who have signed in. */
  readonly person: PersonAsking;
}

/** A request that is not served. */
export interface Refusal {
  readonly status: 401 | 403 | 429 | 503;
  /** For the client. The message does not show which tokens exist. */
  readonly message: string;
  /** For the log only. */
  readonly reason: "missing" | "malformed" | "throttled" | "foreign host" | "store away" | TokenRefusal | PersonRefusal;
  /** For the log only: the id of the given token, and the reason why the store is away. */
  readonly tokenId?: string;
  readonly cause?: StoreError;
}

/** The viewer of a request, and the evidence: a token, a session or a proxy, or that the server is open. */
export interface Authenticated {
  readonly viewer: Viewer;
  readonly by: "token" | "sign-in" | "open";
}

/** Returns the viewer of a request, or the reason why the request is refused. Fails only for bugs. */
export type Authenticate = (asking: Asking) => Promise<Authenticated | { readonly refusal: Refusal }>;

/**
 * Creates the check of every request. On a loopback address, the server serves everybody if there are no tokens and people cannot sign in,
 * but no pages of other sites ({@link isForeignHost}). A token counts before the session of a person.
 */
export function createAuthenticate(parts: {
  /** `host:port` of the server. */
  readonly listen: string;
  readonly tokens: TokenReader;
  readonly throttle: Throttle;
  readonly clock: Clock;
  /** The sign-in of people; undefined if only tokens are accepted. */
  readonly people: People | undefined;
}): Authenticate {
  const { tokens, throttle, clock, people } = parts;
  const mayBeOpen = isLoopback(parts.listen) && people === undefined;

  async function check({ authorization, cookie, host, remoteAddress, person }: Asking): ReturnType<Authenticate> {
    if (mayBeOpen && !(await tokens.hasTokens())) {
      return isForeignHost(parts.listen, host)
        ? refused(403, "this server accepts requests only from this machine", "foreign host")
        : { viewer: OPEN, by: "open" };
    }
    const given = readToken(authorization, cookie);
    const signedIn = given.kind === "token" ? undefined : await people?.viewerOf(person);
    if (signedIn === "session ended") return refused(401, "the session has ended: sign in again", signedIn);
    if (signedIn === "no role") return refused(403, "none of your groups has access to this server", signedIn);
    if (signedIn !== undefined) return { viewer: signedIn, by: "sign-in" };
    if (given.kind === "none") return refused(401, "a token is needed", "missing");
    const found = given.kind === "token" ? await tokens.viewerOf(given.text) : given.kind;
    // A right token is accepted from an address with many wrong ones, because others may share the address.
    if (typeof found !== "string") return { viewer: found, by: "token" };
    if (throttle.isBlocked(remoteAddress, clock.monotonicMillis()))
      return refused(429, "too many wrong tokens from this address: wait a minute", "throttled");
    // A sender with a token that has ended does not guess.
    if (found === "unknown" || found === "malformed") throttle.failed(remoteAddress, clock.monotonicMillis());
    const id = given.kind === "token" ? { tokenId: tokenId(tokenHash(given.text)) } : {};
    return refused(401, "the token is not accepted", found, id);
  }

  return async (asking) => {
    try {
      return await check(asking);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return refused(503, "tokens cannot be checked now", "store away", { cause: error });
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
