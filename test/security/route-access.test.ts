import { connect } from "node:net";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToken } from "../../reports/access/tokens.ts";
import { askerOf, portOf, PORTS, type Asker, type Port } from "../../reports/server/route-table.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { startStatusServer, type StatusServer } from "../../runtime/http/status-server.ts";
import { addGpuMetrics } from "../../services/gpu-metrics.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { openReports } from "../../services/reports.ts";
import { createTestDatabase } from "../support/database.ts";

const METRICS_TOKEN = "of Prometheus";
const logger = pino({ level: "silent" });
/** The issuer does not answer, so a sign-in ends with 503. */
const CONFIG = `
server:
  access: { groups: [{ group: vision, teams: [vision] }] }
  signIn: { issuer: "http://127.0.0.1:9", clientId: gpu-ledger, publicUrl: "http://127.0.0.1:8080" }
`;
const config = parseConfig(CONFIG, { source: "the test", folder: ".", env: {} });
const server = { ...config.server, listen: "127.0.0.1:0", metricsToken: METRICS_TOKEN };

/** Who asks in these tests, with the routes that are for them. */
const CLIENTS: Readonly<Record<string, readonly Asker[]>> = {
  nobody: ["anyone"],
  "a wrong token": ["anyone"],
  Prometheus: ["anyone", "operator"],
  viewer: ["anyone", "viewer"],
  finance: ["anyone", "viewer", "finance"],
  administrator: ["anyone", "operator", "viewer", "finance"],
};

