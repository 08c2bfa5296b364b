import type { LineDrop, ScrapeFailure } from "../../domain/scrape.ts";
import { BusError } from "../../runtime/bus/bus.ts";
import { createStepRunner } from "../../runtime/steps.ts";
import { createAuthorization, type Credentials } from "./http/credentials.ts";
import { createConnections, type Connections, type TlsOptions } from "./http/connections.ts";
import { createReceiveBuffers } from "./http/receive-buffers.ts";
import { startScrapeLoop, type LoopClock, type ScrapeLoop } from "./loop.ts";
import type { PageLimits } from "./page/kind.ts";
import { createPageReader, createReader } from "./page/reader.ts";
import { createTemplates } from "./page/templates.ts";
import { createScraper, type ScrapeOutcome } from "./scraper.ts";
import { SERVING_PAGES } from "./serving/pages.ts";
import type { TenantRules } from "./serving/tenants.ts";
import { gpuPages, servingPages, type TargetPages } from "./target-pages.ts";
import { hash32 } from "./targets/hash.ts";
import type { Discovery, RefusedPod, Target } from "./targets/target.ts";

/** The kind of a job's pages: of GPU exporters, or of engines and gateways with the rules for their tenants. */
export type JobPages = { readonly kind: "gpus" } | { readonly kind: "serving"; readonly tenants: TenantRules };

/** A group of targets with the same discoveries, credentials and limits. */
export interface ScrapeJob {
  readonly name: string;
  readonly reads: JobPages;
  readonly discoveries: readonly Discovery[];
  readonly intervalMillis: number;
  readonly timeoutMillis: number;
  readonly bodyLimitBytes: number;
  readonly gzip: boolean;
  readonly redirects: "origin" | "host";
  readonly credentials: Credentials;
  readonly tls: TlsOptions | undefined;
}

/** The receiver of the finished messages of a topic. Resolves when the message is safe (see runtime/bus/spool.ts). */
export type SampleSink = (message: {
  readonly key: string;
  readonly value: Uint8Array;
  readonly schemaVersion: number;
  readonly headers?: Readonly<Record<string, string>>;
}) => Promise<void>;

/** The receiver of finished messages of all topics. */
export type TopicSink = (topic: string, message: Parameters<SampleSink>[0]) => Promise<void>;

/** Starts the trace of a scrape; undefined for a scrape that is not traced. */
export type StartTrace = (
  target: string,
) => { readonly traceparent: string; readonly end: (failure?: string) => void } | undefined;

/** The events of a collector, for its metrics and its log. */
export interface CollectorEvents {
  onScrape(job: string, target: string, outcome: ScrapeOutcome): void;
  onSkipped(job: string, target: string, count: number): void;
  onTargets(job: string, count: number): void;
  /** The pods that a job's discoveries refuse now: the whole list, at each change of targets or refusals. */
  onRefused(job: string, pods: readonly RefusedPod[]): void;
  onDiscoveryError(job: string, discovery: string, error: Error): void;
  onSinkError(job: string, target: string, error: unknown): void;
}

/** The state of one target, as `/api/status` shows it. */
export interface TargetState {
  readonly job: string;
  readonly reads: JobPages["kind"];
  readonly url: string;
  readonly node: string;
  /** GPUs of the last page that was read. */
  readonly gpus: number;
  /** Rows of the last page that was read: GPUs and their holders, or models, parts and tenants. */
  readonly rows: number;
  /** Columns of the last page that was read. */
  readonly columns: readonly string[];
  readonly lastScrapeAtMillis: number | undefined;
  readonly failure: { readonly reason: ScrapeFailure; readonly detail: string } | undefined;
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
}

/** A running collector. */
export interface Collector {
  targets(): readonly TargetState[];
  readonly templates: { readonly templates: number; readonly bytes: number; readonly refused: number };
  /** Stops discovery, waits until the scrapes in progress are finished and sent, and closes the connections. */
  stop(): Promise<void>;
}

interface Running {
  readonly target: Target;
  /** The target as text. A target whose labels change is restarted. */
  readonly text: string;
  readonly pages: TargetPages;
  readonly loop: ScrapeLoop;
  state: TargetState;
}

