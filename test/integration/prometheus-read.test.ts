import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createPrometheusClient, type PrometheusClient } from "../../collectors/prometheus/read/client.ts";
import { query, readByQuery } from "../../collectors/prometheus/read/query.ts";
import { readChunks } from "../../collectors/prometheus/read/remote-read.ts";
import { openSource } from "../../collectors/prometheus/read/source.ts";
import type { ReadSamples } from "../../collectors/prometheus/read/samples.ts";
import { SourceError } from "../../collectors/prometheus/read/source-error.ts";
import type { Series } from "../../collectors/prometheus/target-series.ts";
import { requirePart } from "../support/parts.ts";
import { writeSamples, type WrittenSeries } from "../support/prometheus-writer.ts";
import { startWritablePrometheus, type PrometheusServer } from "../support/prometheus-server.ts";

const FROM = Date.UTC(2026, 2, 1);
const HOURS = 5;

/** Returns numbers that depend only on their index. */
function noise(index: number): number {
  const sine = Math.sin(index * 12.9898) * 43_758.5453;
  return sine - Math.floor(sine);
}

/** Series of every shape that the encoding distinguishes: times that are regular, jump or jitter; values that stay, count or are random. */
function shapes(): readonly WrittenSeries[] {
  const times: Readonly<Record<string, (index: number) => number>> = {
    regular: (index) => FROM + index * 30_000,
    jitter: (index) => FROM + index * 30_000 + Math.floor(noise(index) * 4000),
    // Changes of the interval by 2 ** 13 and 2 ** 16 ms: the largest for 14 and 17 bits.
    edges: (index) =>
      FROM + index * 30_000 + Math.floor((index + 3) / 4) * 2 ** 13 + Math.floor((index + 1) / 4) * 2 ** 16,
    gaps: (index) => FROM + index * 30_000 + (index > 200 ? 3_600_000 : 0) + (index > 250 ? 90_000_000 / 60 : 0),
  };
  const values: Readonly<Record<string, (index: number) => number>> = {
    constant: () => 1,
    counter: (index) => index * 1_234_567,
    random: (index) => noise(index + 7) * 10 ** (Math.floor(noise(index) * 600) - 300),
    negative: (index) => -noise(index),
    special: (index) => [0, -0, Infinity, -Infinity, Number.MIN_VALUE, Number.MAX_VALUE, 2 ** 53, 0.1][index % 8]!,
  };
  return Object.entries(times).flatMap(([time, timeAt]) =>
    Object.entries(values).map(([value, valueAt]) => {
      const count = time === "regular" || time === "jitter" ? HOURS * 120 : 300;
      const indexes = Array.from({ length: count }, (_, index) => index);
      return {
        labels: { __name__: "shape", time, value, instance: "gpu-a:9400", empty: '\n"\\ ü' },
        times: indexes.map((index) => timeAt(index)),
        values: indexes.map((index) => valueAt(index)),
      };
    }),
  );
}

function clientOf(
  url: string,
  patienceMillis = 0,
  mostBytes = 1e8,
  onPartial?: (sentence: string) => void,
): PrometheusClient {
  const client = createPrometheusClient({
    url,
    headers: {},
    maxLoad: 1,
    patienceMillis,
    timeoutMillis: 10_000,
    mostBytes,
    onRetry: () => {},
    onPartial,
  });
  onTestFinished(() => client.close());
  return client;
}

async function read(way: ReadSamples, client: PrometheusClient, fromMillis: number, untilMillis: number) {
  const found = new Map<string, Map<number, number>>();
  const known = new Map<string, Series>();
  const match = [
    { label: "__name__", is: "=", value: "shape" },
    { label: "instance", is: "=~", value: "gpu-a:.*" },
  ] as const;
  await way(
    client,
    match,
    { fromMillis, untilMillis },
    (key, make) => known.get(key) ?? known.set(key, make()).get(key)!,
    ({ labels }) => {
      const key = `${labels.get("time")} ${labels.get("value")} ${labels.get("empty")}`;
      const samples = found.get(key) ?? new Map<number, number>();
      found.set(key, samples);
      return ({ times, values, count }) => {
        for (let index = 0; index < count; index++) {
          const at = times[index]!;
          if (at >= fromMillis && at < untilMillis) samples.set(at, values[index]!);
        }
      };
    },
  );
  return new Map([...found].map(([key, samples]) => [key, [...samples].toSorted(([a], [b]) => a - b)]));
}

