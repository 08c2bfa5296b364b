import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createTracing, noTracing } from "../../runtime/telemetry/tracing.ts";

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
}

it("joins a scrape and its insert in one trace, by the message's header", async () => {
  const spans: Span[] = [];
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
      };
      spans.push(...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.setHeader("content-type", "application/json");
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const otlp = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const collector = await createTracing({ otlp, ratio: 1 }, "collector");
  const processor = await createTracing({ otlp, ratio: 1 }, "processor");
  const span = collector.startScrape("http://gpu-a:9400/metrics")!;
  span.end();
  processor.recordStored(span.traceparent, 1_770_000_000_000, 1_770_000_000_500);
  processor.recordStored("nonsense", 1, 2);
  await Promise.all([collector.stop(), processor.stop()]);
  const scrape = spans.find(({ name }) => name === "scrape")!;
  expect(spans).toHaveLength(2);
  expect(spans.find(({ name }) => name === "store")).toMatchObject({
    traceId: scrape.traceId,
    parentSpanId: scrape.spanId,
  });
  await new Promise((resolve) => receiver.close(resolve));
});

it("traces the part of the scrapes that is asked for, and nothing without an endpoint", async () => {
  const quiet = await createTracing({ otlp: "http://127.0.0.1:1", ratio: 0 }, "collector");
  expect(quiet.startScrape("x")).toBeUndefined();
  expect(await createTracing({ ratio: 1 }, "collector")).toBe(noTracing);
  await quiet.stop();
});