/** Starts the scrape loops of all jobs, and follows the results of their discoveries. */
export function startCollector(options: {
  readonly name: string;
  readonly cluster: string;
  readonly jobs: readonly ScrapeJob[];
  /** This collector's shard of the targets: those whose hash falls on `index` of `count`. */
  readonly shard: { readonly index: number; readonly count: number };
  readonly templateBytes: number;
  readonly limits: Partial<PageLimits>;
  readonly sink: TopicSink;
  readonly events: CollectorEvents;
  readonly startTrace: StartTrace;
  readonly clock: LoopClock;
}): Collector {
  const { name, cluster, jobs, shard, sink, events, startTrace, clock } = options;
  const templates = createTemplates(options.templateBytes);
  const readers = {
    gpus: createPageReader(templates, options.limits),
    serving: createReader(SERVING_PAGES, templates, options.limits),
  };
  const steps = createStepRunner();
  const buffers = createReceiveBuffers();
  const stops = jobs.map((job) => startJob(job));

  function startJob(job: ScrapeJob): { readonly running: Map<string, Running>; readonly stop: () => Promise<void> } {
    const connections = createConnections(job);
    const running = new Map<string, Running>();
    const found = new Map<Discovery, readonly Target[]>();
    const refused = new Map<Discovery, readonly RefusedPod[]>();
    const ending = new Set<Promise<void>>();

    const reconcile = (): void => {
      const wanted = new Map<string, Target>();
      for (const target of [...found.values()].flat()) {
        if (hash32(target.url) % shard.count === shard.index && !wanted.has(target.url)) wanted.set(target.url, target);
      }
      for (const [url, { loop, target, text, pages }] of running) {
        if (text === JSON.stringify(wanted.get(url))) continue;
        running.delete(url);
        const end = loop.stop().then(() => {
          ending.delete(end);
          if (running.has(url)) return;
          templates.release(pages.template);
          for (const each of [url, ...(target.companions ?? [])]) connections.drop(new URL(each).origin);
        });
        ending.add(end);
      }
      for (const [url, target] of wanted)
        if (!running.has(url)) running.set(url, startTarget(job, connections, target));
      events.onTargets(job.name, running.size);
      events.onRefused(job.name, [...refused.values()].flat());
    };
    for (const discovery of job.discoveries) {
      discovery.start(
        (targets, pods) => {
          found.set(discovery, targets);
          refused.set(discovery, pods);
          reconcile();
        },
        (error) => events.onDiscoveryError(job.name, discovery.name, error),
      );
    }
    return {
      running,
      async stop() {
        await Promise.all(job.discoveries.map((discovery) => discovery.stop()));
        await Promise.all([...ending, ...[...running.values()].map(({ loop }) => loop.stop())]);
        connections.close();
      },
    };
  }

  function startTarget(job: ScrapeJob, connections: Connections, target: Target): Running {
    const authorization = createAuthorization(job.credentials);
    const names = { cluster, collector: name };
    const pages =
      job.reads.kind === "gpus"
        ? gpuPages(readers.gpus, target, names)
        : servingPages(readers.serving, target, names, job.reads.tenants);
    const { topic, schemaVersion, keyOf } = pages;
    const deps = {
      epoch: clock.nowMillis(),
      steps,
      connections,
      buffers,
      now: () => clock.nowMillis(),
    };
    const scrape = createScraper(deps, pages, target, { ...job, authorization });
    /** Sends the messages of a scrape. If a message is too large for the bus, the scrape has failed for the remaining hosts. */
    async function keep(outcome: ScrapeOutcome, span: ReturnType<StartTrace>): Promise<ScrapeOutcome> {
      const { messages, failure, failedWith } = outcome;
      const left = new Set(messages.map(({ origin }) => keyOf(origin)));
      try {
        const headers = span === undefined ? {} : { headers: { traceparent: span.traceparent } };
        for (const { origin, message } of messages) {
          const key = keyOf(origin);
          await sink(topic, { key, value: message, schemaVersion, ...headers });
          left.delete(key);
        }
        span?.end(failure?.detail);
      } catch (error) {
        if (failure === undefined && error instanceof BusError && error.code === "too-large") {
          const refused = failedWith({ reason: "too-large", detail: error.message });
          const unsent = refused.messages.filter(({ origin }) => left.has(keyOf(origin)));
          return keep({ ...refused, messages: unsent }, span);
        }
        events.onSinkError(job.name, target.url, error);
        span?.end("not sent");
      }
      return outcome;
    }
    const scrapeAndSend = async (): Promise<void> => {
      const lastScrapeAtMillis = clock.nowMillis();
      const span = startTrace(target.url);
      const outcome = await keep(await scrape(), span);
      const { messages, failure, dropped } = outcome;
      const { state } = entry;
      const { gpus, rows, columns } = failure === undefined ? outcome : state;
      const node = messages.map(({ origin }) => origin.node).join(", ");
      entry.state = { ...state, node, gpus, rows, columns, lastScrapeAtMillis, failure, dropped };
      events.onScrape(job.name, target.url, outcome);
    };
    const entry: Running = {
      target,
      text: JSON.stringify(target),
      pages,
      loop: startScrapeLoop({
        key: target.url,
        intervalMillis: job.intervalMillis,
        scrape: scrapeAndSend,
        onSkipped: (count) => events.onSkipped(job.name, target.url, count),
        clock,
      }),
      state: {
        job: job.name,
        reads: job.reads.kind,
        url: target.url,
        node: "",
        gpus: 0,
        rows: 0,
        columns: [],
        lastScrapeAtMillis: undefined,
        failure: undefined,
        dropped: {},
      },
    };
    return entry;
  }

  return {
    targets: () => stops.flatMap(({ running }) => [...running.values()].map(({ state }) => state)),
    get templates() {
      return templates.stats;
    },
    async stop() {
      await Promise.all(stops.map((job) => job.stop()));
    },
  };
}
