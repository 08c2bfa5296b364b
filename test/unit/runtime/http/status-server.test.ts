import { connect } from "node:net";
import pino from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { parseConfig } from "../../../../runtime/config/load.ts";
import { startStatusServer, type StatusServer } from "../../../../runtime/http/status-server.ts";

const VIEWS = {
  status: () => Promise.resolve({}),
  metrics: () => Promise.resolve(""),
  notReady: () => [],
  guard: { guardRoutes: () => {}, isOperator: () => Promise.resolve(true) },
};
const servers: StatusServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

/** The client address that a server sees if a proxy on this machine forwards a request of another client. */
async function seenBehind(trustProxy: readonly string[]): Promise<string> {
  const server = await startStatusServer(
    { listen: "127.0.0.1:0", trustProxy },
    VIEWS,
    pino({ level: "silent" }),
    (routes) => void routes.get("/who", ({ ip, protocol }) => `${protocol} ${ip}`),
  );
  servers.push(server);
  const headers = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" };
  return (await fetch(`${server.url}/who`, { headers })).text();
}

it("only a proxy of the configuration may set the client's address", async () => {
  expect(await seenBehind(["127.0.0.0/8"])).toBe("https 203.0.113.9");
  expect(await seenBehind(["10.0.0.0/8"])).toBe("http 127.0.0.1");
  expect(await seenBehind([])).toBe("http 127.0.0.1");
});

it.each([{ network: "10.0.0.0/33" }, { network: "everybody" }, { network: "10.0.0.0/8/8" }])(
  "a configuration that trusts $network is refused by name",
  ({ network }) => {
    const load = () => parseConfig(`server: { trustProxy: ["${network}"] }`, { source: "test", folder: ".", env: {} });
    expect(load).toThrow(/server\.trustProxy.*an address or a network/s);
  },
);

it("an answer may not be stored, unless its route allows that", async () => {
  const server = await startStatusServer({ listen: "127.0.0.1:0" }, VIEWS, pino({ level: "silent" }), (routes) => {
    routes.get("/file", (_, reply) => reply.header("cache-control", "public, max-age=60").send("file"));
  });
  servers.push(server);
  const ruleOf = async (path: string): Promise<string | null> =>
    (await fetch(`${server.url}${path}`)).headers.get("cache-control");
  expect(await ruleOf("/metrics")).toBe("no-store");
  expect(await ruleOf("/nothing")).toBe("no-store");
  expect(await ruleOf("/file")).toBe("public, max-age=60");
});

it("all answers of a connection end with it, also those that wait behind the first", async () => {
  const [asked, ended]: [string[], string[]] = [[], []];
  const server = await startStatusServer({ listen: "127.0.0.1:0" }, VIEWS, pino({ level: "silent" }), (routes) => {
    routes.get("/slow/:name", ({ url }, reply) => {
      asked.push(url);
      reply.raw.once("close", () => ended.push(url));
      return new Promise(() => {});
    });
  });
  servers.push(server);
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const names = Array.from({ length: 20 }, (_, number) => `/slow/${number}`);
  socket.write(names.map((name) => `GET ${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(""));
  await expect.poll(() => asked, { interval: 20 }).toEqual(names);
  socket.destroy();
  await expect.poll(() => ended.toSorted(), { interval: 20 }).toEqual(names.toSorted());
});

describe("a client that is too slow", () => {
  async function listening(): Promise<{ readonly port: number; readonly url: string }> {
    const server = await startStatusServer({ listen: "127.0.0.1:0" }, VIEWS, pino({ level: "silent" }), (routes) => {
      routes.post("/form", () => "ok");
    });
    servers.push(server);
    return { port: Number(new URL(server.url).port), url: server.url };
  }

  /** Sends a text, then nothing more. Returns the answer when the server has closed the connection. */
  async function answerOf(port: number, text: string): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    socket.write(text);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }

  it("is closed if its headers or its body are not complete in time", async () => {
    const { port } = await listening();
    const answers = await Promise.all([
      answerOf(port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "),
      answerOf(
        port,
        "POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nslow",
      ),
    ]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("is refused if its body is too large", async () => {
    const { url } = await listening();
    const headers = { "content-type": "text/plain" };
    expect((await fetch(`${url}/form`, { method: "POST", headers, body: "x".repeat(20_000) })).status).toBe(413);
    expect((await fetch(`${url}/form`, { method: "POST", headers: {}, body: new Uint8Array([0]) })).status).toBe(415);
  });
});
