import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { AggregatorRegistry, Registry, type MetricObjectWithValues, type MetricValue } from "prom-client";
import { hoursIn } from "../domain/charge/settling.ts";
import { lastDue, type BillingPeriod } from "../domain/period.ts";
import { DAY_MILLIS } from "../domain/time.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { SupervisedChild } from "../runtime/lifecycle/children.ts";
import { createLifecycle } from "../runtime/lifecycle/stopping.ts";
import { connectStore, migrateStore, outsideStore, type StoreAddress } from "../runtime/store/connection.ts";
import { STORE_PROGRAM } from "../runtime/store/embedded/program.ts";
import { startEmbeddedStore, type EmbeddedStore } from "../runtime/store/embedded/supervisor.ts";
import { startStatusServer } from "../runtime/http/status-server.ts";
import { registerProcessMetrics } from "../runtime/telemetry/process-metrics.ts";
import { startTelemetry } from "../runtime/telemetry/telemetry.ts";
import { ENGINE_NAMESPACES } from "../demo/serving/models.ts";
import { demoKubeconfig } from "./demo.ts";
import { startDemoClose } from "./demo-close.ts";
import { runsDemo, withDemoLedger } from "./demo-config.ts";
import { startDeliveryWorker } from "./delivery-worker.ts";
import { openPortTls } from "./port-tls.ts";
import { startPracticeMetrics } from "./practices.ts";
import { openReports } from "./reports.ts";
import { addRemoteGpuMetrics } from "./gpu-metrics.ts";
import { createParts, type Parts } from "./parts.ts";
import type { CollectorStatus, DemoStatus, ProcessorStatus } from "./role.ts";
import { shownStatus } from "./shown-status.ts";
import { makePrivateFolder, restrictFiles } from "../runtime/private-folder.ts";
import { beginLedger } from "./begun-ledger.ts";

/** The state of all parts of `up`: the body of `/api/status`. */
export interface SystemStatus {
  readonly version: string;
  readonly address: string;
  /** Set if the fleet is the synthetic one. */
  readonly demo: DemoStatus | undefined;
  readonly store: { readonly url: string; readonly kind: "embedded" | "clickhouse" };
  readonly collector: CollectorStatus | undefined;
  readonly processor: ProcessorStatus | undefined;
  /** The parts' processes: their current ids and their numbers of restarts. */
  readonly processes: Readonly<Record<string, { readonly id: number | undefined; readonly restarts: number }>>;
  readonly notReady: readonly string[];
}

/** The whole running system. */
export interface System {
  /** The address of the store, with the user who has all rights. */
  readonly store: StoreAddress;
  readonly address: string;
  status(): SystemStatus;
  /** Ends every part, within 10 s. */
  stop(): Promise<void>;
}

/**
 * Starts the whole program on one machine: the store, the demo fleet if the configuration has nothing to scrape, a processor, a collector
 * and the status server. Each part except the server is a process of its own and is started again when it dies. The parts' logs go to
 * `logFile` if the terminal shows the view.
 */
