import { decodeProtectedHeader } from "jose";
import * as oidc from "openid-client";
import type { SignInConfig } from "../../runtime/config/sign-in.ts";

/** The path of the redirect URI on this server. */
export const CALLBACK_PATH = "/sign-in/callback";

/** A sign-in that a browser has begun. The browser keeps it, encrypted, until the issuer has answered. */
export interface Begun {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A person as the issuer describes them. */
export interface SignedIn {
  /** The claim `sub`: unique and constant at the issuer. */
  readonly subject: string;
  /** The verified e-mail address, or else the user name, or else the subject. */
  readonly name: string;
  readonly groups: readonly string[];
  /** The ID token, for logging out at the issuer. */
  readonly idToken: string;
}

/** A sign-in that failed. The message has the reason, and no secret. */
export class SignInError extends Error {
  /** `issuer-away`: no answer, so a retry can help. `refused`: the issuer, or the check of its answer, refused the sign-in. */
  readonly code: "issuer-away" | "refused";
  readonly retriable: boolean;

  constructor(code: "issuer-away" | "refused", message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = "SignInError";
    this.code = code;
    this.retriable = code === "issuer-away";
  }
}

/** An OpenID Connect issuer. Every method fails with a {@link SignInError}. */
export interface Issuer {
  /** Begins a sign-in. Returns the address to which the browser goes. */
  begin(): Promise<{ readonly url: URL; readonly begun: Begun }>;
  /** Checks the issuer's answer, with the address to which it sent the browser, and returns the person. */
  finish(answer: URL, begun: Begun): Promise<SignedIn>;
  /** Returns the address that logs a person out at the issuer; undefined if the issuer has none, or one without TLS beside its own. */
  logOutUrl(idToken: string | undefined): Promise<URL | undefined>;
}

const ANSWER_SECONDS = 10;
/** The permitted difference of the issuer's clock. */
const CLOCK_SECONDS = 300;
/** The oldest ID token: issuers make one for each sign-in. */
const OLDEST_SECONDS = 86_400;
const MOST_GROUPS = 5_000;
const LONGEST_NAME = 200;
/** The longest code of OAuth 2.0 and OpenID Connect has 26 characters. */
const LONGEST_CODE = 60;

/**
 * Creates the client of an issuer: authorization code flow with PKCE (RFC 7636), with `state`, `nonce` and the issuer identification of RFC
 * 9207. The signature of every ID token is checked with keys that are read for this sign-in, so a rotation of keys needs no wait. Every
 * sign-in reads the discovery document first, so no browser is sent to an issuer that is away.
 */
export function createIssuer(config: SignInConfig): Issuer {
  const redirectUri = `${config.publicUrl}${CALLBACK_PATH}`;
  const permissions = config.issuer.startsWith("https:") ? [] : [oidc.allowInsecureRequests];

  /** Returns a client with the issuer's current addresses, and without remembered keys. */
  async function connect(): Promise<oidc.Configuration> {
    const options = { timeout: ANSWER_SECONDS, execute: permissions };
    const found = await oidc.discovery(new URL(config.issuer), config.clientId, {}, oidc.None(), options).catch(failed);
    const metadata = found.serverMetadata();
    const client = new oidc.Configuration(
      metadata,
      config.clientId,
      { [oidc.clockTolerance]: CLOCK_SECONDS },
      authenticationOf(metadata, config.clientSecret),
    );
    client.timeout = ANSWER_SECONDS;
    for (const apply of [oidc.enableNonRepudiationChecks, ...permissions]) apply(client);
    return client;
  }

  return {
    async begin() {
      const client = await connect();
      const begun = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(client, {
        redirect_uri: redirectUri,
        scope: config.scopes.join(" "),
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: "S256",
      });
      return { url, begun };
    },

    async finish(answer, { state, nonce, verifier }) {
      const client = await connect();
      try {
        const tokens = await oidc.authorizationCodeGrant(client, answer, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const idToken = tokens.id_token!;
        const { alg = "" } = decodeProtectedHeader(idToken);
        if (!(config.algorithms as readonly string[]).includes(alg))
          throw new SignInError("refused", `the ID token has the signature ${alg}, which is not allowed`);
        const claims = tokens.claims()!;
        refuseOdd(claims);
        const groups = await groupsOf(client, claims, tokens.access_token);
        return { subject: claims.sub, name: nameOf(claims), groups, idToken };
      } catch (error) {
        return failed(error);
      }
    },

    async logOutUrl(idToken) {
      const client = await connect();
      const { end_session_endpoint: address = "" } = client.serverMetadata();
      // The address of the browser's next request has the ID token.
      if (!address.startsWith("https:") && !(permissions.length > 0 && address.startsWith("http:"))) return undefined;
      return oidc.buildEndSessionUrl(client, {
        post_logout_redirect_uri: `${config.publicUrl}/login`,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      });
    },
  };

  /** Returns the groups in the ID token, or else in the userinfo. Entra sends a reference instead of more than 200 groups. */
  async function groupsOf(
    client: oidc.Configuration,
    claims: oidc.IDToken,
    accessToken: string,
  ): Promise<readonly string[]> {
    const own = groupsIn(claims, config.groupsClaim);
    if (own !== undefined) return own;
    const hasUserinfo = client.serverMetadata().userinfo_endpoint !== undefined;
    const userinfo = hasUserinfo ? await oidc.fetchUserInfo(client, accessToken, claims.sub) : {};
    const found = groupsIn(userinfo, config.groupsClaim);
    if (found !== undefined) return found;
    if (Object.hasOwn((claims["_claim_names"] ?? {}) as object, config.groupsClaim))
      throw new SignInError(
        "refused",
        `the issuer sends a reference instead of the claim ${config.groupsClaim}, because the person has too many groups; ` +
          "let the issuer send only the groups that are assigned to this application",
      );
    return [];
  }
}

/** Returns the groups of a claim, which can be a path; undefined if there are no such groups. */
export function groupsIn(claims: object, claim: string): readonly string[] | undefined {
  const value = Object.hasOwn(claims, claim)
    ? (claims as Readonly<Record<string, unknown>>)[claim]
    : claim
        .split(".")
        .reduce<unknown>(
          (of, name) =>
            typeof of === "object" && of !== null && Object.hasOwn(of, name)
              ? (of as Readonly<Record<string, unknown>>)[name]
              : undefined,
          claims,
        );
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return undefined;
  const groups = value.filter((each): each is string => typeof each === "string");
  return [...new Set(groups)].slice(0, MOST_GROUPS);
}

/** Throws a {@link SignInError} for an ID token without a subject, or one that was made long ago or in the future. */
function refuseOdd({ sub, iat }: oidc.IDToken): void {
  const age = Date.now() / 1000 - iat;
  if (sub.trim() === "") throw new SignInError("refused", "the ID token has an empty subject (sub)");
  if (age < -CLOCK_SECONDS || age > OLDEST_SECONDS)
    throw new SignInError(
      "refused",
      "the ID token was not made now (iat): compare the clocks of this machine and the issuer",
    );
}

/** An e-mail address counts only if the issuer has verified it, because people can choose others. */
function nameOf(claims: oidc.IDToken): string {
  const { email, email_verified: isVerified, preferred_username: userName } = claims;
  const isName = typeof userName === "string" && userName !== "";
  const name = typeof email === "string" && isVerified === true ? email : isName ? userName : claims.sub;
  return name.slice(0, LONGEST_NAME);
}

function authenticationOf(metadata: oidc.ServerMetadata, secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret);
}

/** Returns the error code of an answer as it may be shown and kept. The browser brings the answer, so its text can be anything. */
function shortOf(code: string): string {
  return code.replaceAll(/[^\x20-\x7e]/g, "").slice(0, LONGEST_CODE);
}

/** Throws the {@link SignInError} of an error. */
function failed(error: unknown): never {
  if (error instanceof SignInError) throw error;
  const cause = error instanceof Error ? error.cause : undefined;
  const isAway =
    error instanceof TypeError ||
    (error instanceof DOMException && error.name === "TimeoutError") ||
    (error instanceof oidc.ClientError && error.code === "OAUTH_TIMEOUT") ||
    (cause instanceof Response && cause.status >= 500);
  const why = error instanceof Error ? error.message : String(error);
  const detail =
    error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError ? error.error : "";
  throw isAway
    ? new SignInError("issuer-away", `the issuer does not answer: ${why}`, { cause: error })
    : new SignInError("refused", [why, shortOf(detail)].filter((text) => text !== "").join(": "), { cause: error });
}
