import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, afterAll, describe, expect, it, vi } from "vitest";
import { createConnections, type Connections, type TlsOptions } from "../../collectors/exporters/http/connections.ts";
import { createAuthorization, type Credentials } from "../../collectors/exporters/http/credentials.ts";
import { createStepRunner } from "../../runtime/steps.ts";
import { createReceiveBuffers } from "../../collectors/exporters/http/receive-buffers.ts";
import { createPageReader, type PageReader } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { gpuPages } from "../../collectors/exporters/target-pages.ts";
import { createScraper, type Scraper, type ScrapeOutcome } from "../../collectors/exporters/scraper.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import type { Scrape } from "../../domain/scrape.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { requirePart } from "../support/parts.ts";
import { startExporterDouble, type Behavior, type ExporterDouble } from "../support/exporter-double.ts";

const PAGE = dcgmPage({ gpus: 2, host: "gpu-a", value: () => "1" });
const doubles: ExporterDouble[] = [];
const open: Connections[] = [];

afterEach(async () => {
  await Promise.all(doubles.splice(0).map((double) => double.close()));
  for (const connections of open.splice(0)) connections.close();
});

async function double(behavior: Behavior, tls?: Parameters<typeof startExporterDouble>[1]): Promise<ExporterDouble> {
  const started = await startExporterDouble(behavior, tls);
  doubles.push(started);
  return started;
}

interface Asking {
  readonly reader?: PageReader;
  readonly credentials?: Credentials;
  readonly tls?: TlsOptions;
  readonly timeoutMillis?: number;
  readonly bodyLimitBytes?: number;
  readonly gzip?: boolean;
  readonly redirects?: "origin" | "host";
  readonly companions?: readonly string[];
  readonly messageBytes?: number;
}

function scraperOf(url: string, asking: Asking = {}): Scraper {
  const { credentials = {}, tls, timeoutMillis = 2000, bodyLimitBytes = 1_000_000, gzip = false } = asking;
  const { companions = [], redirects = "origin" } = asking;
  const {
    reader = createPageReader(createTemplates(1e6), {
      series: 1000,
      devices: 20,
      ...(asking.messageBytes === undefined ? {} : { messageBytes: asking.messageBytes }),
    }),
  } = asking;
  const connections = createConnections({ tls });
  open.push(connections);
  const target = { url, labels: {}, companions };
  return createScraper(
    {
      epoch: 1,
      steps: createStepRunner(),
      connections,
      buffers: createReceiveBuffers(),
      now: () => 1_770_000_000_000,
    },
    gpuPages(reader, target, { cluster: "test", collector: "c-0" }),
    target,
    {
      authorization: createAuthorization(credentials),
      timeoutMillis,
      bodyLimitBytes,
      gzip,
      redirects,
      intervalMillis: 30_000,
    },
  );
}

/** Scrapes once, and compares the message with the outcome. */
async function scrape(scraper: Scraper): Promise<ScrapeOutcome & { readonly decoded: Scrape }> {
  const outcome = await scraper();
  const decoded = createScrapeDecoder().decode(outcome.messages[0]!.message);
  if ("invalid" in decoded) throw new Error(decoded.invalid);
  expect(decoded.failure).toEqual(outcome.failure);
  return { ...outcome, decoded };
}

const good: Behavior = (_, response, exporter) => exporter.page(response, PAGE);

