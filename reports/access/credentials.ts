import { isTokenText } from "./token.ts";

/** The cookie of pages, whose value is the token. */
export const TOKEN_COOKIE = "gpu_ledger_token";

/** A header as a server gives it. */
export type HeaderValue = string | readonly string[] | undefined;

/** The token that a request brings; `malformed` where it brings something that is none. */
export type GivenToken = { readonly kind: "token"; readonly text: string } | { readonly kind: "none" | "malformed" };

const NONE: GivenToken = { kind: "none" };
const MALFORMED: GivenToken = { kind: "malformed" };
/** A token is of 48 characters. */
const LONGEST_AUTHORIZATION = 256;
/** What browsers keep for one site, and servers take by default. */
const LONGEST_COOKIES = 16_384;

/**
 * Reads the token of a request: that of `Authorization: Bearer`, else that of the cookie. Of a header that was sent twice, is of
 * another scheme, or is longer than it can be, nothing is taken; a wrong header is not made good by a right cookie.
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
  // A site beside ours can add a cookie of the same name: which of two is meant nobody can tell.
  return others.length > 0 ? MALFORMED : ofText(first);
}

function ofText(text: string): GivenToken {
  return isTokenText(text) ? { kind: "token", text } : MALFORMED;
}

/**
 * The value of `Set-Cookie` that logs a browser in. No script reads it, and other sites' requests do not carry it, but for links that
 * somebody follows; it goes with the browser's session.
 */
export function loginCookie(token: string, { isHttps }: { readonly isHttps: boolean }): string {
  return `${TOKEN_COOKIE}=${token}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
}

/** The value of `Set-Cookie` that logs a browser out. */
export const LOGOUT_COOKIE = `${TOKEN_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`;
