import type { Logger } from "pino";
import { Registry } from "prom-client";
import { startCollector, type Collector } from "../collectors/exporters/collector.ts";
import type { CollectorEvents } from "../collectors/exporters/collector-model.ts";
import { createJobs } from "../collectors/exporters/jobs.ts";
import { machineClock } from "../collectors/exporters/loop.ts";
import type { RefusedPod } from "../collectors/exporters/targets/target.ts";
import { SAMPLES_TOPIC } from "../domain/messages/topics.ts";
import type { LineDrop } from "../domain/scrape.ts";
import { openBus } from "../runtime/bus/open.ts";
import type { DropReason } from "../runtime/bus/spool.ts";
import { topicDeclarations } from "../runtime/bus/topics.ts";
import { BusError, type Bus } from "../runtime/bus/bus.ts";
import type { Config } from "../runtime/config/schema.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import { createLifecycle } from "../runtime/lifecycle/stopping.ts";
import { createMetrics, type Metrics } from "../runtime/telemetry/metrics.ts";
import { startTelemetry } from "../runtime/telemetry/telemetry.ts";
import { createRate } from "../runtime/telemetry/rate.ts";
import { registerProcessMetrics } from "../runtime/telemetry/process-metrics.ts";
import { createLackingCounters, type SeenTarget } from "./lacking-counters.ts";
import { startRemoteWrite, type RemoteWrite } from "./remote-write.ts";
import { sendLeftSpools, type Shard } from "./left-spools.ts";
import type { CollectorStatus, Role } from "./role.ts";
import { createScrapeSenders, type ScrapeSenders } from "./scrape-senders.ts";
import { startWatchers, type Watchers } from "./watchers.ts";

const RATE_WINDOW_MILLIS = 60_000;
const MOST_FAILING = 10;
const REFUSALS: readonly RefusedPod["reason"][] = ["namespace", "address", "port", "path"];
/** The number of refused pods in the log. Anyone who may create pods can give many of them the labels of a target. */
const MOST_REFUSED = 10;
const DECLARE_AGAIN_MILLIS = 5_000;
/** The interval of the check for missing counters. Counter files change with releases of the exporter. */
const LACKING_EVERY_MILLIS = 30_000;
const SERVING_ROWS_MILLIS = 5_000;
const SAMPLE_MILLIS = 1_000;
const REMOTE_WRITE_SAMPLE_MILLIS = 5_000;

/**
 * Starts a collector. It scrapes the targets of this shard and sends the results over the spool to the bus. In each cluster one of all
 * collectors is elected to watch it.
 */