describe("a scrape", () => {
  it("sends the page's rows, and numbers its attempts", async () => {
    const exporter = await double(good);
    const scraper = scraperOf(exporter.url);
    const first = await scrape(scraper);
    expect(first.decoded).toMatchObject({ node: "gpu-a", sequence: 0, intervalMillis: 30_000 });
    expect(first.decoded.shape.devices).toHaveLength(2);
    expect((await scrape(scraper)).decoded.sequence).toBe(1);
    expect(exporter.requests[0]!.headers["accept-encoding"]).toBe("identity");
  });

  it("reads the pages of companions together with the target's own, and continues if one is missing", async () => {
    const [one, other] = ["GPU-a", "GPU-b"].map(
      (uuid) => `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="${uuid}",Hostname="gpu-a"} 50`,
    );
    const exporter = await double((_, response, own) => own.page(response, one!));
    const companion = await double((_, response, own) => own.page(response, other!));
    const scraper = scraperOf(exporter.url, { companions: [companion.url] });
    const whole = await scrape(scraper);
    expect(whole.decoded.shape.devices.map(({ uuid }) => uuid)).toEqual(["GPU-a", "GPU-b"]);
    expect(whole.missed).toEqual([]);
    companion.behave((_, response) => response.writeHead(500).end("no"));
    const alone = await scrape(scraper);
    expect(alone.decoded.shape.devices.map(({ uuid }) => uuid)).toEqual(["GPU-a"]);
    expect(alone.missed).toEqual([{ url: companion.url, reason: "http-status", detail: "HTTP 500" }]);
    exporter.behave((_, response) => response.writeHead(500).end("no"));
    companion.behave((_, response, own) => own.page(response, other!));
    expect(await scrape(scraper)).toMatchObject({ gpus: 0, failure: { reason: "http-status" } });
  });

  it("returns a page's columns, also if an earlier scraper's template reads the page, and none of a failure", async () => {
    const exporter = await double(good);
    const reader = createPageReader(createTemplates(1e6));
    const first = await scrape(scraperOf(exporter.url, { reader }));
    expect(first.columns).toEqual(first.decoded.shape.columns);
    const scraper = scraperOf(exporter.url, { reader });
    expect(await scrape(scraper)).toMatchObject({ templated: true, columns: first.columns });
    exporter.behave((_, response) => response.writeHead(500).end("no"));
    expect(await scrape(scraper)).toMatchObject({ gpus: 0, columns: [] });
  });

  it("sends a failed attempt too, with the node of an earlier page", async () => {
    const exporter = await double(good);
    const scraper = scraperOf(exporter.url);
    await scrape(scraper);
    exporter.behave((_, response) => response.writeHead(500).end("no"));
    const { decoded } = await scrape(scraper);
    expect(decoded).toMatchObject({
      node: "gpu-a",
      sequence: 1,
      failure: { reason: "http-status", detail: "HTTP 500" },
    });
    expect(decoded.shape.devices).toEqual([]);
  });

  it("sends a message for each host of a page, and one for each host when the page fails", async () => {
    const exporter = await double((_, response, self) =>
      self.page(response, ["gpu-a", "gpu-b"].map((host) => dcgmPage({ gpus: 1, host, value: () => "1" })).join("")),
    );
    const scraper = scraperOf(exporter.url);
    const nodes = async (): Promise<readonly unknown[]> =>
      (await scraper()).messages.map(({ message }) => createScrapeDecoder().decode(message));
    expect(await nodes()).toMatchObject([
      { node: "gpu-a", sequence: 0, shape: { devices: [{ gpu: "0" }] } },
      { node: "gpu-b", sequence: 0, shape: { devices: [{ gpu: "0" }] } },
    ]);
    exporter.behave((_, response) => response.writeHead(500).end("no"));
    const failure = { reason: "http-status", detail: "HTTP 500" };
    expect(await nodes()).toMatchObject([
      { node: "gpu-a", sequence: 1, failure },
      { node: "gpu-b", sequence: 1, failure },
    ]);
  });

  it("tries again at once if a kept connection turns out to be closed", async () => {
    const exporter = await double(good);
    const scraper = scraperOf(exporter.url);
    await scrape(scraper);
    let asked = 0;
    exporter.behave((request, response, self) => {
      asked += 1;
      if (asked === 1) request.socket.destroy();
      else self.page(response, PAGE);
    });
    expect((await scrape(scraper)).failure).toBeUndefined();
    expect(asked).toBe(2);
  });

  it("follows redirects within the target's origin", async () => {
    const exporter = await double((request, response, self) => {
      if (request.url === "/metrics") response.writeHead(308, { location: "/moved" }).end();
      else self.page(response, PAGE);
    });
    expect((await scrape(scraperOf(exporter.url))).failure).toBeUndefined();
    expect(exporter.requests.map(({ url }) => url)).toEqual(["/metrics", "/moved"]);
  });

  it("follows no redirect to another port of the host, unless the job allows it", async () => {
    const other = await double(good);
    const exporter = await double((_, response) => response.writeHead(307, { location: other.url }).end());
    const { failure } = await scrape(scraperOf(exporter.url));
    expect(failure).toMatchObject({
      reason: "http-status",
      detail: expect.stringContaining("set redirects: host") as string,
    });
    expect(other.requests).toEqual([]);
  });

  it("sends its credentials to no other origin", async () => {
    const other = await double(good);
    const exporter = await double((_, response) => response.writeHead(307, { location: other.url }).end());
    const asking = { credentials: { bearerToken: "secret" }, redirects: "host" } as const;
    const { failure } = await scrape(scraperOf(exporter.url, asking));
    expect(failure).toBeUndefined();
    expect(exporter.requests[0]!.headers.authorization).toBe("Bearer secret");
    expect(other.requests[0]!.headers.authorization).toBeUndefined();
  });

  it.each(["http://localhost", "http://metadata.internal/latest", "//127.0.0.2"])(
    "follows no redirect to another host: %s",
    async (elsewhere) => {
      const other = await double(good);
      const location = elsewhere.replace(
        /localhost|127\.0\.0\.2/,
        (host) => `${host}:${new URL(other.url).port}/metrics`,
      );
      const exporter = await double((_, response) => response.writeHead(302, { location }).end());
      const { failure } = await scrape(scraperOf(exporter.url));
      expect(failure?.reason).toBe("http-status");
      expect(failure?.detail).toMatch(/^redirected to another host, /);
      expect(other.requests).toEqual([]);
    },
  );

  it("keeps no connection to a redirect's target, whatever the next target is", async () => {
    const other = await double(good);
    const exporter = await double((_, response) => response.writeHead(307, { location: other.url }).end());
    const scraper = scraperOf(exporter.url, { redirects: "host" });
    await scrape(scraper);
    await vi.waitFor(() => expect(other.connections).toBe(0), 90_000);
    expect(exporter.connections).toBe(1);
  });

  it("ends a circle of redirects", async () => {
    const exporter = await double((_, response) => response.writeHead(302, { location: "/metrics" }).end());
    expect((await scrape(scraperOf(exporter.url))).failure).toMatchObject({ reason: "http-status" });
  });

  it("reads gzip if it asks for it, and if an exporter sends it without a request", async () => {
    const exporter = await double((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(PAGE));
    });
    expect((await scrape(scraperOf(exporter.url, { gzip: true }))).decoded.shape.devices).toHaveLength(2);
    expect(exporter.requests[0]!.headers["accept-encoding"]).toBe("gzip");
    expect((await scrape(scraperOf(exporter.url))).decoded.shape.devices).toHaveLength(2);
  });
});

