import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import pino from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { addGpuMetrics, addRemoteGpuMetrics } from "../../../services/gpu-metrics.ts";
import type { WriteGpuPage } from "../../../services/role.ts";
import { createPortAccess } from "../../../services/port-access.ts";
import { startStatusServer, type StatusServer } from "../../../runtime/http/status-server.ts";

const silent = pino({ level: "silent" });
const VIEWS = { status: () => Promise.resolve({}), metrics: () => Promise.resolve(""), notReady: () => [] };
const servers: StatusServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

type Routes = NonNullable<Parameters<typeof startStatusServer>[3]>;

async function serve(addRoutes: Routes, metricsToken?: string): Promise<string> {
  const listen = "127.0.0.1:0";
  const guard = createPortAccess("processor", { listen, metricsToken, access: { tokens: [] } }, { logger: silent });
  const server = await startStatusServer({ listen }, { ...VIEWS, guard }, silent, addRoutes);
  servers.push(server);
  return `${server.url}/metrics/gpu`;
}

/** The bearer token of the port between the processes of `up`. */
const SECRET = "of the port";
/** A page that names its cluster. */
const page: WriteGpuPage = (cluster, sink) => sink(Buffer.from(`page{cluster="${cluster ?? "all"}"} 1\n`));
const servePage = (write: WriteGpuPage = page, token?: string): Promise<string> =>
  serve((routes) => addGpuMetrics(routes, write, silent), token);
/** The same page behind the server of another process. */
async function serveRemote(write: WriteGpuPage = page, token?: string): Promise<string> {
  const near = new URL(await servePage(write, SECRET));
  return serve((routes) => addRemoteGpuMetrics(routes, SECRET, () => near.origin), token);
}

/** A raw answer from the connection. */
async function get(url: string, headers: Readonly<Record<string, string>> = {}) {
  const asking = request(url, { headers });
  asking.end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const { statusCode: status, headers: answered } = answer;
  return {
    status,
    encoding: answered["content-encoding"],
    type: answered["content-type"],
    body: Buffer.concat(chunks),
  };
}

describe.each([
  ["a processor's own server", servePage],
  ["the server of `up`", serveRemote],
])("/metrics/gpu of %s", (_, start) => {
  it("is a page of the text format, for one cluster on request", async () => {
    const url = await start();
    const { status, type, encoding, body } = await get(url);
    expect([status, type, encoding]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8", undefined]);
    expect(String(body)).toBe('page{cluster="all"} 1\n');
    expect(String((await get(`${url}?cluster=a%26b`)).body)).toBe('page{cluster="a&b"} 1\n');
  });

  it.each([
    ["gzip", "gzip"],
    ["deflate, gzip;q=1.0, *;q=0.5", "gzip"],
    ["*", "gzip"],
    ["gzip;q=0", undefined],
    ["identity", undefined],
  ])("is compressed for clients that accept it: %s", async (accepted, expected) => {
    const { encoding, body } = await get(await start(), { "accept-encoding": accepted });
    expect(encoding).toBe(expected);
    const text = expected === "gzip" ? gunzipSync(body) : body;
    expect(String(text)).toBe('page{cluster="all"} 1\n');
  });

  it.each([
    ["node=gpu-a", 'the parameter "node" is not known: /metrics/gpu has only the parameter cluster\n'],
    [
      "cluster=a&cluster=b",
      "cluster is given more than once: give the name of one cluster, or omit the parameter for all\n",
    ],
  ])("refuses ?%s with a sentence", async (query, sentence) => {
    const { status, body } = await get(`${await start()}?${query}`);
    expect([status, String(body)]).toEqual([400, sentence]);
  });

  it("is written no faster than it is read, and no further when the reader has gone", async () => {
    const chunk = Buffer.alloc(1 << 20, "x");
    let written = 0;
    let failure: unknown;
    const url = await start(async (__, sink) => {
      try {
        for (; written < 200; written++) await sink(chunk);
      } catch (error) {
        failure = error;
      }
    });
    const asking = request(url);
    asking.end();
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    answer.pause();
    await expect.poll(() => written).toBeGreaterThan(0);
    let before = -1;
    await expect.poll(() => before === (before = written), { timeout: 10_000, interval: 300 }).toBe(true);
    expect(written).toBeLessThan(100);
    asking.destroy();
    await expect.poll(() => failure).toBeInstanceOf(Error);
  });

  it("breaks the connection if the page fails, so that a part is not read as a complete page", async () => {
    const url = await start(async (__, sink) => {
      await sink(Buffer.from("half 1\n"));
      throw new Error("a bug");
    });
    await expect(get(url)).rejects.toThrow("aborted");
    await expect(get(url, { "accept-encoding": "gzip" })).rejects.toThrow("aborted");
  });
});

describe.each([
  ["a processor's own server", servePage],
  ["the server of `up`", serveRemote],
])("with server.metricsToken %s", (_, start) => {
  const authorization = "Bearer the metrics' token";

  it("serves metrics, and the page of GPUs, to a client with the token", async () => {
    const page = await start(undefined, "the metrics' token");
    for (const url of [page, page.replace("/gpu", ""), page.replace("metrics", "m%65trics")])
      expect([url, (await get(url, { authorization })).status]).toEqual([url, 200]);
    expect(String((await get(page, { authorization })).body)).toBe('page{cluster="all"} 1\n');
    expect((await get(page, { authorization: "bearer  the metrics' token" })).status).toBe(200);
  });

  it.each([
    "",
    "Bearer",
    "Bearer the metrics' toke",
    "Bearer the metrics' token!",
    "Bearer THE METRICS' TOKEN",
    `Basic ${Buffer.from("x:the metrics' token").toString("base64")}`,
    "the metrics' token",
  ])("serves neither to a client with %j, for any spelling of the path", async (brought) => {
    const page = await start(undefined, "the metrics' token");
    const headers = brought === "" ? {} : { authorization: brought };
    for (const url of [page, page.replace("/gpu", ""), page.replace("metrics", "m%65trics"), `${page}?cluster=a`]) {
      const { status, body } = await get(url, headers);
      expect([url, status, String(body)]).toEqual([url, 401, "the bearer token of server.metricsToken is needed\n"]);
    }
  });

  it("serves its health without the token", async () => {
    const { origin } = new URL(await start(undefined, "the metrics' token"));
    for (const path of ["/healthz", "/readyz"]) expect((await get(`${origin}${path}`)).status).toBe(200);
    expect((await get(`${origin}/api/status`)).status).toBe(401);
  });
});

describe("/metrics/gpu of the server of `up`", () => {
  it("answers that the processor has not reported, or that it does not answer", async () => {
    const unknown = await get(await serve((routes) => addRemoteGpuMetrics(routes, SECRET, () => undefined)));
    expect([unknown.status, String(unknown.body)]).toEqual([503, "the processor has not reported yet\n"]);
    const gone = await get(await serve((routes) => addRemoteGpuMetrics(routes, SECRET, () => "http://127.0.0.1:1")));
    expect([gone.status, String(gone.body)]).toEqual([503, "the processor does not answer\n"]);
  });
});
