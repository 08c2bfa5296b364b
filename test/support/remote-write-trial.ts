import { join } from "node:path";
import { pino } from "pino";
import { expect } from "vitest";
import { stringify } from "yaml";
import { createPageReader, messagesOf } from "../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../collectors/exporters/page/templates.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { systemClock } from "../../runtime/clock.ts";
import { collector as collectMessages } from "./bus/messages.ts";
import { createCommandFolder, getJson, type RunningCommand } from "./command.ts";
import { dcgmPage } from "./dcgm-page.ts";
import { startExporterDouble, type ExporterDouble } from "./exporter-double.ts";
import { freePort } from "./ports.ts";
import { startPrometheusOn, type PrometheusServer } from "./prometheus-server.ts";

/** Prometheus' metric of the newest sample that a receiver has acknowledged. */
const ACKNOWLEDGED = "prometheus_remote_storage_queue_highest_sent_timestamp_seconds\\{[^}]*\\}";
const TOKEN = "the token of Prometheus";
const INTERVAL_MILLIS = 1_000;
const GPUS = 4;
const HOSTS = ["gpu-a", "gpu-b"];
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

/** The samples of `up`: for each instance the value by the time in milliseconds since the epoch. */
export type Ups = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** A real Prometheus that scrapes two exporters and writes to a running collector. */
export interface RemoteWriteTrial {
  readonly exporters: readonly NumberedExporter[];
  /** The address of the collector's status server. It changes with each start. */
  readonly address: string;
  startCollector(): Promise<void>;
  startPrometheus(): Promise<void>;
  /** Kills a part with SIGKILL. */
  kill(part: "collector" | "Prometheus"): Promise<void>;
  ups(): Promise<Ups>;
  /** The time of the newest sample that the collector has acknowledged, in milliseconds since the epoch. */
  acknowledgedMillis(): Promise<number>;
  /** The scrapes that the collector has sent to its bus since it started. */
  sent(): Promise<number>;
  /** Ends Prometheus, which sends the rest before it ends. */
  stopPrometheus(): Promise<void>;
  /** Ends the collector, and returns the scrapes on its bus. */
  end(): Promise<readonly Scrape[]>;
  dispose(): Promise<void>;
}

/** Starts the exporters, the collector and Prometheus, and waits until the collector shows both targets. */
export async function startRemoteWriteTrial(): Promise<RemoteWriteTrial> {
  const folder = createCommandFolder();
  const exporters = await Promise.all(HOSTS.map(startNumbered));
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
  const configuration = folder.write("prometheus.yaml", stringify(prometheusOf(exporters, port)));
  let command: RunningCommand;
  let prometheus: PrometheusServer | undefined;
  let address = "";

  async function startCollector(): Promise<void> {
    command = folder.start(["collect", "--config", config]);
    address = await command.address();
  }
  async function startPrometheus(): Promise<void> {
    prometheus = await startPrometheusOn(configuration, join(folder.path, "prometheus"));
  }
  async function stopPrometheus(): Promise<void> {
    await prometheus?.stop();
    prometheus = undefined;
  }
  await startCollector();
  await startPrometheus();
  const shown = { gpus: GPUS * HOSTS.length, remoteWrite: { targets: { total: 2, up: 2 }, leftOut: [] } };
  await expect
    .poll(async () => (await getJson<{ readonly collector: unknown }>(`${address}/api/status`)).collector)
    .toMatchObject(shown);
  return {
    exporters,
    get address() {
      return address;
    },
    startCollector,
    startPrometheus,
    stopPrometheus,
    async kill(part) {
      if (part === "collector") await command.end("SIGKILL");
      else process.kill(prometheus!.processId, "SIGKILL");
    },
    async ups() {
      const series = await prometheus!.query(`up{job="dcgm"}[10m]`);
      return new Map(
        series.map(({ metric, values }) => [
          metric["instance"]!,
          new Map(values.map(([at, value]) => [Math.round(at * 1_000), Number(value)])),
        ]),
      );
    },
    async acknowledgedMillis() {
      return 1_000 * (await metricOf(prometheus!.url, ACKNOWLEDGED));
    },
    sent: () => metricOf(address, 'gpu_ledger_remote_write_scrapes_total\\{outcome="sent"\\}'),
    async end() {
      await command.end("SIGTERM");
      return readBus(join(folder.path, "data", "bus"));
    },
    async dispose() {
      await stopPrometheus();
      await Promise.all(exporters.map((exporter) => exporter.close()));
      await folder.dispose();
    },
  };
}

/** Returns the value of a metric on a program's own page; 0 where the page does not have it yet. `series` is a regular expression. */
async function metricOf(url: string, series: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${series} (\\S+)`, "m").exec(page)?.[1] ?? 0);
}

function prometheusOf(exporters: readonly ExporterDouble[], port: number): object {
  return {
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
  };
}

async function readBus(folder: string): Promise<readonly Scrape[]> {
  const bus = await openEmbeddedBus({ folder, clock: systemClock, logger: pino({ level: "silent" }) });
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

/**
 * Expects each sample of `up` as a scrape, with the values of its page, and no other scrapes. `mayLack` returns true for the times whose samples
 * Prometheus may not have sent, or only some of them.
 */
export function expectScrapes(
  { exporters }: RemoteWriteTrial,
  ups: Ups,
  scrapes: readonly Scrape[],
  mayLack: (atMillis: number) => boolean = () => false,
): void {
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
  for (const [instance, samples] of ups) {
    const ofTarget = found.get(instance)!;
    const { pages } = exporters.find(({ url }) => new URL(url).host === instance)!;
    const missing = [...samples.keys()].filter((at) => !ofTarget.has(at));
    expect(missing.filter((at) => !mayLack(at))).toEqual([]);
    for (const [at, up] of samples) {
      const scrape = ofTarget.get(at);
      if (scrape === undefined || mayLack(at)) continue;
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
}
