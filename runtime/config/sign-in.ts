import { z } from "zod";
import { isLoopback } from "../http/loopback.ts";
import { duration } from "./quantity.ts";
import { isWebAddress, list, network, oneOf, secret, text, webAddress, type ConfigSources } from "./words.ts";

/** The signatures of ID tokens that can be allowed: all are asymmetric. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const HTTPS = "an https:// address, or an http:// address of this machine";

const safeAddress = webAddress.refine((url) => url.startsWith("https:") || isLoopback(new URL(url).host), {
  error: HTTPS,
});

const SESSION_KEY = "a text of at least 32 characters";

/** Returns the schema of the sign-in of people with OpenID Connect. */
export const signIn = (sources: ConfigSources) =>
  z.strictObject({
    issuer: safeAddress.describe("The issuer, as in the claim iss. Its discovery document has the other addresses."),
    clientId: text("the id of the client at the issuer").describe("The id of this program at the issuer."),
    clientSecret: secret(sources).optional().describe("The client's secret. Default: none, for a public client."),
    publicUrl: safeAddress
      .refine((url) => new URL(url).pathname === "/", { error: "an address without a path" })
      .transform((url) => new URL(url).origin)
      .describe("The address of this server in browsers. The redirect URI is this address with /sign-in/callback."),
    scopes: list(text("a scope"))
      .default(["openid", "profile", "email"])
      .refine((scopes) => scopes.includes("openid"), { error: "a list with openid" })
      .describe("The requested scopes."),
    groupsClaim: text("the name of a claim, or a path such as realm_access.roles")
      .default("groups")
      .describe("The claim with the groups of a person, in the ID token or else in the userinfo."),
    algorithms: list(oneOf(...ALGORITHMS))
      .default([...ALGORITHMS])
      .describe("The allowed signatures of ID tokens."),
    session: duration("1m", "12h")
      .prefault("15m")
      .describe("The time after which the issuer is asked again. Then changed groups count."),
    sessionKey: secret(sources, SESSION_KEY)
      .refine((key) => key.length >= 32, { error: SESSION_KEY })
      .optional()
      .describe("The key of the sessions' cookies. All servers need the same. Default: a new key at each start."),
  });

const LOG_OUT = "a path that begins with /, or an http:// or https:// address";

/** The schema of the sign-in of people by a proxy in front of the server, such as oauth2-proxy. */
export const proxySignIn = z.strictObject({
  from: list(network)
    .min(1, { error: "at least one address or network" })
    .describe("The addresses of the proxies. Headers from other addresses are ignored."),
  userHeader: text("the name of a header").default("x-forwarded-email").describe("The header with the person's name."),
  groupsHeader: text("the name of a header")
    .default("x-forwarded-groups")
    .describe("The header with the groups, separated by commas."),
  logOutUrl: z
    .string({ error: LOG_OUT })
    .refine((url) => /^\/(?!\/)/.test(url) || isWebAddress(url), { error: LOG_OUT })
    .optional()
    .describe(
      "Where the proxy logs a person out, such as /oauth2/sign_out. Default: pages have no log-out for people.",
    ),
});

/** The configuration of the sign-in. `session` is in milliseconds. */
export type SignInConfig = z.output<ReturnType<typeof signIn>>;

/** The configuration of the sign-in by a proxy. */
export type ProxySignInConfig = z.output<typeof proxySignIn>;