describe("a target that misbehaves", () => {
  const cases: [string, Behavior, string, Asking?][] = [
    ["hangs before its answer", () => {}, "timeout", { timeoutMillis: 200 }],
    [
      "hangs in the middle of a page",
      (_, response) => void response.write(PAGE.slice(0, 500)),
      "timeout",
      { timeoutMillis: 200 },
    ],
    ["answers 500", (_, response) => void response.writeHead(500).end("oops"), "http-status"],
    ["answers 404", (_, response) => void response.writeHead(404).end("none"), "http-status"],
    ["denies", (_, response) => void response.writeHead(401).end(), "denied"],
    ["sends HTML", (_, response) => void response.end("<!DOCTYPE html>\n<html></html>\n"), "not-exposition"],
    ["sends another exporter's page", (_, response) => void response.end("node_load1 0.2\n"), "foreign-page"],
    [
      "says gzip and sends text",
      (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(PAGE),
      "encoding",
    ],
    [
      "sends brotli unasked",
      (_, response) => void response.writeHead(200, { "content-encoding": "br" }).end("x"),
      "encoding",
    ],
    [
      "packs a bomb into gzip",
      (_, response) =>
        void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(5_000_000, 35))),
      "too-large",
    ],
    [
      "ends before its stated length",
      (_, response) => {
        response.writeHead(200, { "content-length": PAGE.length });
        response.write(PAGE.slice(0, 900), () => response.destroy());
      },
      "interrupted",
    ],
    [
      "never ends its page",
      (_, response) => {
        const more = (): void => void (response.writable && response.write("x 1\n".repeat(5000), more));
        more();
      },
      "too-large",
    ],
    [
      "has too many series",
      (_, response) => void response.end('DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="g"} 1\n'.repeat(1001)),
      "too-many-series",
    ],
  ];

  it.each(cases)("that %s is a failed scrape with its reason", async (_, behavior, reason, asking) => {
    const exporter = await double(behavior);
    const { failure } = await scrape(scraperOf(exporter.url, asking));
    expect(failure).toMatchObject({ reason });
  });

  it("that is missing is refused, and an unknown name is unresolved", async () => {
    const exporter = await double(good);
    await exporter.close();
    expect((await scrape(scraperOf(exporter.url))).failure).toMatchObject({ reason: "refused" });
    expect((await scrape(scraperOf("http://nowhere.invalid:9400/metrics"))).failure).toMatchObject({
      reason: "unresolved",
    });
  });

  it("with a page whose message is too large is a failed scrape, and its next page counts again", async () => {
    const exporter = await double(good);
    const scraper = scraperOf(exporter.url, { messageBytes: 10_000 });
    const many = dcgmPage({ gpus: 16, host: "h", value: () => "1" });
    exporter.behave((_, response, self) => self.page(response, many));
    const { failure } = await scrape(scraper);
    expect(failure?.reason).toBe("too-large");
    expect(failure?.detail).toMatch(/^the rows of one host are too large for a message of 10000 bytes$/);
    exporter.behave(good);
    expect((await scrape(scraper)).failure).toBeUndefined();
  });

  it("that closes in the middle of a line without a length of the page loses only that line", async () => {
    const exporter = await double((request, response) => {
      response.useChunkedEncodingByDefault = false;
      response.shouldKeepAlive = false;
      response.removeHeader("transfer-encoding");
      request.socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${PAGE.slice(0, -3)}`);
    });
    const { failure, dropped, decoded } = await scrape(scraperOf(exporter.url));
    expect(failure).toBeUndefined();
    expect(decoded.shape.devices).toHaveLength(2);
    expect(Object.values(dropped).reduce((sum, count) => sum + count, 0)).toBe(1);
  });
});

describe.skipIf(!requirePart("openssl"))("authentication and TLS", () => {
  let folder: string;
  const file = (name: string): string => join(folder, name);
  const pem = (name: string): string => readFileSync(file(name), "utf8");

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gpu-ledger-tls-"));
    const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "ignore", cwd: folder });
    openssl(
      "req",
      "-x509",
      "-newkey",
      "rsa:2048",
      "-nodes",
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
      "-days",
      "2",
      "-subj",
      "/CN=test-ca",
    );
    for (const name of ["server", "client"]) {
      writeFileSync(file("ext"), "subjectAltName=IP:127.0.0.1,DNS:exporter");
      openssl(
        "req",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
        "-subj",
        `/CN=${name}`,
      );
      openssl(
        "x509",
        "-req",
        "-in",
        `${name}.csr`,
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-out",
        `${name}.pem`,
        "-days",
        "2",
        "-extfile",
        "ext",
      );
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("sends basic authentication", async () => {
    const exporter = await double(good);
    await scrape(scraperOf(exporter.url, { credentials: { basic: { username: "u", password: "pä" } } }));
    expect(exporter.requests[0]!.headers.authorization).toBe(`Basic ${Buffer.from("u:pä").toString("base64")}`);
  });

  it("reads a rotated token before the next scrape, and reports if it cannot", async () => {
    const exporter = await double(good);
    const path = file("token");
    writeFileSync(path, "one\n");
    const scraper = scraperOf(exporter.url, { credentials: { bearerTokenFile: path } });
    await scrape(scraper);
    writeFileSync(path, "second\n");
    await scrape(scraper);
    expect(exporter.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer one", "Bearer second"]);
    rmSync(path);
    expect((await scrape(scraper)).failure).toMatchObject({ reason: "denied" });
  });

  it("trusts its own CA, and an unknown one only if it is configured to", async () => {
    const exporter = await double(good, { key: pem("server.key"), cert: pem("server.pem") });
    expect((await scrape(scraperOf(exporter.url))).failure).toMatchObject({ reason: "tls" });
    expect((await scrape(scraperOf(exporter.url, { tls: { ca: pem("ca.pem") } }))).failure).toBeUndefined();
    expect((await scrape(scraperOf(exporter.url, { tls: { insecureSkipVerify: true } }))).failure).toBeUndefined();
  });

  it("sends its client certificate if the server requires one", async () => {
    const tls = { key: pem("server.key"), cert: pem("server.pem"), ca: pem("ca.pem"), requestCert: true };
    const exporter = await double(good, tls);
    const ca = pem("ca.pem");
    expect((await scrape(scraperOf(exporter.url, { tls: { ca } }))).failure).toBeDefined();
    const own = { ca, cert: pem("client.pem"), key: pem("client.key") };
    expect((await scrape(scraperOf(exporter.url, { tls: own }))).failure).toBeUndefined();
  });
});