export async function startCollectorRole(config: Config, shard: Shard, logger: Logger): Promise<Role<CollectorStatus>> {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const metrics = createMetrics(registry);
  const lifecycle = createLifecycle(logger);
  const telemetry = lifecycle.add("telemetry", await startTelemetry(config, "gpu-ledger-collector", registry));
  const bus = await openBus(config, logger);
  lifecycle.add("bus", { stop: () => bus.close() });
  const declaring = declareTopics(bus, config, logger);
  lifecycle.add("declaration of topics", declaring);
  const onDropped = (count: number, reason: DropReason): void => metrics.messagesDropped.inc({ reason }, count);
  const left = { data: config.data, shard, bus, maxBytes: config.bus.spool, onDropped, logger };
  lifecycle.add("spools that were left", sendLeftSpools(left));
  const senders = lifecycle.add("spools", createScrapeSenders(left));
  const totals = { values: 0, dropped: {} as Partial<Record<LineDrop, number>> };
  const collector = startCollector({
    name: config.collector.name,
    cluster: config.cluster,
    jobs: createJobs(config),
    shard,
    templateBytes: config.collector.templates,
    limits: { series: config.collector.seriesLimit, devices: config.collector.deviceLimit },
    sink: senders.send,
    events: createEvents(metrics, totals, logger),
    startTrace: (target) => telemetry.startScrape(target),
    clock: machineClock,
  });
  lifecycle.add("collector", collector);
  const { remoteWrite: remote } = config.collector;
  const remoteWrite =
    remote === undefined
      ? undefined
      : await startRemoteWrite({
          config,
          remote,
          shard,
          sink: (message) => senders.send(SAMPLES_TOPIC, message),
          metrics,
          onValues: (count) => (totals.values += count),
          logger,
        }).catch(async (error: unknown) => {
          await lifecycle.stop();
          throw error;
        });
  if (remoteWrite !== undefined) lifecycle.add("remote write", remoteWrite);
  const watchers = lifecycle.add("watchers", startWatchers({ config, shard, bus, metrics, logger }));

  const rate = createRate(RATE_WINDOW_MILLIS);
  const observe = (): void => rate.observe(totals.values, Date.now());
  const sampled = { collector, senders, watchers, remoteWrite, metrics, observe, logger };
  for (const [name, sampling] of Object.entries(startSampling(sampled))) lifecycle.add(name, sampling);

  return {
    registry,
    status() {
      const targets = collector.targets();
      const pushed = remoteWrite?.targets() ?? [];
      const failing = targets.filter(({ failure }) => failure !== undefined);
      const { queuedMessages, queuedBytes, dropped } = senders.stats();
      return Promise.resolve({
        targets: {
          total: targets.length,
          up: targets.filter((target) => target.lastScrapeAtMillis !== undefined && target.failure === undefined)
            .length,
        },
        gpus: [...targets, ...pushed].reduce((sum, { gpus }) => sum + gpus, 0),
        valuesPerSecond: rate.perSecond(),
        dropped: totals.dropped,
        failing: failing.slice(0, MOST_FAILING).map(({ url, node, failure }) => ({ url, node, ...failure! })),
        spool: { messages: queuedMessages, bytes: queuedBytes, dropped },
        kubernetes: watchers.states(),
        ...(remoteWrite === undefined ? {} : { remoteWrite: remoteWrite.status() }),
      });
    },
    notReady: () => (declaring.done ? undefined : "no answer from the bus yet"),
    stop: () => lifecycle.stop(),
  };
}

/** The parts of a collector whose state is sampled. */
interface Sampled {
  readonly collector: Collector;
  readonly senders: ScrapeSenders;
  readonly watchers: Watchers;
  readonly remoteWrite: RemoteWrite | undefined;
  readonly metrics: Metrics;
  /** Called in each sample. */
  readonly observe: () => void;
  readonly logger: Logger;
}

/** Sets the metrics of the current state, each in its interval. */
function startSampling(of: Sampled): Readonly<Record<string, Repeated>> {
  const { collector, senders, watchers, remoteWrite, metrics, observe, logger } = of;
  let last = { sent: 0, errors: 0, refused: 0 };
  const sample = (): void => {
    observe();
    const { queuedMessages, queuedBytes, sent, errors } = senders.stats();
    const { bytes, refused } = collector.templates;
    metrics.spoolMessages.set(queuedMessages);
    metrics.spoolBytes.set(queuedBytes);
    metrics.messagesSent.inc(sent - last.sent);
    metrics.sendErrors.inc(errors - last.errors);
    metrics.templateBytes.set(bytes);
    metrics.templatesRefused.inc(refused - last.refused);
    last = { sent, errors, refused };
    watchers.sample();
  };
  const countServingRows = (): void => {
    metrics.servingRows.reset();
    for (const { job, reads, rows } of collector.targets())
      if (reads === "serving") metrics.servingRows.inc({ scrape_job: job }, rows);
  };
  const countLacking = createLackingCounters(metrics);
  const seen = (): readonly SeenTarget[] => [...collector.targets(), ...(remoteWrite?.targets() ?? [])];
  const onError = (error: unknown): void => logger.error({ err: error }, "the collector's status cannot be read");
  return {
    sampling: repeat(SAMPLE_MILLIS, sample, onError),
    "sampling of remote write": repeat(REMOTE_WRITE_SAMPLE_MILLIS, () => remoteWrite?.sample(), onError),
    "serving rows": repeat(SERVING_ROWS_MILLIS, countServingRows, onError),
    "lacking counters": repeat(LACKING_EVERY_MILLIS, () => countLacking(seen()), onError),
  };
}