describe("the ports of the program, with tokens in force", () => {
  let store: StoreClient;
  const servers = new Map<Port["name"], StatusServer>();
  const tokens: Record<string, string> = { "a wrong token": `gpul_${"A".repeat(43)}`, Prometheus: METRICS_TOKEN };

  const views = (name: Port["name"]) => ({
    status: () => Promise.resolve({}),
    metrics: () => Promise.resolve(""),
    notReady: () => ["Kafka does not answer at kafka-1.internal"],
    guard: createPortAccess(name, server, { store, logger }),
  });
  const gpuMetrics: Parameters<typeof startStatusServer>[3] = (routes) =>
    addGpuMetrics(routes, (_, sink) => sink(Buffer.from("")), logger);

  beforeAll(async () => {
    store = await createTestDatabase("route_access");
    for (const [role, teams] of [
      ["viewer", ["vision"]],
      ["finance", []],
      ["administrator", []],
    ] as const) {
      const request = { name: role, role, teams, expiresMillis: undefined };
      tokens[role] = (await createToken(store, request, { by: "ops", why: "" }, Date.now())).text;
    }
    const reports = await openReports({ ...config, server }, { store, version: "0", isDemo: false, logger });
    const start = async (name: Port["name"], of: object, add: Parameters<typeof startStatusServer>[3]) =>
      servers.set(name, await startStatusServer(server, { ...views(name), ...of }, logger, add));
    await start("server", { guard: reports.guard, demoTargets: () => [] }, (routes) => {
      gpuMetrics(routes);
      reports.addRoutes(routes);
    });
    await start("processor", {}, gpuMetrics);
    await start("processor of up", {}, gpuMetrics);
    await start("collector", {}, undefined);
    await start("demo", { demoTargets: () => [] }, (routes) => {
      routes.get("/api/demo/kube-state-metrics", () => "");
    });
  });
  afterAll(async () => {
    for (const each of servers.values()) await each.stop();
    await store.close();
  });

  const ask = (name: Port["name"], path: string, client: string, init: RequestInit = {}): Promise<Response> => {
    const token = tokens[client];
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return fetch(`${servers.get(name)!.url}${path}`, { ...init, headers, redirect: "manual" });
  };

  const AS_VIEWER = (): string => `Authorization: Bearer ${tokens["viewer"]}\r\n`;

  /** Sends a text as it is. Returns the answers when the server has closed the connection, or after a second without an answer. */
  async function sentRaw(name: Port["name"], text: string): Promise<string> {
    const socket = connect(Number(new URL(servers.get(name)!.url).port), "127.0.0.1");
    socket.setTimeout(1_000, () => socket.end());
    socket.write(text);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }

  /** The path of a file in a folder of the table. */
  async function pathOf(name: Port["name"], route: string): Promise<string> {
    if (!route.endsWith("*")) return route;
    if (route.startsWith("/api")) return route.replace("*", "static/index.html");
    return /\/assets\/[^"]+/.exec(await (await ask(name, "/login", "nobody")).text())![0];
  }

  // The form of /login answers 401 for a wrong token in it: reports-access.test.ts.
  const walks = PORTS.flatMap(({ name, routes }) =>
    Object.entries(routes)
      .filter(([route]) => route !== "POST /login")
      .flatMap(([route, asker]) => Object.keys(CLIENTS).map((client) => ({ name, route, asker, client }))),
  );

  it.each(walks)("$route of the port $name is for $asker: $client", async ({ name, route, asker, client }) => {
    const [method, path] = route.split(" ") as [string, string];
    const { status } = await ask(name, await pathOf(name, path), client, { method });
    // After many wrong tokens, another one is 429.
    const isAdmitted = ![401, 403, 429].includes(status);
    expect({ isAdmitted, exists: status !== 404 }).toEqual({
      isAdmitted: CLIENTS[client]!.includes(asker),
      exists: true,
    });
  });

  it("do not exist for nobody: a path that is not there is refused as the reports are", async () => {
    expect((await ask("server", "/nothing", "nobody")).status).toBe(401);
    expect((await ask("server", "/nothing", "viewer")).status).toBe(404);
    expect((await ask("collector", "/nothing", "nobody")).status).toBe(404);
  });

  it.each(["server", "processor", "collector"] as const)(
    "show why the %s is not ready to an operator alone",
    async (name) => {
      for (const [client, text] of [
        ["nobody", "not ready\n"],
        ["viewer", "not ready\n"],
        ["Prometheus", "Kafka does not answer at kafka-1.internal\n"],
        ["administrator", "Kafka does not answer at kafka-1.internal\n"],
      ] as const) {
        const answer = await ask(name, "/readyz", client);
        expect([client, answer.status, await answer.text()]).toEqual([client, 503, text]);
      }
    },
  );

  it.each([
    "/allocation/compute?window=1d&aggregate=constructor",
    "/allocation/compute?window=1d&aggregate=__proto__",
    "/allocation/compute?window=1d&filter=toString%3A%22x%22",
    "/api/v1/charges?by=constructor",
    "/api/v1/charges?where=__proto__%3Dx",
    `/api/v1/charges?by=${Array.from({ length: 700 }, (_, label) => `label.l${label}`).join(",")}`,
    "/api/v1/charges?span=1d&span=2d",
    "/api/v1/charges?by=team&by[__proto__]=x",
    "/api/v1/charges/lines?cursor=constructor",
    "/explain?where=hasOwnProperty%3Dx",
    "/team?team=vision&team=nlp",
    "/statement?period=__proto__",
    "/api/v1/charges?by=%00",
  ])("answer %s with a problem of the client, and no fault of the server", async (path) => {
    const { status } = await ask("server", path, "administrator");
    expect([path.slice(0, 80), status]).toEqual([
      path.slice(0, 80),
      expect.toSatisfy((code: number) => [200, 400, 422].includes(code)),
    ]);
  });

  it.each([
    "//metrics",
    "/%6detrics",
    "/METRICS",
    "/metrics/",
    "/metrics;x",
    "/metrics%00",
    "/assets/../metrics",
    "/assets/%2e%2e/metrics",
    "/metrics/..;/metrics",
    "/api/v1/docs/static/..%2f..%2f..%2fpackage.json",
    "http://127.0.0.1/metrics",
  ])("show no metrics and no file to a viewer at %s", async (path) => {
    const answer = await sentRaw(
      "server",
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${AS_VIEWER()}Connection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 40[34] /);
  });

  it.each([
    ["both lengths", "Content-Length: 4\r\nTransfer-Encoding: chunked"],
    ["two lengths", "Content-Length: 4\r\nContent-Length: 0"],
    ["an unknown encoding", "Transfer-Encoding: xchunked"],
    ["a blank before the colon", "Transfer-Encoding : chunked"],
    ["a folded header", "X-One: a\r\n b\r\nContent-Length: 0"],
    ["headers of 20 KB", `X-One: ${"a".repeat(20_000)}`],
  ])("answer once, and hide no second request, for a request with %s", async (_, header) => {
    const second = `GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answer = await sentRaw("server", `POST /login HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n0\r\n\r\n${second}`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([expect.stringMatching(/ 4(00|31)$/)]);
  });

  it("do not upgrade a connection, and trace no request", async () => {
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    for (const start of [`GET /metrics HTTP/1.1\r\n${upgrade}`, "TRACE /metrics HTTP/1.1\r\nConnection: close"]) {
      const answer = await sentRaw("server", `${start}\r\nHost: x\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    }
  });

  it("cut a long path in the audit trail", async () => {
    // A server of its own: the others have recorded all that they record in a minute.
    const fresh = await startStatusServer(server, views("server"), logger);
    const headers = { authorization: `Bearer ${tokens["a wrong token"]}` };
    expect((await fetch(`${fresh.url}/${"p".repeat(12_000)}`, { headers })).status).toBe(401);
    const longest = async () => {
      const [row] = await store.query<{ n: string }>("SELECT max(length(details)) AS n FROM audit");
      return Number(row!.n);
    };
    await expect.poll(longest).toBeGreaterThan(200);
    expect(await longest()).toBeLessThan(500);
    await fresh.stop();
  });

  it.each([
    ["two tokens", "application/x-www-form-urlencoded", "token=a&token=b"],
    ["JSON", "application/json", '{"token":{"a":1}}'],
    ["JSON that is cut off", "application/json", '{"token":'],
    ["no form at all", "text/plain", "token"],
    ["a polluted form", "application/x-www-form-urlencoded", "__proto__[token]=a&constructor=b"],
  ])("refuse a login with %s", async (_, type, body) => {
    const { url } = servers.get("server")!;
    const answer = await fetch(`${url}/login`, { method: "POST", headers: { "content-type": type }, body });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  });

  it("refuse to serve a route that is not in the table", async () => {
    const add = startStatusServer(server, views("collector"), logger, (routes) => {
      routes.get("/debug", () => "secrets");
    });
    await expect(add).rejects.toThrow("GET /debug is not in the table of the port collector");
  });
});

