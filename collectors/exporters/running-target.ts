import { BusError } from "../../runtime/bus/bus.ts";
import type { StepRunner } from "../../runtime/steps.ts";
import type { CollectorOptions, ScrapeJob, StartTrace, TargetState, TopicSink } from "./collector-model.ts";
import type { Connections } from "./http/connections.ts";
import { createAuthorization } from "./http/credentials.ts";
import type { ReceiveBuffers } from "./http/receive-buffers.ts";
import { startScrapeLoop, type ScrapeLoop } from "./loop.ts";
import type { PageReader } from "./page/reader.ts";
import type { Templates } from "./page/templates.ts";
import type { ServingSource } from "./serving/pages.ts";
import { createScraper, type ScrapeOutcome } from "./scraper.ts";
import { gpuPages, servingPages, type TargetPages } from "./target-pages.ts";
import type { Target } from "./targets/target.ts";

/** The options of a collector, and the parts that its targets share. */
export interface CollectorParts extends CollectorOptions {
  readonly templates: Templates;
  readonly readers: { readonly gpus: PageReader; readonly serving: PageReader<ServingSource> };
  readonly steps: StepRunner;
  readonly buffers: ReceiveBuffers;
}

/** A target that is scraped. */
export interface Running {
  readonly target: Target;
  /** The target as text. A target whose labels change is restarted. */
  readonly text: string;
  readonly pages: TargetPages;
  readonly loop: ScrapeLoop;
  state: TargetState;
}

/** Starts the scrapes of a target. */
export function startTarget(parts: CollectorParts, job: ScrapeJob, connections: Connections, target: Target): Running {
  const { cluster, name, readers, clock, steps, buffers, sink, events, startTrace } = parts;
  const authorization = createAuthorization(job.credentials);
  const names = { cluster, collector: name };
  const pages =
    job.reads.kind === "gpus"
      ? gpuPages(readers.gpus, target, names)
      : servingPages(readers.serving, target, names, job.reads.tenants);
  const deps = {
    epoch: clock.nowMillis(),
    steps,
    connections,
    buffers,
    now: () => clock.nowMillis(),
  };
  const scrape = createScraper(deps, pages, target, { ...job, authorization });
  const keeping = { sink, pages, onError: (error: unknown) => events.onSinkError(job.name, target.url, error) };
  const scrapeAndSend = async (): Promise<void> => {
    const lastScrapeAtMillis = clock.nowMillis();
    const span = startTrace(target.url);
    const outcome = await keep(keeping, await scrape(), span);
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

interface Keeping {
  readonly sink: TopicSink;
  readonly pages: TargetPages;
  readonly onError: (error: unknown) => void;
}

/** Sends the messages of a scrape. If a message is too large for the bus, the scrape has failed for the remaining hosts. */
async function keep(
  { sink, pages, onError }: Keeping,
  outcome: ScrapeOutcome,
  span: ReturnType<StartTrace>,
): Promise<ScrapeOutcome> {
  const { topic, schemaVersion, keyOf } = pages;
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
      return keep({ sink, pages, onError }, { ...refused, messages: unsent }, span);
    }
    onError(error);
    span?.end("not sent");
  }
  return outcome;
}
