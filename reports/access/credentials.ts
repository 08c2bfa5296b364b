import { isTokenText } from "./token.ts";

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

/** Reads the token of `Authorization: Bearer`. A header is malformed if it was sent twice, has another scheme or is too long. */
export function readAuthorization(header: HeaderValue): GivenToken {
  if (header === undefined) return NONE;
  if (typeof header !== "string" || header.length > LONGEST_AUTHORIZATION) return MALFORMED;
  return ofText(/^bearer +(\S+)$/i.exec(header)?.[1] ?? "");
}

/** Reads the token of the cookie of pages. */
export function readTokenCookie(header: HeaderValue, site: Site): GivenToken {
  const value = cookieOf(header, tokenCookie(site));
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

/** How browsers reach this server: by HTTPS or by plain HTTP. */
export interface Site {
  readonly isHttps: boolean;
}

/** Returns the name of a cookie. Browsers accept the prefix only from this host itself, with TLS, so no site beside it can set the cookie. */
export function cookieName(name: string, { isHttps }: Site): string {
  return `${isHttps ? "__Host-" : ""}gpu_ledger_${name}`;
}

/** The cookie of pages. Its value is the token. */
const tokenCookie = (site: Site): string => cookieName("token", site);

/** Returns the value of `Set-Cookie` that logs a browser in until its session ends. */
export function loginCookie(token: string, site: Site): string {
  return setCookie(tokenCookie(site), token, site);
}

/** Returns the value of `Set-Cookie` that logs a browser out. */
export function logoutCookie(site: Site): string {
  return setCookie(tokenCookie(site), "", { ...site, seconds: 0 });
}

/**
 * Returns the value of `Set-Cookie` for a cookie that scripts cannot read, and that requests of other sites do not carry, except for links
 * that a user follows. Without `seconds`, the cookie ends with the browser's session. Throws an `Error` if the value has characters that
 * could add attributes.
 */
export function setCookie(
  name: string,
  value: string,
  { isHttps, seconds }: Site & { readonly seconds?: number },
): string {
  if (!/^[\w.-]*$/.test(value))
    throw new Error(`the value of the cookie ${name} has other characters than words, . and -`);
  const end = seconds === undefined ? "" : `; Max-Age=${seconds}`;
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}${end}`;
}
