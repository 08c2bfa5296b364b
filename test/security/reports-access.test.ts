import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import Fastify, { type FastifyInstance } from "fastify";
import { createToken, revokeToken } from "../../reports/access/tokens.ts";
import { accessMode } from "../../reports/access/mode.ts";
import { addReports } from "../../reports/routes.ts";
import { createClosing } from "../../services/closing.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { NO_METRICS } from "../../domain/training/metrics.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createReportsServer } from "../support/reports-server.ts";
import { createTestDatabase } from "../support/database.ts";

const WHO = { by: "operations", why: "" };
const logger = pino({ level: "silent" });

describe("the access control of the reports' server", () => {
  let store: StoreClient;
  let server: FastifyInstance;
  const tokens: Record<string, string> = {};

  const get = (url: string, token?: string, headers: Record<string, string> = {}) =>
    server.inject({
      url,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    });
  const portOn = (listen: string) => createPortAccess("server", { listen, access: { tokens: [] } }, { store, logger });
  const modeOn = async (listen: string) => accessMode({ listen, hasTokens: await portOn(listen).hasTokens() });
  async function make(
    name: string,
    request: { role: "viewer" | "finance"; teams: readonly string[] },
    expiresMillis?: number,
  ) {
    const made = await createToken(store, { name, expiresMillis, ...request }, WHO, Date.now());
    tokens[name] = made.text;
    return made;
  }

  beforeAll(async () => {
    store = await createTestDatabase("gate");
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it("is open on a loopback address while there is no token, and on no other address", async () => {
    expect(await modeOn("127.0.0.1:8080")).toBe("open");
    const open = await createReportsServer(store, Date.now(), "");
    const login = await open.fastify.inject({
      method: "POST",
      url: "/login",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: new URLSearchParams({ token: "x; Domain=example.com" }).toString(),
    });
    // Nothing is checked, so nothing is kept.
    expect([login.statusCode, login.headers["set-cookie"]]).toEqual([303, undefined]);
    await open.close();
    await expect(modeOn("0.0.0.0:8080")).rejects.toThrow("refuses to start without authentication");
    await make("finance's", { role: "finance", teams: [] });
    await make("vision's", { role: "viewer", teams: ["vision"] });
    await make("old", { role: "finance", teams: [] }, Date.now() - 1);
    expect(await modeOn("0.0.0.0:8080")).toBe("tokens");
    const access = portOn("0.0.0.0:8080");
    const config = parseConfig("", { source: "the test", folder: ".", env: {} });
    server = Fastify();
    const ledger = ledgerOf(config);
    const { focus, practices, training, deliveries } = config;
    const of = {
      store,
      ledger,
      closing: createClosing(config, store, Date.now),
      focus,
      practices,
      training,
      trainingMetrics: NO_METRICS,
      deliveries,
      rules: "",
      access,
      logger,
      version: "0",
      isDemo: false,
      now: Date.now,
      env: {},
    };
    access.guardRoutes(server);
    await addReports(server, of);
    await server.ready();
  });

  it.each([
    { url: "/api/v1/charges" },
    { url: "/api/v1/openapi.json" },
    { url: "/api/v1/docs/" },
    { url: "/api/v1/nothing" },
    { url: "/allocation/compute?window=1d" },
    { url: "/" },
    { url: "/nothing" },
  ])("returns nothing of $url without a token, or with a wrong one", async ({ url }) => {
    for (const token of [undefined, `gpul_${"A".repeat(43)}`, "nonsense", tokens["old"]]) {
      const answer = await get(url, token);
      expect(answer.statusCode).toBe(401);
      expect(answer.body).not.toMatch(/USD|vision|schema/);
    }
  });

  it("accepts a token, and sends headers that keep answers private", async () => {
    for (const url of ["/api/v1/charges", "/", "/api/v1/docs/", "/allocation/compute?window=1d"]) {
      const answer = await get(url, tokens["finance's"]);
      expect({ url, status: answer.statusCode }).toEqual({ url, status: 200 });
      expect(answer.headers).toMatchObject({
        "content-security-policy": expect.stringContaining("frame-ancestors") as string,
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
      });
    }
    expect((await get("/prices", tokens["vision's"])).statusCode).toBe(403);
  });

  it("gives a browser a cookie for its token, which no script can read, and removes it again", async () => {
    const page = await get("/login");
    expect(page.statusCode).toBe(200);
    const give = (token: string, next: Readonly<Record<string, string>> = {}) =>
      server.inject({
        method: "POST",
        url: "/login",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        payload: new URLSearchParams({ token, ...next }).toString(),
      });
    const wrong = await give("gpul_wrong");
    expect(wrong.statusCode).toBe(401);
    expect(wrong.headers["set-cookie"]).toBeUndefined();
    const right = await give(` ${tokens["finance's"]} `);
    expect(right).toMatchObject({ statusCode: 303, headers: { location: "/" } });
    for (const [next, location] of [
      ["/fleet?span=2026-10", "/fleet?span=2026-10"],
      ["https://elsewhere.example/fleet", "/"],
      ["//elsewhere.example/fleet", "/"],
      ["/\\elsewhere.example", "/"],
      ["/login?next=/login", "/"],
    ] as const)
      expect((await give(tokens["finance's"]!, { next })).headers.location).toBe(location);
    const cookie = String(right.headers["set-cookie"]);
    expect(cookie).toContain("HttpOnly; SameSite=Lax");
    expect((await get("/", undefined, { cookie: cookie.split(";")[0]! })).statusCode).toBe(200);
    const out = await server.inject({ method: "POST", url: "/logout" });
    expect(String(out.headers["set-cookie"])).toContain("Max-Age=0");
  });

  it("leads a browser without a token to the login, which returns to the page", async () => {
    const asked = "/fleet?span=2026-10&by=node";
    const login = "/login?next=%2Ffleet%3Fspan%3D2026-10%26by%3Dnode";
    const unknown = `gpu_ledger_token=gpul_${"A".repeat(43)}`;
    for (const cookie of [{}, { cookie: unknown }, { cookie: "gpu_ledger_token=nonsense" }]) {
      const { statusCode, headers } = await get(asked, undefined, { accept: "text/html", ...cookie });
      expect([statusCode, headers["location"]]).toEqual([303, login]);
    }
    const page = await get(login, undefined, { accept: "text/html", cookie: unknown });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('<input type="hidden" name="next" value="/fleet?span=2026-10&amp;by=node"/>');
  });

  it("refuses a token after it is revoked", async () => {
    await revokeToken(store, "finance's", WHO, Date.now());
    await expect
      .poll(async () => (await get("/api/v1/periods", tokens["finance's"])).statusCode, { interval: 200 })
      .toBe(401);
  });
});
