import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { createPageReader, messagesOf } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { systemClock } from "../../runtime/clock.ts";
import { collector as collectMessages } from "../support/bus/messages.ts";
import { createCommandFolder, type CommandFolder, type RunningCommand } from "../support/command.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";
import { requirePart } from "../support/parts.ts";
import { freePort } from "../support/ports.ts";
import { startPrometheusOn, type PrometheusServer } from "../support/prometheus-server.ts";

const TOKEN = "the token of Prometheus";
const INTERVAL_MILLIS = 1_000;
const GPUS = 4;
const HOSTS = ["gpu-a", "gpu-b"];
/** Prometheus sends a batch after a second. After SIGKILL it never sends the samples of its last batches. */
const UNSENT_MILLIS = 3_000;
const decoder = createScrapeDecoder();

/** An exporter whose pages have their number as a value, with all pages that were asked for, by number - 1. */
interface NumberedExporter extends ExporterDouble {
  readonly pages: readonly string[];
}

async function startNumbered(host: string): Promise<NumberedExporter> {
  const pages: string[] = [];
  const exporter = await startExporterDouble((_, response, double) => {
    const number = pages.length + 1;
    const value = (family: string, gpu: number): string => {
      if (family === "DCGM_FI_DEV_FB_USED") return String(number);
      if (family.startsWith("DCGM_FI_PROF_PIPE")) return ((number % 89) / 97 + gpu / 100).toFixed(6);
      return family.startsWith("DCGM_FI_PROF_GR") || family.startsWith("DCGM_FI_PROF_DRAM") ? "0.5" : String(gpu + 30);
    };
    // A pod comes and goes, so that series end.
    const pod = (gpu: number): string | undefined => (gpu === 0 && number % 9 < 4 ? `train-${host}` : undefined);
    const page = dcgmPage({ gpus: GPUS, host, value, pod });
    pages.push(page);
    double.page(response, page);
  });
  return Object.assign(exporter, { pages });
}

const numberOf = ({ shape, values }: Scrape): number =>
  Math.round(values[shape.columns.indexOf("fb_used_bytes")]! / 2 ** 20);

/** Returns the message of a page that a collector has scraped itself. */
function scraped(page: string, like: Scrape): Scrape {
  const reader = createPageReader(createTemplates(1e7));
  const origin = { cluster: like.cluster, node: like.node, target: like.target, collector: like.collector };
  const reading = reader.read({ key: "page", origin: () => origin }, Buffer.from(page), true);
  if ("failure" in reading) throw new Error(reading.failure.detail);
  const scrape = decoder.decode(messagesOf(reading, { ...like })[0]!.message);
  if ("invalid" in scrape) throw new Error(scrape.invalid);
  return scrape;
}

/** Returns the times of the samples of a series by instance, in milliseconds since the epoch, with their values. */
async function samplesOf(prometheus: PrometheusServer, selector: string): Promise<Map<string, Map<number, number>>> {
  const answer = await fetch(`${prometheus.url}/api/v1/query?${new URLSearchParams({ query: selector }).toString()}`);
  const { data } = (await answer.json()) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>;
        readonly values: readonly (readonly [at: number, value: string])[];
      }[];
    };
  };
  return new Map(
    data.result.map(({ metric, values }) => [
      metric["instance"]!,
      new Map(values.map(([at, value]) => [Math.round(at * 1_000), Number(value)])),
    ]),
  );
}

const sleep = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis));

