import { SignJWT, decodeJwt, UnsecuredJWT, generateKeyPair, exportSPKI, importPKCS8, exportPKCS8 } from "jose";
import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createToken } from "../../reports/access/tokens.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startStatusServer, type StatusServer } from "../../runtime/http/status-server.ts";
import { openReports } from "../../services/reports.ts";
import { createBrowserJar, type BrowserJar } from "../support/browser-jar.ts";
import { createTestDatabase } from "../support/database.ts";
import { startOidcIssuer, type Account, type OidcIssuer } from "../support/oidc-issuer.ts";
import { freePort } from "../support/ports.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

const logger = pino({ level: "silent" });
const ANN: Account = {
  sub: "u-ann",
  email: "ann@example.com",
  email_verified: true,
  groups: ["/gpu-ledger/vision", "other"],
};
const BOSS: Account = { sub: "u-boss", preferred_username: "boss", groups: ["/gpu-ledger/finance"] };

describe("the sign-in with OpenID Connect", () => {
  let store: StoreClient;
  let issuer: OidcIssuer;
  let server: StatusServer;
  let url: string;
  let token: string;
  let browser: BrowserJar;

  beforeAll(async () => {
    store = await createTestDatabase("sign_in");
    const [own, of] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${own}`;
    const client = { id: "gpu-ledger", secret: "a secret of the client", publicUrl: url };
    issuer = await startOidcIssuer(of, client);
    const config = parseConfig(
      `
server:
  listen: 127.0.0.1:${own}
  access:
    groups:
      - { group: /gpu-ledger/vision, teams: [vision] }
      - { group: "*-nlp", teams: [nlp], until: 2026-04-01 }
      - { group: /gpu-ledger/finance, role: finance }
  signIn:
    issuer: ${issuer.url}
    clientId: ${client.id}
    clientSecret: ${client.secret}
    publicUrl: ${url}
    session: 5m
`,
      { source: "the test", folder: ".", env: {} },
    );
    const request = { name: "break glass", role: "administrator", teams: [], expiresMillis: undefined } as const;
    token = (await createToken(store, request, { by: "ops", why: "" }, Date.now())).text;
    const reports = await openReports(config, { store, version: "0", isDemo: false, logger });
    const views = {
      status: () => Promise.resolve({}),
      metrics: () => Promise.resolve(""),
      notReady: () => [],
      guard: reports.guard,
    };
    server = await startStatusServer(config.server, views, logger, reports.addRoutes);
  });
  afterAll(async () => {
    await server.stop();
    await issuer.stop();
    await store.close();
  });
  beforeEach(() => {
    browser = createBrowserJar();
    issuer.account = ANN;
  });
  afterEach(() => {
    issuer.forge = undefined;
    vi.useRealTimers();
  });

  const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`;
  const isCallback = ({ origin, pathname }: URL): boolean => origin === url && pathname === "/sign-in/callback";
  const api = (path: string, cookie: string): Promise<Response> =>
    fetch(`${url}/api/v1/${path}`, { headers: { cookie } });
  const cookies = (): string => [...browser.cookies(url)].map(([name, value]) => `${name}=${value}`).join("; ");
  async function lastEntry(): Promise<Record<string, unknown>> {
    const [row] = await store.query<{ who: string; what: string; subject: string }>(
      "SELECT who, what, subject FROM audit WHERE what LIKE 'sign%' ORDER BY at DESC LIMIT 1",
    );
    return row!;
  }
  /** Opens a page with an answer of the issuer in which the ID token is another one. */
  async function openWithIdToken(forge: (idToken: string) => Promise<string>): Promise<Response> {
    issuer.forge = forge;
    return (await browser.open(`${url}/team?team=vision`)).response;
  }
  const signed = (idToken: string, change: object, header: object = {}): Promise<string> =>
    new SignJWT({ ...decodeJwt(idToken), ...change })
      .setProtectedHeader({ alg: "RS256", kid: issuer.key.kid, ...header })
      .sign(issuer.key.privateKey);

  it("leads a browser to the issuer and back to the page that it asked for, with the teams of its groups", async () => {
    const { url: reached, response } = await browser.open(`${url}/team?team=vision&span=7d`);
    expect([response.status, pathOf(reached)]).toEqual([200, "/team?team=vision&span=7d"]);
    expect(await response.text()).toContain("Log out ann@example.com");
    expect((await api("charges?span=7d", cookies())).status).toBe(200);
    expect((await api("prices", cookies())).status).toBe(403);
    expect(await lastEntry()).toEqual({ who: "ann@example.com", what: "signed in", subject: issuer.url });
    expect([...browser.cookies(url).keys()].toSorted()).toEqual(["gpu_ledger_id", "gpu_ledger_session"]);
  });

  it("gives finance what finance may see, and takes no unverified e-mail address as a name", async () => {
    issuer.account = { ...BOSS, email: "ann@example.com", email_verified: false };
    const { response } = await browser.open(`${url}/prices`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Log out boss")]);
  });

  it.each([
    ["without a group that has a role", ["other"]],
    ["whose only rule has ended", ["research-nlp"]],
    ["without groups", undefined],
  ])("refuses a person %s", async (_, groups) => {
    issuer.account = { ...ANN, groups };
    const { response } = await browser.open(url);
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining("none of the groups of ann@example.com has access"),
    ]);
    expect(await lastEntry()).toMatchObject({ who: "ann@example.com", what: "sign-in refused" });
    expect((await api("charges?span=7d", cookies())).status).toBe(401);
  });

  it("refuses a reference instead of groups, with the remedy", async () => {
    issuer.account = { ...ANN, groups: undefined };
    const response = await openWithIdToken((idToken) =>
      signed(idToken, {
        _claim_names: { groups: "src1" },
        _claim_sources: { src1: { endpoint: "https://graph.example.com/x" } },
      }),
    );
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("too many groups")]);
  });

  const forgeries: Readonly<Record<string, (idToken: string) => Promise<string>>> = {
    "another nonce": (idToken) => signed(idToken, { nonce: "another" }),
    "no nonce": (idToken) => signed(idToken, { nonce: undefined }),
    "another issuer": (idToken) => signed(idToken, { iss: "https://login.example.com" }),
    "another audience": (idToken) => signed(idToken, { aud: "another client" }),
    "several audiences and another authorized party": (idToken) =>
      signed(idToken, { aud: ["gpu-ledger", "b"], azp: "b" }),
    "an end 6 minutes ago": (idToken) => signed(idToken, { exp: Math.floor(Date.now() / 1000) - 360 }),
    "no end": (idToken) => signed(idToken, { exp: undefined }),
    "a start in 6 minutes": (idToken) => signed(idToken, { nbf: Math.floor(Date.now() / 1000) + 360 }),
    "no subject": (idToken) => signed(idToken, { sub: undefined }),
    "an unknown key": (idToken) => signed(idToken, {}, { kid: "unknown" }),
    "the signature of another key": async (idToken) =>
      new SignJWT(decodeJwt(idToken))
        .setProtectedHeader({ alg: "RS256", kid: issuer.key.kid })
        .sign((await generateKeyPair("RS256")).privateKey),
    "changed claims under the old signature": (idToken) => {
      const [head, body, signature] = idToken.split(".");
      const claims = JSON.parse(Buffer.from(body!, "base64url").toString()) as object;
      const changed = Buffer.from(JSON.stringify({ ...claims, groups: ["/gpu-ledger/finance"] })).toString("base64url");
      return Promise.resolve([head, changed, signature].join("."));
    },
    "no signature (alg none)": (idToken) => Promise.resolve(new UnsecuredJWT(decodeJwt(idToken)).encode()),
    "HS256 with the client's secret": (idToken) =>
      new SignJWT(decodeJwt(idToken))
        .setProtectedHeader({ alg: "HS256" })
        .sign(new TextEncoder().encode("a secret of the client".padEnd(32))),
    "HS256 with the public key as the secret": async (idToken) => {
      const key = await importPKCS8(await exportPKCS8(issuer.key.privateKey), "RS256", { extractable: true });
      const publicKey = await crypto.subtle
        .exportKey("jwk", key)
        .then(({ n, e, kty }) =>
          crypto.subtle.importKey(
            "jwk",
            { n: n!, e: e!, kty: kty! },
            { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
            true,
            ["verify"],
          ),
        );
      return new SignJWT(decodeJwt(idToken))
        .setProtectedHeader({ alg: "HS256", kid: issuer.key.kid })
        .sign(new TextEncoder().encode(await exportSPKI(publicKey)));
    },
  };

  it.each(Object.keys(forgeries))("refuses an ID token with %s", async (name) => {
    const response = await openWithIdToken(forgeries[name]!);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("The sign-in failed")]);
    expect(browser.cookies(url).has("gpu_ledger_session")).toBe(false);
    expect(await lastEntry()).toMatchObject({ who: "", what: "sign-in failed" });
  });

  it.each([-240, 240])("accepts an ID token of a clock that differs by %i s", async (seconds) => {
    const { exp, iat } = { exp: Math.floor(Date.now() / 1000) + seconds, iat: Math.floor(Date.now() / 1000) + seconds };
    const response = await openWithIdToken((idToken) => signed(idToken, { exp: seconds < 0 ? exp : exp + 600, iat }));
    expect(response.status).toBe(200);
  });

  it("refuses an answer with another state, of another browser, or with an error", async () => {
    const { url: callback } = await browser.open(url, { until: isCallback });
    const other = createBrowserJar();
    const answers = [
      await other.open(callback.href),
      await browser.open(callback.href.replace(/state=[^&]+/, "state=another")),
      await browser.open(`${url}/sign-in/callback`),
    ];
    for (const { response } of answers)
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining("this browser has not begun this sign-in"),
      ]);
    const state = callback.searchParams.get("state")!;
    const denied = `${url}/sign-in/callback?error=access_denied&state=${state}&iss=${encodeURIComponent(issuer.url)}`;
    const { response } = await browser.open(denied);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("access_denied")]);
  });

  it("refuses an answer of another issuer, and a code for the second time", async () => {
    const { url: callback } = await browser.open(url, { until: isCallback });
    const mixed = callback.href.replace(/iss=[^&]+/, `iss=${encodeURIComponent("https://login.example.com")}`);
    expect((await browser.open(mixed)).response.status).toBe(400);
    const before = new Map(browser.cookies(url));
    expect((await browser.open(callback.href)).response.status).toBe(200);
    const thief = createBrowserJar();
    for (const [name, value] of before) thief.cookies(url).set(name, value);
    expect((await thief.open(callback.href)).response.status).toBe(400);
    expect(thief.cookies(url).has("gpu_ledger_session")).toBe(false);
  });

  it.each([
    "https://evil.example.com/",
    "//evil.example.com",
    "/\\\\evil.example.com",
    "/\t/evil.example.com",
    "evil",
    "/sign-in?next=/",
    "/%0d%0aset-cookie:a=b",
  ])("never leads to another site afterwards: %s", async (next) => {
    const { url: reached } = await browser.open(`${url}/sign-in?next=${encodeURIComponent(next)}`, {
      until: ({ origin, pathname }) => origin !== issuer.url && pathname !== "/sign-in/callback",
    });
    expect(reached.origin).toBe(url);
  });

  it("keeps a browser's cookies few, however many sign-ins it begins", async () => {
    for (let count = 0; count < 12; count++) await browser.open(url, { until: ({ origin }) => origin === issuer.url });
    expect(browser.cookies(url).size).toBeLessThanOrEqual(5);
    expect((await browser.open(url)).response.status).toBe(200);
  });

  it("keeps a browser's cookies small enough for a request, however long the pages are that it asks for", async () => {
    for (const sign of ["a", "a", "a", "\u00e9"]) {
      const next = encodeURIComponent(`/team?team=${sign.repeat(1_900)}`);
      await browser.open(`${url}/sign-in?next=${next}`, { until: ({ origin }) => origin === issuer.url });
    }
    expect(cookies().length).toBeLessThan(8_000);
    expect((await browser.open(`${url}/team?team=vision`)).response.status).toBe(200);
  });

  it("keeps an invented error of an answer short and without control characters, in the audit trail too", async () => {
    const { url: callback } = await browser.open(url, { until: isCallback });
    const state = callback.searchParams.get("state")!;
    const error = "x%1b%5b31m".repeat(500);
    const { response } = await browser.open(
      `${url}/sign-in/callback?error=${error}&state=${state}&iss=${encodeURIComponent(issuer.url)}`,
    );
    expect(response.status).toBe(400);
    const { subject } = (await lastEntry()) as { subject: string };
    expect(subject).toMatch(/^[\x20-\x7e]{10,200}$/);
  });

  it("lets a person in whose browser has a token of another site", async () => {
    browser.cookies(url).set("gpu_ledger_token", `gpul_${"A".repeat(43)}`);
    const { url: reached, response } = await browser.open(`${url}/team?team=vision&span=7d`);
    expect([response.status, pathOf(reached)]).toEqual([200, "/team?team=vision&span=7d"]);
    browser.cookies(url).set("gpu_ledger_token", `gpul_${"B".repeat(43)}`);
    expect(await (await browser.open(`${url}/team?team=vision`)).response.text()).toContain("Log out ann@example.com");
  });

  it.each([
    ["cross-site", { "sec-fetch-site": "cross-site" }],
    ["same-site", { "sec-fetch-site": "same-site" }],
    ["foreign", { origin: "https://evil.example" }],
    ["hidden", { origin: "null" }],
  ])("lets no %s page log a browser in or out", async (_, site) => {
    const headers = { ...site, "content-type": "application/x-www-form-urlencoded" };
    for (const path of ["login", "logout"]) {
      const answer = await fetch(`${url}/${path}`, {
        method: "POST",
        redirect: "manual",
        headers,
        body: `token=${token}`,
      });
      expect([path, answer.status, answer.headers.getSetCookie()]).toEqual([path, 403, []]);
    }
    const own = { ...headers, "sec-fetch-site": "same-origin" };
    const answer = await fetch(`${url}/login`, {
      method: "POST",
      redirect: "manual",
      headers: own,
      body: `token=${token}`,
    });
    expect(answer.headers.getSetCookie()).toHaveLength(1);
  });

  it("refuses more groups than a cookie can have, with the reason", async () => {
    issuer.account = {
      ...ANN,
      groups: ["/gpu-ledger/vision", ...Array.from({ length: 500 }, (_, index) => `department-${index}-nlp`)],
    };
    const { response } = await browser.open(url);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining("too many groups that rules name: 501"),
    ]);
  });

  it("accepts the issuer's new keys at once", async () => {
    expect((await browser.open(url)).response.status).toBe(200);
    await issuer.rotate();
    expect((await createBrowserJar().open(url)).response.status).toBe(200);
  });

  it("ends the access of a removed group when the session is renewed", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    await browser.open(`${url}/team?team=vision`);
    const session = cookies();
    issuer.account = { ...ANN, groups: [] };
    vi.setSystemTime(Date.now() + 4 * MINUTE_MILLIS);
    expect((await api("charges?span=7d", session)).status).toBe(200);
    vi.setSystemTime(Date.now() + 2 * MINUTE_MILLIS);
    expect((await api("charges?span=7d", session)).status).toBe(401);
    expect((await browser.open(`${url}/team?team=vision`)).response.status).toBe(403);
  });

  it("does not accept a session that was changed, of another purpose, or of another server", async () => {
    await browser.open(url);
    const session = browser.cookies(url).get("gpu_ledger_session")!;
    const id = browser.cookies(url).get("gpu_ledger_id")!;
    const changed = `${session.slice(0, -4)}AAAA`;
    for (const value of [changed, id, `${session}; gpu_ledger_session=${session}`, "", "a.b.c.d.e"])
      expect((await api("charges?span=7d", `gpu_ledger_session=${value}`)).status).toBe(401);
  });

  it("ends the session here and at the issuer, also for a copy of its cookie", async () => {
    await browser.open(url);
    const copy = cookies();
    expect((await api("charges?span=7d", copy)).status).toBe(200);
    const { response, url: reached } = await browser.open(`${url}/logout`, {
      method: "POST",
      until: ({ origin }) => origin === issuer.url,
    });
    expect(response.status).toBe(303);
    expect(reached.pathname).toBe("/session/end");
    expect(Object.fromEntries(reached.searchParams)).toMatchObject({ post_logout_redirect_uri: `${url}/login` });
    expect(decodeJwt(reached.searchParams.get("id_token_hint")!)).toMatchObject({ sub: ANN.sub });
    expect(browser.cookies(url).size).toBe(0);
    expect((await api("charges?span=7d", copy)).status).toBe(401);
    const entry = await lastEntry();
    expect(entry).toMatchObject({ who: "ann@example.com", what: "signed out" });
    expect(entry["subject"]).toMatch(/^[0-9a-f]{16}$/);
    await browser.open(url);
    expect((await api("charges?span=7d", cookies())).status).toBe(200);
  });

  it("is not needed for a token, which works while the issuer is away", async () => {
    await issuer.stop();
    try {
      const answer = await fetch(`${url}/api/v1/prices`, { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(200);
      const { response } = await browser.open(url);
      expect([response.status, await response.text()]).toEqual([
        503,
        expect.stringContaining("a token works in the meantime"),
      ]);
    } finally {
      await issuer.rotate();
    }
  });

  it("keeps API clients out of redirects: 401 with a problem", async () => {
    const answer = await fetch(`${url}/api/v1/charges?span=7d`, {
      headers: { accept: "text/html" },
      redirect: "manual",
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      401,
      "application/problem+json; charset=utf-8",
    ]);
  });

  it("limits how often an address makes the server ask the issuer", async () => {
    const statuses = await Promise.all(
      Array.from({ length: 150 }, async () => (await fetch(`${url}/sign-in`, { redirect: "manual" })).status),
    );
    expect(new Set(statuses)).toEqual(new Set([303, 429]));
  });
});