const hasPrometheus = requirePart("prometheus");

describe.skipIf(!hasPrometheus)("the samples of a real Prometheus", () => {
  let server: PrometheusServer;
  const written = shapes();

  beforeAll(async () => {
    server = await startWritablePrometheus();
    // In the order of time over all series, as senders send.
    for (let hour = 0; hour < HOURS + 2; hour++) {
      const [from, until] = [FROM + hour * 3_600_000, FROM + (hour + 1) * 3_600_000];
      const part = written.map((series) => {
        const inside = Array.from(series.times, (_, index) => index).filter(
          (index) => series.times[index]! >= from && series.times[index]! < until,
        );
        return { ...series, times: inside.map((i) => series.times[i]!), values: inside.map((i) => series.values[i]!) };
      });
      await writeSamples(
        server.url,
        part.filter(({ times }) => times.length > 0),
      );
    }
  });
  afterAll(() => server?.stop());

  test.each([
    ["remote read", readChunks],
    ["queries", readByQuery],
  ] as const)("%s returns each sample with its own time and value", async (_, way) => {
    const client = clientOf(server.url);
    for (const [from, until] of [
      [FROM, FROM + 8 * 3_600_000],
      [FROM + 1_000_000, FROM + 8_000_000],
      [FROM + 30_000, FROM + 60_000],
    ] as const) {
      const expected = new Map(
        written.flatMap(({ labels, times, values }) => {
          const samples = Array.from(times, (at, index) => [at, values[index]!] as const);
          const inside = samples.filter(([at]) => at >= from && at < until);
          const key = `${labels["time"]} ${labels["value"]} ${labels["empty"]}`;
          return inside.length === 0 ? [] : [[key, inside] as const];
        }),
      );
      expect(await read(way, client, from, until)).toEqual(expected);
    }
  });

  test("remote read is preferred", async () => {
    expect((await openSource(clientOf(server.url), FROM)).way).toBe("remote read");
  });
});