describe.runIf(requirePart("prometheus"))("a real Prometheus that writes to a collector", () => {
  let folder: CommandFolder;
  let prometheus: PrometheusServer | undefined;
  let command: RunningCommand | undefined;
  const exporters: NumberedExporter[] = [];

  beforeAll(() => {
    folder = createCommandFolder();
  });
  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all(exporters.map((exporter) => exporter.close()));
    await folder.dispose();
  });

  async function readBus(): Promise<Scrape[]> {
    const logger = pino({ level: "silent" });
    const bus = await openEmbeddedBus({ folder: join(folder.path, "data", "bus"), clock: systemClock, logger });
    const seen = collectMessages();
    const follower = await bus.follow(SAMPLES_TOPIC, seen.onMessages);
    await follower.caughtUp;
    await follower.close();
    await bus.close();
    return seen.messages.map(({ value }) => {
      const scrape = decoder.decode(value!);
      if ("invalid" in scrape) throw new Error(scrape.invalid);
      return scrape;
    });
  }

  it(
    "has each of its scrapes on the bus, as a collector would have scraped it, while both are killed",
    { timeout: 180_000 },
    async () => {
      for (const host of HOSTS) exporters.push(await startNumbered(host));
      const port = await freePort();
      const config = folder.write("collector.json", {
        data: join(folder.path, "data"),
        collector: {
          name: "one",
          interval: "1s",
          timeout: "1s",
          remoteWrite: { listen: `127.0.0.1:${port}`, bearerToken: TOKEN },
        },
        server: { listen: "127.0.0.1:0" },
      });
      const startCollector = async (): Promise<string> => {
        command = folder.start(["collect", "--config", config]);
        return command.address();
      };
      const configuration = folder.write(
        "prometheus.yaml",
        stringify({
          global: { scrape_interval: "1s", external_labels: { cluster: "prod", prometheus_replica: "p-0" } },
          scrape_configs: [
            {
              job_name: "dcgm",
              honor_labels: true,
              static_configs: exporters.map(({ url }, index) => ({
                targets: [new URL(url).host],
                labels: { node: HOSTS[index] },
              })),
            },
          ],
          remote_write: [
            {
              url: `http://127.0.0.1:${port}/api/v1/write`,
              authorization: { credentials: TOKEN },
              queue_config: { batch_send_deadline: "1s", min_backoff: "50ms", max_backoff: "500ms", min_shards: 2 },
              metadata_config: { send_interval: "2s" },
              write_relabel_configs: [
                { source_labels: ["__name__"], regex: "DCGM_.*|up|scrape_duration_seconds", action: "keep" },
              ],
            },
          ],
        }),
      );
      const data = join(folder.path, "prometheus");
      const address = await startCollector();
      prometheus = await startPrometheusOn(configuration, data);
      const statusOf = async (): Promise<unknown> =>
        ((await (await fetch(`${address}/api/status`)).json()) as { readonly collector: unknown }).collector;
      const shown = { gpus: GPUS * HOSTS.length, remoteWrite: { targets: { total: 2, up: 2 }, leftOut: [] } };
      await expect.poll(statusOf).toMatchObject(shown);
      const metrics = await (await fetch(`${address}/metrics`)).text();
      expect(metrics).toMatch(/^gpu_ledger_remote_write_requests_total\{code="204"\} [1-9]/m);
      expect(metrics).toMatch(/^gpu_ledger_remote_write_samples_left_out_total\{reason="other-series"\} [1-9]/m);

      await command!.end("SIGKILL");
      await sleep(4_000);
      await startCollector();
      // Prometheus waits between its attempts. It loses what it has not sent when it is killed.
      await sleep(10_000);

      const killedMillis = Date.now();
      process.kill(prometheus.processId, "SIGKILL");
      await sleep(2_000);
      prometheus = await startPrometheusOn(configuration, data);
      await sleep(6_000);

      const [, down] = exporters;
      const downUrl = new URL(down!.url).host;
      await down!.close();
      await sleep(6_000);

      const ups = await samplesOf(prometheus, `up{job="dcgm"}[10m]`);
      // Prometheus sends the rest before it ends.
      await prometheus.stop();
      prometheus = undefined;
      await sleep(14_000);
      await command!.end("SIGTERM");

      const scrapes = await readBus();
      const found = new Map<string, Map<number, Scrape>>();
      for (const scrape of scrapes) {
        const instance = new URL(scrape.target).host;
        const ofTarget = found.get(instance) ?? new Map<number, Scrape>();
        found.set(instance, ofTarget);
        const before = ofTarget.get(scrape.scrapedAtMillis);
        // After SIGKILL, messages of the last minutes come again. They are equal.
        expect(scrape).toEqual(before ?? scrape);
        ofTarget.set(scrape.scrapedAtMillis, scrape);
      }
      expect([...found.keys()].toSorted()).toEqual([...ups.keys()].toSorted());
      for (const { served } of exporters) expect(served.length).toBeGreaterThan(10);
      for (const [instance, samples] of ups) {
        const ofTarget = found.get(instance)!;
        const { pages } = exporters.find(({ url }) => new URL(url).host === instance)!;
        const missing = [...samples.keys()].filter((at) => !ofTarget.has(at));
        expect(missing.filter((at) => at < killedMillis - UNSENT_MILLIS || at > killedMillis)).toEqual([]);
        for (const [at, up] of samples) {
          const scrape = ofTarget.get(at);
          if (scrape === undefined) continue;
          const failure = up === 0 ? { reason: "refused", detail: "up is 0 in Prometheus" } : undefined;
          expect(scrape.failure).toEqual(failure);
          if (up === 0) continue;
          const own = scraped(pages[numberOf(scrape) - 1]!, scrape);
          expect(scrape.shape).toEqual(own.shape);
          expect([...scrape.values]).toEqual([...own.values]);
          expect(scrape).toMatchObject({ cluster: "prod", collector: "one", intervalMillis: INTERVAL_MILLIS });
          expect(HOSTS).toContain(scrape.node);
        }
        // No scrape that Prometheus does not know.
        const last = Math.max(...samples.keys());
        expect([...ofTarget.keys()].filter((at) => at <= last && !samples.has(at))).toEqual([]);
      }
      const downs = [...ups.get(downUrl)!.values()].filter((up) => up === 0);
      expect(downs.length).toBeGreaterThan(2);
    },
  );
});
