import type { Clock } from "../../runtime/clock.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { readAuthorization, readTokenCookie, type HeaderValue, type Site } from "./credentials.ts";
import type { Throttle } from "./throttle.ts";
import { tokenHash, tokenId } from "./token.ts";
import type { TokenReader, TokenRefusal } from "./token-reader.ts";
import { OPEN, type Viewer } from "./viewer.ts";
import type { PersonAsking, PersonReader, PersonRefusal } from "./person.ts";

/** The parts of a request that identify its sender. */
export interface Asking extends Site {
  readonly authorization: HeaderValue;
  readonly cookie: HeaderValue;
  /** The address of the client. If the connection is from a trusted proxy, the address that the proxy forwards. */
  readonly remoteAddress: string;
  /** For people who have signed in. */
  readonly person: PersonAsking;
}

/** A request that is not served. */
export interface Refusal {
  readonly status: 401 | 403 | 429 | 503;
  /** For the client. The message does not show which tokens exist. */
  readonly message: string;
  /** For the log only. */
  readonly reason: "missing" | "malformed" | "throttled" | "store away" | TokenRefusal | PersonRefusal;
  /** For the log only: the id of the given token, and the reason why the store is away. */
  readonly tokenId?: string;
  readonly cause?: StoreError;
}

/** The viewer of a request, and the evidence: a token, a session or a proxy, or that the server is open. */
export interface Authenticated {
  readonly viewer: Viewer;
  readonly by: "token" | "sign-in" | "proxy" | "open";
}

/** Returns the viewer of a request, or the reason why the request is refused. Fails only for bugs. */
export type Authenticate = (asking: Asking) => Promise<Authenticated | { readonly refusal: Refusal }>;

/**
 * Creates the check of every request. The token of `Authorization` counts first, then the session of a person, then the token of a cookie:
 * another site may have set that one.
 */
export function createAuthenticate(parts: {
  /** Returns true if the server serves everybody on this machine without credentials. Fails with a `StoreError`. */
  readonly isOpen: () => Promise<boolean>;
  readonly tokens: TokenReader;
  readonly throttle: Throttle;
  readonly clock: Clock;
  /** The sign-in of people; undefined if only tokens are accepted. */
  readonly people: PersonReader | undefined;
}): Authenticate {
  const { tokens, throttle, clock, people } = parts;
  async function check({ authorization, cookie, isHttps, remoteAddress, person }: Asking): ReturnType<Authenticate> {
    if (await parts.isOpen()) return { viewer: OPEN, by: "open" };
    const header = readAuthorization(authorization);
    const signedIn = header.kind === "token" ? undefined : await people?.viewerOf(person);
    if (typeof signedIn === "object") return signedIn;
    const given = header.kind === "none" ? readTokenCookie(cookie, { isHttps }) : header;
    if (given.kind !== "token" && signedIn !== undefined) return refusedPerson(signedIn);
    if (given.kind === "none") return refused(401, "a token is needed", "missing");
    const found = given.kind === "token" ? await tokens.viewerOf(given.text) : given.kind;
    // A right token is accepted from an address with many wrong ones, because others may share the address.
    if (typeof found !== "string") return { viewer: found, by: "token" };
    if (throttle.isBlocked(remoteAddress, clock.monotonicMillis()))
      return refused(429, "too many wrong tokens from this address: wait a minute", "throttled");
    // A sender with a token that has ended does not guess.
    if (found === "unknown" || found === "malformed") throttle.failed(remoteAddress, clock.monotonicMillis());
    if (signedIn !== undefined) return refusedPerson(signedIn);
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

const PERSON_REFUSALS = {
  "session ended": [401, "the session has ended: sign in again"],
  "no role": [403, "none of your groups has access to this server"],
  "two headers": [403, "the proxy has sent a header of proxySignIn twice: it must replace those of its clients"],
} as const satisfies Readonly<Record<PersonRefusal, readonly [401 | 403, string]>>;

function refusedPerson(reason: PersonRefusal): { readonly refusal: Refusal } {
  const [status, message] = PERSON_REFUSALS[reason];
  return refused(status, message, reason);
}

function refused(
  status: Refusal["status"],
  message: string,
  reason: Refusal["reason"],
  more: Pick<Refusal, "tokenId" | "cause"> = {},
): { readonly refusal: Refusal } {
  return { refusal: { status, message, reason, ...more } };
}
