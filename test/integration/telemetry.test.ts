import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noTracing, startTelemetry, type Telemetry } from "../../runtime/telemetry/telemetry.ts";

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

interface OtlpMetric {
  readonly name: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly aggregationTemporality: number };
}

interface Resource {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Traces {
  readonly resourceSpans: readonly { readonly resource: Resource; readonly scopeSpans: readonly { spans: Span[] }[] }[];
}

interface ExportedMetrics {
  readonly resourceMetrics: readonly {
    readonly resource: Resource;
    readonly scopeMetrics: readonly { readonly metrics: OtlpMetric[] }[];
  }[];
}

const INTERVAL = 3_600_000;

/** A process has one SDK, so all tests check the data of one start and stop of it. */
describe("telemetry by OTLP", () => {
  const bodies = new Map<string, unknown[]>();
  let receiver: Server;
  let telemetry: Telemetry;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const path = request.url ?? "";
        bodies.set(path, [...(bodies.get(path) ?? []), JSON.parse(Buffer.concat(chunks).toString())]);
        response.setHeader("content-type", "application/json");
        response.end("{}");
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const otlp = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const registers = [new Registry()];
    new Counter({ name: "scrapes_total", help: "Scrapes.", labelNames: ["outcome"], registers }).inc(
      { outcome: "ok" },
      3,
    );
    new Gauge({ name: "lag_seconds", help: "Lag.", registers }).set(1.5);
    const took = new Histogram({
      name: "took_seconds",
      help: "Time.",
      buckets: [1, 2],
      labelNames: ["kind"],
      registers,
    });
    for (const seconds of [0.5, 1.5, 1.75, 9]) took.observe({ kind: "a" }, seconds);
    took.observe({ kind: "b" }, 3);
    const config = { tracing: { otlp, ratio: 1 }, metrics: { otlp: `${otlp}/`, interval: INTERVAL } };
    telemetry = await startTelemetry(config, "gpu-ledger-test", registers[0]!);
    const span = telemetry.startScrape("http://gpu-a:9400/metrics")!;
    span.end();
    telemetry.recordStored(span.traceparent, 1_770_000_000_000, 1_770_000_000_500);
    telemetry.recordStored("nonsense", 1, 2);
    await telemetry.stop();
  });
  afterAll(() => new Promise((resolve) => receiver.close(resolve)));

  it("joins a scrape and its insert in one trace, by the message's header", () => {
    const [traces] = bodies.get("/v1/traces") as Traces[];
    const spans = traces!.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    const scrape = spans.find(({ name }) => name === "scrape")!;
    expect(spans).toHaveLength(2);
    expect(spans.find(({ name }) => name === "store")).toMatchObject({
      traceId: scrape.traceId,
      parentSpanId: scrape.spanId,
    });
  });

  it("has the registry's metrics as sums, gauges and histograms with buckets of their own", () => {
    const [{ resourceMetrics }] = bodies.get("/v1/metrics") as [ExportedMetrics];
    const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    const label = (key: string, stringValue: string) => ({ attributes: [{ key, value: { stringValue } }] });
    expect(metrics).toMatchObject([
      {
        name: "scrapes_total",
        description: "Scrapes.",
        sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [{ ...label("outcome", "ok"), asDouble: 3 }] },
      },
      { name: "lag_seconds", gauge: { dataPoints: [{ asDouble: 1.5 }] } },
      {
        name: "took_seconds",
        histogram: {
          dataPoints: [
            { ...label("kind", "a"), count: 4, sum: 12.75, explicitBounds: [1, 2], bucketCounts: [1, 2, 1] },
            { ...label("kind", "b"), count: 1, sum: 3, explicitBounds: [1, 2], bucketCounts: [0, 0, 1] },
          ],
        },
      },
    ]);
  });

  it("names the service and this process", () => {
    const [{ resourceMetrics }] = bodies.get("/v1/metrics") as [ExportedMetrics];
    const attributes = Object.fromEntries(
      resourceMetrics[0]!.resource.attributes.map(({ key, value }) => [key, value.stringValue]),
    );
    expect(attributes).toMatchObject({
      "service.name": "gpu-ledger-test",
      "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
  });
});

it("loads and exports nothing without an endpoint", async () => {
  const off = { tracing: { ratio: 1 }, metrics: { interval: INTERVAL } };
  const telemetry = await startTelemetry(off, "gpu-ledger-test", new Registry());
  expect(telemetry.startScrape).toBe(noTracing.startScrape);
  await telemetry.stop();
});
