import { isTokenText } from "./token.ts";

/** The cookie of pages. Its value is the token. */
export const TOKEN_COOKIE = "gpu_ledger_token";

/** The value of a header in a server. */
export type HeaderValue = string | readonly string[] | undefined;

/** The token of a request; `malformed` if the request has something that is not a token. */
export type GivenToken = { readonly kind: "token"; readonly text: string } | { readonly kind: "none" | "malformed" };

const NONE: GivenToken = { kind: "none" };
const MALFORMED: GivenToken = { kind: "malformed" };
/** A token has 48 characters. */
const LONGEST_AUTHORIZATION = 256;
/** The limit of browsers for one site, and the default limit of servers. */
const LONGEST_COOKIES = 16_384;

/**
 * Reads the token of a request: from `Authorization: Bearer`, else from the cookie. A header is malformed if it was sent twice, has another
 * scheme or is too long. If `Authorization` is wrong, the cookie is not read.
 */
export function readToken(authorization: HeaderValue, cookie: HeaderValue): GivenToken {
  return authorization === undefined ? ofCookie(cookie) : ofAuthorization(authorization);
}

function ofAuthorization(header: string | readonly string[]): GivenToken {
  if (typeof header !== "string" || header.length > LONGEST_AUTHORIZATION) return MALFORMED;
  return ofText(/^bearer +(\S+)$/i.exec(header)?.[1] ?? "");
}

function ofCookie(header: HeaderValue): GivenToken {
  if (header === undefined) return NONE;
  if (typeof header !== "string" || header.length > LONGEST_COOKIES) return MALFORMED;
  const values = header.split(";").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === TOKEN_COOKIE ? [value.join("=").trim()] : [];
  });
  const [first, ...others] = values;
  if (first === undefined) return NONE;
  // A site beside ours can add a cookie of the same name. The right one of two is unknown.
  return others.length > 0 ? MALFORMED : ofText(first);
}

function ofText(text: string): GivenToken {
  return isTokenText(text) ? { kind: "token", text } : MALFORMED;
}

/**
 * The value of `Set-Cookie` that logs a browser in. Scripts cannot read the cookie. Requests of other sites do not carry it, except for
 * links that a user follows. The cookie ends with the browser's session.
 */
export function loginCookie(token: string, { isHttps }: { readonly isHttps: boolean }): string {
  return `${TOKEN_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
}

/** The value of `Set-Cookie` that logs a browser out. */
export const LOGOUT_COOKIE = `${TOKEN_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`;