export async function startSystem(options: {
  readonly config: Config;
  readonly version: string;
  readonly logger: Logger;
  readonly logFile?: number;
}): Promise<System> {
  const { config, version, logger, logFile } = options;
  const tls = await openPortTls("server", config.server);
  makePrivateFolder(config.data);
  restrictFiles(config.data);
  const lifecycle = createLifecycle(logger);
  const processes = new Map<string, Pick<SupervisedChild, "restarts" | "processId">>();
  const onStarted = (name: string, child: SupervisedChild | EmbeddedStore): void => {
    lifecycle.add(name, child);
    processes.set(name, child);
  };
  const parts = createParts({ logger, logFile, onStarted });
  /** The metrics of this process. */
  const registry = new Registry();
  registerProcessMetrics(registry);
  lifecycle.add("telemetry", await startTelemetry(config, "gpu-ledger-server", registry));
  try {
    const address = await startStore(config, logger, onStarted);
    const isDemo = runsDemo(config);
    const given = isDemo ? onDemo(config) : config;
    await migrateStore(address, given, logger);
    const status = (): SystemStatus => ({
      version,
      address: server.url,
      store: { url: address.url, kind: config.store.kind },
      ...statusOf(parts),
      processes: Object.fromEntries(
        [...processes].map(([part, { processId, restarts }]) => [part, { id: processId, restarts }]),
      ),
    });
    const shown = ({ processor, ...others }: SystemStatus): SystemStatus => ({
      ...others,
      processor: processor === undefined ? undefined : shownStatus(processor, config.server),
    });
    const store = connectStore(address, config);
    lifecycle.add("reader", { stop: () => store.close() });
    const scraped = await beginLedger(given, store, Date.now());
    const { guard, addRoutes } = await openReports(scraped, {
      store,
      version,
      isDemo,
      logger,
      hoursWaiting: () => statusOf(parts).processor?.hoursWaiting ?? [],
    });
    const views = {
      status: () => Promise.resolve(shown(status())),
      metrics: async () => mergeMetrics([...(await parts.metrics()), await registry.getMetricsAsJSON()]),
      notReady: parts.notReady,
      demoTargets: () => statusOf(parts).demo?.targets ?? [],
      guard,
      tls: tls && { ...tls, registry },
      registry,
    };
    const secret = randomBytes(24).toString("base64url");
    const server = lifecycle.add(
      "server",
      await startStatusServer(config.server, views, logger, (routes) => {
        addRemoteGpuMetrics(routes, secret, () => parts.fresh("processor")?.gpuMetrics);
        addRoutes(routes);
      }),
    );
    lifecycle.add("delivery worker", startDeliveryWorker(scraped, { store, version, logger, registry }));
    lifecycle.add("practices", startPracticeMetrics(scraped, { store, logger, registry, now: Date.now }));
    if (isDemo) {
      // A short history is for tests and for a first look. A longer one has a month that can be closed before it.
      const since =
        config.demo.history < DAY_MILLIS ? {} : { sinceMillis: lastDue(Date.now(), config.closing.day).from };
      await parts.start({ role: "demo", config, ...since });
      lifecycle.add(
        "demo's finance",
        startDemoClose({ config: scraped, store, isCharged: (period) => isCharged(parts, period), logger }),
      );
    }
    void parts.start({ role: "processor", config: scraped, store: address, secret });
    void parts.start({ role: "collector", config: scraped });
    return { address: server.url, store: address, status, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** Returns the outside store, or starts the embedded one. `onStarted` gets its process. */
async function startStore(
  config: Config,
  logger: Logger,
  onStarted: (name: string, store: EmbeddedStore) => void,
): Promise<StoreAddress> {
  const outside = outsideStore(config);
  if (outside !== undefined) return outside;
  const store = await startEmbeddedStore({
    folder: join(config.data, "store"),
    program: [process.execPath, STORE_PROGRAM],
    port: config.store.port,
    logger,
  });
  onStarted("store", store);
  return { url: store.url, ...store.user, database: config.store.database };
}

/**
 * Returns the configuration with the demo fleet's cluster to watch, and the pods of exporters and engines in it as targets. If it has no
 * prices of its own, the demo's prices and owners are added.
 */
function onDemo(config: Config): Config {
  const kubeconfig = demoKubeconfig(config);
  const jobs: Config["collector"]["jobs"] = [
    demoJob("demo", "gpus", { kubeconfig }),
    demoJob("demo-engines", "serving", { kubeconfig, namespaces: [...ENGINE_NAMESPACES] }),
  ];
  return {
    ...withDemoLedger(config),
    collector: { ...config.collector, jobs },
    kubernetes: { ...config.kubernetes, clusters: [{ kubeconfig }] },
  };
}

type Job = Config["collector"]["jobs"][number];

function demoJob(name: string, reads: Job["reads"], kubernetes: Job["kubernetes"]): Job {
  return {
    name,
    reads,
    scheme: "http",
    path: "/metrics",
    gzip: false,
    redirects: "origin",
    labels: {},
    targets: [],
    http: [],
    dns: [],
    kubernetes,
    allowEmails: false,
    credentials: {},
  };
}

/** Returns the state of the parts by their last reports. */
function statusOf(parts: Parts): Pick<SystemStatus, "demo" | "collector" | "processor" | "notReady"> {
  const of = <Status>(part: string): Status | undefined => parts.fresh(part)?.status as Status | undefined;
  return { demo: of("demo"), collector: of("collector"), processor: of("processor"), notReady: parts.notReady() };
}

/** Returns whether the demo's past was sent, and all hours of a period are charged. */
function isCharged(parts: Parts, period: BillingPeriod): boolean {
  const { demo, processor } = statusOf(parts);
  const waiting = processor?.hoursWaiting;
  const isSent = demo !== undefined && demo.history.sent === demo.history.total;
  return isSent && waiting !== undefined && hoursIn(waiting, period).length === 0;
}

/** Merges the reports of all parts into one exposition. */
async function mergeMetrics(reported: readonly unknown[]): Promise<string> {
  const metrics = reported as MetricObjectWithValues<MetricValue<string>>[][];
  return AggregatorRegistry.aggregate(metrics).metrics();
}
