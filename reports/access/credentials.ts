import { isTokenText } from "./token.ts";

/** The cookie of pages. Its value is the token. */
const TOKEN_COOKIE = "gpu_ledger_token";

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
  const value = cookieOf(header, TOKEN_COOKIE);
  if (value === undefined) return NONE;
  return value === "malformed" ? MALFORMED : ofText(value);
}

/**
 * Returns the value of a cookie; `undefined` if the request has none, `malformed` if it has several of the name, or too many cookies. A site
 * beside ours can add a cookie of the same name, and then the right one is unknown.
 */
export function cookieOf(header: HeaderValue, cookie: string): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== "string" || header.length > LONGEST_COOKIES) return "malformed";
  const values = pairsOf(header).flatMap(([name, value]) => (name === cookie ? [value] : []));
  return values.length > 1 ? "malformed" : values[0];
}

/** Returns the cookies of a request with their values. */
export function cookiesOf(header: HeaderValue): readonly (readonly [name: string, value: string])[] {
  return typeof header === "string" ? pairsOf(header) : [];
}

function pairsOf(header: string): readonly (readonly [name: string, value: string])[] {
  return header.split(";").map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return [name.trim(), value.join("=").trim()];
  });
}

function ofText(text: string): GivenToken {
  return isTokenText(text) ? { kind: "token", text } : MALFORMED;
}

/** The value of `Set-Cookie` that logs a browser in until its session ends. */
export function loginCookie(token: string, { isHttps }: { readonly isHttps: boolean }): string {
  return setCookie(TOKEN_COOKIE, token, { isHttps });
}

/** The value of `Set-Cookie` that logs a browser out. */
export const LOGOUT_COOKIE = setCookie(TOKEN_COOKIE, "", { isHttps: false, seconds: 0 });

/**
 * Returns the value of `Set-Cookie` for a cookie that scripts cannot read, and that requests of other sites do not carry, except for links
 * that a user follows. Without `seconds`, the cookie ends with the browser's session. Throws an `Error` if the value has characters that
 * could add attributes.
 */
export function setCookie(
  name: string,
  value: string,
  { isHttps, seconds }: { readonly isHttps: boolean; readonly seconds?: number },
): string {
  if (!/^[\w.-]*$/.test(value))
    throw new Error(`the value of the cookie ${name} has other characters than words, . and -`);
  const end = seconds === undefined ? "" : `; Max-Age=${seconds}`;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}${end}`;
}