/** Declares the topics, repeatedly while the bus is away. Scraping does not wait for the bus; the spool does. */
function declareTopics(bus: Bus, config: Config, logger: Logger): { readonly done: boolean; stop(): Promise<void> } {
  const stopping = new AbortController();
  let done = false;
  const attempt = async (): Promise<void> => {
    for (;;) {
      try {
        await bus.declare(topicDeclarations(config.bus));
        done = true;
        return;
      } catch (error) {
        if (stopping.signal.aborted) return;
        logger.error({ err: error }, "the topics cannot be declared");
        if (error instanceof BusError && !error.retriable) return;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, DECLARE_AGAIN_MILLIS);
          stopping.signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
        });
      }
    }
  };
  const running = attempt();
  return {
    get done() {
      return done;
    },
    stop() {
      stopping.abort();
      return running;
    },
  };
}

function createEvents(
  metrics: Metrics,
  totals: { values: number; readonly dropped: Partial<Record<LineDrop, number>> },
  logger: Logger,
): CollectorEvents {
  const failing = new Set<string>();
  const refused = new Map<string, ReadonlySet<string>>();
  return {
    onScrape(job, target, { failure, durationSeconds, pageBytes, values, templated, dropped, missed }) {
      metrics.scrapes.inc({ scrape_job: job, outcome: failure?.reason ?? "ok" });
      metrics.scrapeSeconds.observe({ scrape_job: job }, durationSeconds);
      metrics.scrapeBytes.inc({ scrape_job: job }, pageBytes);
      if (values > 0) metrics.scrapeValues.inc({ way: templated ? "template" : "full" }, values);
      totals.values += values;
      for (const [reason, count] of Object.entries(dropped) as [LineDrop, number][]) {
        metrics.linesDropped.inc({ reason }, count);
        totals.dropped[reason] = (totals.dropped[reason] ?? 0) + count;
      }
      for (const { reason } of missed) metrics.companionsMissed.inc({ scrape_job: job, reason });
      // A target that stays down is logged once, and once when it is back.
      const failed = failure === undefined ? missed : [{ url: target, ...failure }];
      if (failed.length > 0 && !failing.has(target)) {
        failing.add(target);
        for (const { url, ...why } of failed) logger.warn({ job, target: url, ...why }, "a target cannot be scraped");
      } else if (failed.length === 0 && failing.delete(target)) {
        logger.info({ job, target }, "a target can be scraped again");
      }
    },
    onSkipped: (job, target, count) => {
      metrics.scrapesSkipped.inc({ scrape_job: job }, count);
      logger.debug({ job, target, count }, "scrapes were skipped, because the one before still ran");
    },
    onTargets: (job, count) => metrics.targets.set({ scrape_job: job }, count),
    onRefused(job, pods) {
      for (const reason of REFUSALS)
        metrics.refusedPods.set({ scrape_job: job, reason }, pods.filter((pod) => pod.reason === reason).length);
      const known = refused.get(job);
      const now = new Map(pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
      refused.set(job, new Set(now.keys()));
      const news = [...now.values()].filter(({ namespace, name }) => known?.has(`${namespace}/${name}`) !== true);
      for (const pod of news.slice(0, MOST_REFUSED))
        logger.warn({ job, ...pod }, "a pod with the labels of a target is not scraped");
      if (news.length > MOST_REFUSED)
        logger.warn({ job, count: news.length }, "more pods with the labels of a target are not scraped");
    },
    onDiscoveryError(job, discovery, error) {
      metrics.discoveryErrors.inc({ scrape_job: job });
      logger.warn({ job, discovery, err: error }, "a discovery of targets failed; the last known targets are kept");
    },
    onSinkError(job, target, error) {
      metrics.scrapesUnsent.inc({ scrape_job: job });
      logger.error({ job, target, err: error }, "a scrape could not be sent or spooled");
    },
  };
}
