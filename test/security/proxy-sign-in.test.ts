import { get } from "node:http";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToken } from "../../reports/access/tokens.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startStatusServer, type StatusServer } from "../../runtime/http/status-server.ts";
import { openReports } from "../../services/reports.ts";
import { createTestDatabase } from "../support/database.ts";

const logger = pino({ level: "silent" });
const VISION = { "x-forwarded-email": "ann@example.com", "x-forwarded-groups": "other, /gpu-ledger/vision" };

describe("people that a proxy has signed in", () => {
  let store: StoreClient;
  let token: string;
  const servers: StatusServer[] = [];

  /** Starts a server that trusts the headers of some addresses. */
  async function start(from: readonly string[], more = "", ofProxy = ""): Promise<string> {
    const text = `
server:
  listen: 127.0.0.1:0
  access: { groups: [{ group: /gpu-ledger/vision, teams: [vision] }, { group: admins, role: administrator }] }
  proxySignIn: { from: ${JSON.stringify(from)}, ${ofProxy} }
  ${more}
`;
    const config = parseConfig(text, { source: "the test", folder: ".", env: {} });
    const reports = await openReports(config, { store, version: "0", isDemo: false, logger });
    const views = {
      status: () => Promise.resolve({}),
      metrics: () => Promise.resolve(""),
      notReady: () => [],
      guard: reports.guard,
    };
    const server = await startStatusServer(config.server, views, logger, reports.addRoutes);
    servers.push(server);
    return server.url;
  }
  const ask = (url: string, path: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${url}/api/v1/${path}`, { headers: { ...headers } });

  beforeAll(async () => {
    store = await createTestDatabase("proxy_sign_in");
    const request = { name: "grafana", role: "finance", teams: [], expiresMillis: undefined } as const;
    token = (await createToken(store, request, { by: "ops", why: "" }, Date.now())).text;
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await store.close();
  });

  it("have the roles and teams of their groups", async () => {
    const url = await start(["127.0.0.0/8"]);
    expect((await ask(url, "charges?span=7d", VISION)).status).toBe(200);
    expect((await ask(url, "prices", VISION)).status).toBe(403);
    expect((await ask(url, "prices", { ...VISION, "x-forwarded-groups": "admins" })).status).toBe(200);
    expect((await ask(url, "charges?span=7d", { ...VISION, "x-forwarded-groups": "" })).status).toBe(403);
    expect((await ask(url, "charges?span=7d", {})).status).toBe(401);
  });

  it("are ignored in headers from other addresses, whatever address these forward", async () => {
    const url = await start(["10.0.0.7"], "trustProxy: [127.0.0.1]");
    for (const more of [
      {},
      { "x-forwarded-for": "10.0.0.7" },
      { forwarded: "for=10.0.0.7" },
      { "x-real-ip": "10.0.0.7" },
    ])
      expect((await ask(url, "charges?span=7d", { ...VISION, ...more })).status).toBe(401);
  });

  it("are refused if the proxy adds its headers to those of a client", async () => {
    const url = await start(["127.0.0.0/8"]);
    for (const twice of ["x-forwarded-groups", "x-forwarded-email"]) {
      const status = await new Promise((resolve, reject) => {
        const headers = { ...VISION, [twice]: ["admins", Object.entries(VISION).find(([name]) => name === twice)![1]] };
        get(`${url}/api/v1/prices`, { headers }, ({ statusCode }) => resolve(statusCode)).once("error", reject);
      });
      expect([twice, status]).toEqual([twice, 403]);
    }
  });

  it("are logged out by the proxy, if it has an address for that", async () => {
    const page = async (url: string): Promise<string> =>
      (await fetch(url, { headers: { ...VISION, accept: "text/html" } })).text();
    const own = await page(await start(["127.0.0.0/8"]));
    expect([own.includes("<span>ann@example.com</span>"), own.includes("/logout")]).toEqual([true, false]);
    const linked = await page(await start(["127.0.0.0/8"], "", "logOutUrl: /oauth2/sign_out"));
    expect(linked).toContain('<a href="/oauth2/sign_out">Log out ann@example.com</a>');
  });

  it("are in the audit trail, once a day", async () => {
    const url = await start(["127.0.0.0/8"]);
    for (let count = 0; count < 3; count++)
      await ask(url, "charges?span=7d", { ...VISION, "x-forwarded-email": "zoe" });
    const entries = () => store.query("SELECT who, what, subject FROM audit WHERE who = 'zoe'");
    await expect.poll(entries).toEqual([{ who: "zoe", what: "signed in", subject: "zoe" }]);
  });

  it("are beside tokens: a token counts, and the bearer of the proxy itself does not disturb", async () => {
    const url = await start(["127.0.0.1"]);
    expect((await ask(url, "prices", { ...VISION, authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await ask(url, "charges?span=7d", { ...VISION, authorization: "Bearer a.jwt.of-the-issuer" })).status).toBe(
      200,
    );
    expect((await ask(url, "prices", { authorization: "Bearer a.jwt.of-the-issuer" })).status).toBe(401);
  });
});