describe("the ports of the program, without any token", () => {
  const open = (listen: string) => createPortAccess("collector", { listen, access: { tokens: [] } }, { logger });
  const request = { headers: {}, ip: "127.0.0.1", url: "/metrics", protocol: "http" } as const;

  it("serve this machine on a loopback address", async () => {
    await expect(open("127.0.0.1:80").admit(request, "operator")).resolves.toBeUndefined();
    expect(await open("127.0.0.1:80").isOpen()).toBe(true);
  });

  it("refuse while the store has not answered yet whether there are tokens", async () => {
    const away = new StoreError("unavailable", "away", { retriable: true });
    const store = { query: () => Promise.reject(away) } as unknown as StoreClient;
    const port = createPortAccess("processor", { listen: "0.0.0.0:80", access: { tokens: [] } }, { logger, store });
    const asking = { ...request, headers: { authorization: `Bearer gpul_${"A".repeat(43)}` } };
    await expect(port.admit(asking, "operator")).rejects.toMatchObject({ status: 503 });
    await expect(port.admit(request, "operator")).rejects.toMatchObject({ status: 401 });
    const local = createPortAccess("processor", { listen: "127.0.0.1:80", access: { tokens: [] } }, { logger, store });
    expect(await local.isOpen()).toBe(true);
  });

  it("serve the network if they listen on it", async () => {
    await expect(open("0.0.0.0:80").admit(request, "operator")).resolves.toBeUndefined();
  });
});

describe("the table of routes", () => {
  it("has one rule for HEAD and GET, and for the files of a folder", () => {
    expect(askerOf(portOf("server"), "HEAD", "/metrics")).toBe("operator");
    expect(askerOf(portOf("server"), "GET", "/assets/0123/style.css")).toBe("anyone");
    expect(askerOf(portOf("server"), "GET", "/constructor")).toBeUndefined();
    expect(askerOf(portOf("collector"), "GET", "/metrics/gpu")).toBeUndefined();
  });
});
