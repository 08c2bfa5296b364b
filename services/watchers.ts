import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { FACT_TOPICS } from "../collectors/kubernetes/watcher/fact-registries.ts";
import type { WatcherEvents } from "../collectors/kubernetes/watcher/events.ts";
import { createFactSender, type FactSender } from "../collectors/kubernetes/watcher/sender.ts";
import { startWatcher, type WatcherState } from "../collectors/kubernetes/watcher/watcher.ts";
import type { Bus } from "../runtime/bus/bus.ts";
import { createSpoolingSender, type SpoolingSender } from "../runtime/bus/spool.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import { connectClusters } from "./clusters.ts";
import { spoolFolder, type Shard } from "./left-spools.ts";
import { projectionOf } from "./projection.ts";

/** The watchers of all clusters of the configuration. */
export interface Watchers {
  states(): readonly WatcherState[];
  /** Updates the gauges. */
  sample(): void;
  /** Ends the watching, releases the leases and sends the last facts. */
  stop(): Promise<void>;
}

/** The wait before sending. People wait for facts, and a list is thousands of facts at once. */
const LINGER_MILLIS = 100;
const DRAIN_MILLIS = 3_000;
/** The size of the spool: days of a large cluster. Facts are small, and only changes are sent. */
const SPOOL_BYTES = 512 * 1024 * 1024;
const SPOOL_MEMORY_BYTES = 4 * 1024 * 1024;

/** Takes part in the election of every cluster's watcher. Without clusters it does nothing. */
export function startWatchers(options: {
  readonly config: Config;
  readonly shard: Shard;
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly logger: Logger;
}): Watchers {
  const { config, shard, bus, metrics, logger } = options;
  const { lease } = config.kubernetes;
  const clusters = connectClusters(config);
  if (clusters.length === 0) return { states: () => [], sample: () => {}, stop: () => Promise.resolve() };
  const spools = FACT_TOPICS.map((topic) => ({
    topic,
    sender: createSpoolingSender({
      bus,
      topic,
      folder: spoolFolder(config.data, shard, topic),
      maxBytes: SPOOL_BYTES,
      maxMemoryBytes: SPOOL_MEMORY_BYTES,
      lingerMillis: LINGER_MILLIS,
      onDropped: (count, reason) => metrics.messagesDropped.inc({ reason }, count),
      logger,
    }),
    sent: 0,
  }));
  const onError = (error: unknown): void => logger.error({ err: error }, "a fact could not be sent or spooled");
  const senders = Object.fromEntries(
    spools.map(({ topic, sender }) => [topic, createFactSender(sender, onError)]),
  ) as Record<(typeof FACT_TOPICS)[number], FactSender>;
  const identity = `${config.collector.name}_${randomUUID()}`;
  const projection = projectionOf(config);
  const watchers = clusters.map(({ cluster, api }) =>
    startWatcher({
      cluster,
      api,
      lease,
      identity,
      bus,
      senders,
      projection,
      events: eventsOf(cluster, metrics, logger.child({ cluster })),
      clock: systemClock,
    }),
  );

  return {
    states: () => watchers.map((watcher) => watcher.state()),
    sample() {
      metrics.kubernetesObjects.reset();
      metrics.kubernetesForbidden.reset();
      for (const watcher of watchers) {
        const { cluster, watching, objects, missing, clockSkewMillis, silentMillis } = watcher.state();
        metrics.watching.set({ cluster }, watching ? 1 : 0);
        metrics.clockSkew.set({ cluster }, clockSkewMillis / 1000);
        metrics.kubernetesSilence.set({ cluster }, silentMillis / 1000);
        for (const [resource, count] of Object.entries(objects))
          metrics.kubernetesObjects.set({ cluster, resource }, count);
        for (const { resource, verb } of missing) metrics.kubernetesForbidden.set({ cluster, resource, verb }, 1);
      }
      for (const spool of spools) {
        const { topic, sender } = spool;
        const { sent, queuedMessages } = sender.stats();
        metrics.factsWaiting.set({ topic }, queuedMessages);
        metrics.factsSent.inc({ topic }, sent - spool.sent);
        spool.sent = sent;
      }
    },
    async stop() {
      await Promise.all(watchers.map((watcher) => watcher.stop()));
      await Promise.all(spools.map(({ sender }) => drain(sender)));
    },
  };
}

async function drain(sender: SpoolingSender): Promise<void> {
  await sender.drain(DRAIN_MILLIS);
  await sender.close();
}

function eventsOf(cluster: string, metrics: Metrics, logger: Logger): WatcherEvents {
  /** The last logged text: an outage is one line, not one every 2 s. */
  let lastLogged = "";
  return {
    onElected(epoch) {
      lastLogged = "";
      logger.info({ epoch }, "this collector watches the cluster");
    },
    onDeposed: () => logger.info("this collector no longer watches the cluster"),
    onElectionError(error) {
      metrics.kubernetesErrors.inc({ cluster, resource: "leases.coordination.k8s.io", code: codeOf(error) });
      const text = error instanceof Error ? error.message : String(error);
      if (text !== lastLogged)
        logger.warn({ err: error }, "the election of a watcher, or its term, fails; it is tried again");
      lastLogged = text;
    },
    onListed(resource, objects) {
      metrics.kubernetesLists.inc({ cluster, resource });
      logger.debug({ resource, objects }, "listed");
    },
    onLooked: () => {},
    onWatchTaken: () => {},
    onVersionsBack(resource) {
      metrics.kubernetesVersionsBack.inc({ cluster, resource });
      logger.warn(
        { resource },
        "the API server's resource versions went back: all objects are listed and published again",
      );
    },
    onWatchEvent: (resource, type) => metrics.kubernetesEvents.inc({ cluster, resource, type }),
    onWatchEnded: (resource, why) => metrics.kubernetesWatchEnds.inc({ cluster, resource, why }),
    onError(resource, error, againInMillis) {
      metrics.kubernetesErrors.inc({ cluster, resource, code: error.code });
      logger.debug({ resource, err: error, againInMillis }, "a request to the API server failed");
    },
    onForbidden: ({ verb, resource, without }) =>
      logger.warn({ verb, resource }, `not allowed to ${verb} ${resource}: without it ${without}`),
    onAllowed: ({ verb, resource }) => logger.info({ verb, resource }, `allowed to ${verb} ${resource} again`),
    onInstalled: (resource) => logger.debug({ resource }, "the API server serves the resource now; it is watched"),
    onRemoved: (resource) =>
      logger.info({ resource }, "the API server no longer serves the resource; its objects have ended"),
    onRemarks({ kind, metadata }, remarks) {
      const object = `${kind} ${metadata?.namespace ?? ""}/${metadata?.name}`;
      for (const { reason, text } of remarks) {
        metrics.kubernetesRemarks.inc({ cluster, reason });
        logger.debug({ object, reason }, text);
      }
    },
  };
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "failed";
}
