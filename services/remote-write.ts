import { join } from "node:path";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import type { SampleSink } from "../collectors/exporters/collector-model.ts";
import { machineClock } from "../collectors/exporters/loop.ts";
import type { ReceiverEvents } from "../collectors/prometheus/receive/receiver-state.ts";
import { startReceiver } from "../collectors/prometheus/receive/receiver.ts";
import { startWriteServer } from "../collectors/prometheus/receive/write-server.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import { openTls } from "../runtime/tls/port-tls.ts";
import type { SeenTarget } from "./lacking-counters.ts";
import { createPushedView } from "./pushed-view.ts";
import type { Shard } from "./left-spools.ts";
import type { RemoteWriteStatus } from "./role.ts";

/** The running port for remote write. */
export interface RemoteWrite {
  readonly url: string;
  /** The targets with GPUs, like those that are scraped. */
  targets(): readonly SeenTarget[];
  status(): RemoteWriteStatus;
  /** Sets the metrics of the current state, and logs once what senders leave out. */
  sample(): void;
  stop(): Promise<void>;
}

/** The wait before the log has what senders leave out: metadata and `kube_pod_info` come once a minute. */
const GAPS_MILLIS = 120_000;

/** Returns the folder of a collector's write-ahead log for remote write. It stays the same if the count of collectors changes. */
function remoteWriteFolder(data: string, { index }: Shard): string {
  return join(data, `remote-write-${index}`);
}

/** Starts the port for remote write. Fails if the address cannot be listened on, or if the log cannot be opened. */
export async function startRemoteWrite(options: {
  readonly config: Config;
  readonly remote: NonNullable<Config["collector"]["remoteWrite"]>;
  readonly shard: Shard;
  readonly sink: SampleSink;
  readonly metrics: Metrics;
  readonly onValues: (count: number) => void;
  readonly logger: Logger;
}): Promise<RemoteWrite> {
  const { config, remote, shard, sink, metrics, onValues, logger } = options;
  const { collector } = config;
  const tls = remote.tls === undefined ? undefined : await openTls(remote.tls);
  const receiver = startReceiver({
    folder: remoteWriteFolder(config.data, shard),
    cluster: config.cluster,
    collector: collector.name,
    intervalMillis: remote.interval ?? collector.interval,
    labels: remote,
    limits: {
      uncompressedBytes: remote.uncompressedLimit,
      series: remote.seriesLimit,
      labels: remote.labelLimit,
      labelBytes: remote.labelLength,
      memoryBytes: remote.memory,
      diskBytes: remote.disk,
      page: { series: collector.seriesLimit, devices: collector.deviceLimit },
    },
    sink,
    events: eventsOf(metrics, onValues, logger),
    clock: machineClock,
    logger,
  });
  receiver.replayed.catch((error: unknown) =>
    logger.fatal({ err: error }, "the write-ahead log of remote write cannot be read; its port refuses samples"),
  );
  const server = await startWriteServer({
    config: { ...config.server, listen: remote.listen },
    credentials: remote,
    bodyLimitBytes: remote.bodyLimit,
    // The metrics of certificates are those of the main port.
    tls: tls && { ...tls, registry: new Registry() },
    receiver,
    onRequest: (status) => metrics.writeRequests.inc({ code: String(status) }),
    onConnectionEnded: (limit) => metrics.connectionsEnded.inc({ limit }),
    nowMillis: machineClock.nowMillis,
    logger,
  }).catch(async (error: unknown) => {
    await receiver.stop();
    throw error;
  });
  logger.info({ listen: server.url }, "receiving remote write");
  const pushed = createPushedView(receiver);
  const logged = new Set<string>();
  let firstMillis: number | undefined;

  return {
    url: server.url,
    targets: pushed.seen,
    status() {
      const targets = pushed.withGpus();
      const { use } = receiver;
      return {
        address: server.url,
        senders: server.senders(),
        targets: { total: targets.length, up: targets.filter(({ failure }) => failure === undefined).length },
        series: use.series,
        memoryBytes: use.memoryBytes,
        logBytes: use.logBytes,
        leftOut: pushed.gaps(),
      };
    },
    sample() {
      const { use } = receiver;
      const { length } = pushed.withGpus();
      metrics.writeSeries.set(use.series);
      metrics.writeTargets.set(length);
      metrics.writeSenders.set(server.senders());
      metrics.writeMemory.set(use.memoryBytes);
      metrics.writeLog.set(use.logBytes);
      if (length === 0) return;
      firstMillis ??= machineClock.monotonicMillis();
      if (machineClock.monotonicMillis() - firstMillis < GAPS_MILLIS) return;
      for (const { what, text } of pushed.gaps()) {
        if (logged.has(what)) continue;
        logged.add(what);
        logger.warn({ leftOut: text }, "senders of remote write leave something out");
      }
    },
    async stop() {
      await server.stop();
      await receiver.stop();
    },
  };
}

function eventsOf(metrics: Metrics, onValues: (count: number) => void, logger: Logger): ReceiverEvents {
  return {
    onSamples(kept, dropped) {
      metrics.writeSamples.inc(kept);
      onValues(kept);
      for (const [reason, count] of Object.entries(dropped)) metrics.writeSamplesLeftOut.inc({ reason }, count);
    },
    onMoment: (outcome) => metrics.writeScrapes.inc({ outcome }),
    onElected: () => metrics.writeElections.inc(),
    onSinkError(target, error) {
      metrics.writeScrapesUnsent.inc();
      logger.error({ err: error, target: target.instance }, "a scrape of a Prometheus could not be sent or spooled");
    },
  };
}