/** Starts a server with a listener. Returns its address. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a server in trouble", () => {
  const kinds = [
    [401, "unauthorized", "refused"],
    [404, "not found", "unsupported"],
    [422, '{"status":"error","error":"query processing would load too many samples into memory"}', "limit"],
    [503, '{"status":"error","error":"query timed out in expression evaluation"}', "limit"],
    [503, "Service Unavailable", "unavailable"],
    [429, "too many outstanding requests", "unavailable"],
    [400, '{"status":"error","error":"parse error"}', "broken"],
  ] as const;

  test.each(kinds)("HTTP %i %s is %s", async (status, body, kind) => {
    const url = await answering((_, response) => void response.writeHead(status).end(body));
    const failure = await clientOf(url)
      .ask("/api/v1/query", { query: "up" })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceError);
    expect((failure as SourceError).kind).toBe(kind);
  });

  const AWAY = "receive series from Addr: store-2:10901: rpc error: code = Unavailable";
  const partial = [
    ["Thanos without a store", `{"data":{"result":[]},"warnings":["${AWAY}"]}`, AWAY],
    ["VictoriaMetrics without a node", '{"data":{"result":[]},"isPartial":true}', "isPartial"],
  ] as const;

  test.each(partial)("a part of an answer is not believed: %s", async (_, body, lack) => {
    const url = await answering((_request, response) => void response.end(body));
    const failure = await clientOf(url)
      .ask("/api/v1/query", { query: "up" })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceError);
    expect(failure).toMatchObject({ kind: "unavailable" });
    expect((failure as SourceError).message).toContain(lack);
    const lacks: string[] = [];
    const accepting = clientOf(url, 0, 1e8, (sentence) => lacks.push(sentence));
    expect(await accepting.ask("/api/v1/query", { query: "up" })).toEqual({ result: [] });
    expect(lacks).toEqual([lack]);
  });

  test("a part of an answer is requested again until the answer is whole", async () => {
    let asked = 0;
    const url = await answering((_, response) => {
      response.end((asked += 1) < 2 ? partial[0][1] : '{"data":{"result":[]},"warnings":["PromQL info: a remark"]}');
    });
    expect(await clientOf(url, 30_000).ask("/api/v1/query", { query: "up" })).toEqual({ result: [] });
    expect(asked).toBe(2);
  });

  test("a request is repeated while the server is unavailable, and waits for as long as the server requests", async () => {
    const at: number[] = [];
    const url = await answering((_, response) => {
      at.push(performance.now());
      if (at.length < 3) response.writeHead(503, { "retry-after": "1" }).end();
      else response.end('{"data":{"result":[]}}');
    });
    expect(await clientOf(url, 30_000).ask("/api/v1/query", { query: "up" })).toEqual({ result: [] });
    expect(at).toHaveLength(3);
    expect(at[1]! - at[0]!).toBeGreaterThan(900);
  });

  test("an answer that ends in the middle is unavailable, and a server without remote read is queried", async () => {
    const cut = await answering((_, response) => {
      response.writeHead(200, {
        "content-type": "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse",
      });
      response.end(Buffer.from([200, 1, 0, 0, 0, 0, 10]));
    });
    const failure = await read(readChunks, clientOf(cut), 0, 1).catch((error: unknown) => error);
    expect((failure as SourceError).kind).toBe("unavailable");
    const without = await answering((request, response) => {
      if (request.url === "/api/v1/read") response.writeHead(404).end("404 page not found");
      else response.end('{"data":{"result":[]}}');
    });
    expect((await openSource(clientOf(without), FROM)).way).toBe("queries");
    const down = clientOf("http://127.0.0.1:1");
    await expect(openSource(down, FROM)).rejects.toThrow("no answer from http://127.0.0.1:1");
  });

  test.each(['{"data":1}', '{"data":null}', '{"data":{}}', '{"data":{"result":7}}', "7", "no JSON"])(
    "an answer of another shape is broken: %s",
    async (text) => {
      const client = clientOf(await answering((_, response) => response.end(text)));
      await expect(query(client, "up", 0)).rejects.toMatchObject({ name: "SourceError", kind: "broken" });
    },
  );

  test("an answer with more bytes than the limit is not read to its end", async () => {
    const part = "x".repeat(1_000_000);
    const url = await answering((_, response) => {
      const write = (): void => void (response.destroyed || (response.write(part), setTimeout(write, 1)));
      write();
    });
    await expect(query(clientOf(url, 0, 3_000_000), "up", 0)).rejects.toMatchObject({ kind: "limit" });
  });

  test("an answer that never ends is given up when its reading ends", async () => {
    const url = await answering((_, response) => {
      const drip = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(drip));
    });
    const client = clientOf(url, 60_000).within(AbortSignal.timeout(500));
    await expect(query(client, "up", 0)).rejects.toThrow("no whole answer from");
  });

  test("requests take only their part of the time", async () => {
    const url = await answering((_, response) => setTimeout(() => response.end('{"data":{}}'), 100));
    const client = createPrometheusClient({
      url,
      headers: {},
      maxLoad: 0.25,
      patienceMillis: 0,
      timeoutMillis: 10_000,
      mostBytes: 1e8,
      onRetry: () => {},
    });
    onTestFinished(() => client.close());
    const began = performance.now();
    await client.ask("/api/v1/query", {});
    await client.ask("/api/v1/query", {});
    expect(performance.now() - began).toBeGreaterThan(700);
    expect(client.spent.busyMillis / (client.spent.busyMillis + client.spent.pausedMillis)).toBeLessThan(0.27);
  });
});
