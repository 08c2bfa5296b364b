import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import { createTestDatabase } from "../support/database.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { importInto } from "../support/import/both-bills.ts";
import { proxyOf } from "../support/import/proxy.ts";
import { requirePart } from "../support/parts.ts";
import { startPrometheus, type PrometheusServer } from "../support/prometheus-server.ts";

const SECONDS = 14;
/** The pod of GPU 0 ends, and another one takes the GPU. */
const POD_CHANGES_AT = 6;
/** The exporter fails for two scrapes. */
const DOWN_AT = 9;

/** A served page, by the number in its temperature. */
interface Served {
  readonly pod: string;
  readonly isDown: boolean;
}

describe.skipIf(!requirePart("prometheus"))("an import of what a real Prometheus scraped", () => {
  let exporter: Server;
  let prometheus: PrometheusServer;
  const served: Served[] = [];
  let fromMillis = 0;

  beforeAll(async () => {
    exporter = createServer((_, response) => {
      const index = served.length;
      const pod = index < POD_CHANGES_AT ? "train-0" : "train-1";
      const isDown = index >= DOWN_AT && index < DOWN_AT + 2;
      served.push({ pod, isDown });
      if (isDown) return void response.writeHead(500).end();
      response.end(
        dcgmPage({ gpus: 2, host: "gpu-a", value: () => String(index), pod: (gpu) => (gpu === 0 ? pod : undefined) }),
      );
    });
    await new Promise<void>((resolve) => exporter.listen(0, "127.0.0.1", resolve));
    const { port } = exporter.address() as AddressInfo;
    prometheus = await startPrometheus({
      configuration: {
        global: { scrape_interval: "1s", scrape_timeout: "1s" },
        scrape_configs: [
          {
            job_name: "dcgm",
            static_configs: [
              {
                targets: [`127.0.0.1:${port}`],
                labels: { namespace: "monitoring", pod: "dcgm-exporter-x7k2b", container: "exporter", node: "gpu-a" },
              },
            ],
          },
        ],
      },
      files: {},
    });
    await vi.waitUntil(() => served.length > 1, { timeout: 30_000 });
    fromMillis = Date.now() - 500;
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
  });
  afterAll(async () => {
    await prometheus?.stop();
    exporter?.close();
  });

  test.each([true, false])(
    "each scrape is a message with the devices and values of its page (remote read: %s)",
    async (isRead) => {
      const store = await createTestDatabase(`import_scraped_${String(isRead)}`);
      onTestFinished(() => store.close());
      const url = isRead
        ? prometheus.url
        : await proxyOf(prometheus.url, (path, _, response) => {
            if (path !== "/api/v1/read") return false;
            response.writeHead(404).end();
            return true;
          });
      const { messages, way } = await importInto(store, url, { fromMillis, untilMillis: Date.now() });
      expect(way).toBe(isRead ? "remote read" : "queries");
      const decoder = createScrapeDecoder();
      const scrapes = messages
        .filter(({ topic }) => topic === SAMPLES_TOPIC)
        .map(({ value }) => decoder.decode(value) as Scrape)
        .toSorted((a, b) => a.scrapedAtMillis - b.scrapedAtMillis);
      expect(scrapes.length).toBeGreaterThan(SECONDS - 3);
      expect(scrapes.filter(({ failure }) => failure !== undefined)).toHaveLength(2);
      let last = -1;
      for (const { shape, values, node, failure, intervalMillis } of scrapes) {
        expect([node, intervalMillis]).toEqual(["gpu-a", 1000]);
        if (failure !== undefined) continue;
        const temperature = shape.columns.indexOf("gpu_temperature_celsius");
        const index = values[temperature]!;
        expect(index).toBeGreaterThan(last);
        last = index;
        // The pod that ended has no row, and the idle GPU has no pod.
        expect(shape.devices.map(({ gpu, pod }) => [gpu, pod])).toEqual([
          ["0", served[index]!.pod],
          ["1", undefined],
        ]);
      }
      const pods = new Set(scrapes.flatMap(({ shape }) => shape.devices.flatMap(({ pod }) => pod ?? [])));
      expect(pods).toEqual(new Set(["train-0", "train-1"]));
    },
  );
});
