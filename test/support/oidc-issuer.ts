import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { exportJWK, generateKeyPair, type CryptoKey, type JWK } from "jose";
import Provider from "oidc-provider";

/** A person who has an account at the issuer. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly preferred_username?: string;
  readonly [claim: string]: unknown;
}

/** A real OpenID Connect issuer on this machine. Every login succeeds at once, as the person of the moment. */
export interface OidcIssuer {
  readonly url: string;
  /** The person who logs in. */
  account: Account;
  /** Replaces the ID token of the next answers of the token endpoint. */
  forge: ((idToken: string) => Promise<string>) | undefined;
  /** The private key of the issuer, with its id. */
  readonly key: { readonly privateKey: CryptoKey; readonly kid: string };
  /** Replaces the keys of the issuer by new ones. */
  rotate(): Promise<void>;
  stop(): Promise<void>;
}

const CLAIMS = { openid: ["sub"], email: ["email", "email_verified"], profile: ["preferred_username", "groups"] };

/** Starts an issuer on a port with one confidential client. */
export async function startOidcIssuer(
  port: number,
  client: { readonly id: string; readonly secret: string; readonly publicUrl: string },
): Promise<OidcIssuer> {
  const url = `http://127.0.0.1:${port}`;
  let key = await newKey("first");
  let server = await listen();

  async function listen(): Promise<Server> {
    const provider = providerOf(url, client, [key.jwk], () => issuer.account);
    provider.use(async (context, next) => {
      await next();
      const body = context.body as { id_token?: string } | undefined;
      if (context.path === "/token" && body?.id_token !== undefined && issuer.forge !== undefined)
        context.body = { ...body, id_token: await issuer.forge(body.id_token) };
    });
    const handle = provider.callback();
    const listening = createServer((request, response) => {
      if (!request.url!.startsWith("/interaction/")) return void handle(request, response);
      void provider.interactionFinished(request, response, { login: { accountId: issuer.account.sub } });
    });
    listening.listen(port, "127.0.0.1");
    await once(listening, "listening");
    return listening;
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }

  const issuer: OidcIssuer = {
    url,
    account: { sub: "u-1" },
    forge: undefined,
    get key() {
      return key;
    },
    async rotate() {
      await close();
      key = await newKey("second");
      server = await listen();
    },
    stop: close,
  };
  return issuer;
}

async function newKey(kid: string): Promise<{ privateKey: CryptoKey; kid: string; jwk: JWK }> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { privateKey, kid, jwk: { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" } };
}

function providerOf(
  url: string,
  client: { readonly id: string; readonly secret: string; readonly publicUrl: string },
  keys: readonly JWK[],
  account: () => Account,
): Provider {
  const provider = new Provider(url, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${client.publicUrl}/sign-in/callback`],
        post_logout_redirect_uris: [`${client.publicUrl}/login`],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    jwks: { keys: [...keys] as never },
    claims: CLAIMS,
    conformIdTokenClaims: false,
    cookies: { keys: ["of the test"] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ ...account(), sub: accountId }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
  // The provider reports that HTTP is for tests alone.
  provider.on("server_error", () => {});
  return provider;
}
