import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { AggregatorRegistry, Registry, type MetricObjectWithValues, type MetricValue } from "prom-client";
import { hoursIn } from "../domain/charge/settling.ts";
import { lastDue, type BillingPeriod } from "../domain/period.ts";
import { DAY_MILLIS } from "../domain/time.ts";
import type { Config } from "../runtime/config/schema.ts";
import { superviseChild, type SupervisedChild } from "../runtime/lifecycle/children.ts";
import { createLifecycle } from "../runtime/lifecycle/stopping.ts";
import { connectStore, migrateStore, outsideStore, type StoreAddress } from "../runtime/store/connection.ts";
import { STORE_PROGRAM } from "../runtime/store/embedded/program.ts";
import { startEmbeddedStore } from "../runtime/store/embedded/supervisor.ts";
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
import {
  ASK_METRICS,
  CHILD_GRACE_MILLIS,
  type ChildMetrics,
  type ChildOrder,
  type ChildReport,
} from "./child-messages.ts";
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

const CHILD_PROGRAM = fileURLToPath(new URL("./child.js", import.meta.url));
/**
 * Flags of V8's heap. The young generation has room, in megabytes, for the objects of one scrape or insert. With the default of 1, which
 * grows to 16, the parts would spend a fifth of their time copying it. The old generation may grow to three times its live size before a
 * collection. Low activity starts no collection: with the defaults a processor had one after every insert.
 */
const V8_FLAGS = ["--min-semi-space-size=16", "--heap-growing-percent=200", "--no-memory-reducer"];
/** The time in which a part must answer with its metrics. */
const METRICS_MILLIS = 3_000;
/** The age from which a report is too old. */
const STALE_MILLIS = 10_000;

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
  const reports = new Map<string, ChildReport & { readonly at: number }>();
  const processes = new Map<string, Pick<SupervisedChild, "restarts" | "processId">>();
  const children: SupervisedChild[] = [];
  let asking: Promise<readonly unknown[]> | undefined;
  /** The metrics of this process. */
  const registry = new Registry();
  registerProcessMetrics(registry);
  lifecycle.add("telemetry", await startTelemetry(config, "gpu-ledger-server", registry));
  /** The callbacks that wait for a part's metrics. */
  const metrics = new Map<string, (metrics: unknown) => void>();

  function startChild(order: ChildOrder): Promise<ChildReport> {
    return new Promise((resolve) => {
      const child = superviseChild({
        name: order.role,
        start: () => forkChild(order, logFile),
        onMessage(message) {
          const report = message as ChildReport | ChildMetrics;
          if ("metrics" in report) {
            metrics.get(order.role)?.(report.metrics);
            return;
          }
          reports.set(order.role, { ...report, at: Date.now() });
          resolve(report);
        },
        graceMillis: CHILD_GRACE_MILLIS,
        logger,
      });
      lifecycle.add(order.role, child);
      processes.set(order.role, child);
      children.push(child);
    });
  }

  /** Requests the metrics of every part. A part that does not answer in time is left out. */
  async function askMetrics(): Promise<readonly unknown[]> {
    asking ??= Promise.all(
      children.map(async ({ name, send }) => {
        const answer = new Promise<unknown>((resolve) => metrics.set(name, resolve));
        send(ASK_METRICS);
        return await Promise.race([answer, sleep(METRICS_MILLIS, undefined, { ref: false })]);
      }),
    ).finally(() => (asking = undefined));
    return (await asking).filter((answer) => answer !== undefined);
  }

  try {
    const address = await startStore();
    const isDemo = runsDemo(config);
    const given = isDemo ? onDemo(config) : config;
    await migrateStore(address, given, logger);
    const freshReport = (part: string): ChildReport | undefined => {
      const report = reports.get(part);
      return report === undefined || Date.now() - report.at > STALE_MILLIS ? undefined : report;
    };
    const fresh = <Status>(part: string): Status | undefined => freshReport(part)?.status as Status | undefined;
    const parts = (): string[] => [...processes.keys()].filter((part) => part !== "store");
    const isCharged = (period: BillingPeriod): boolean => {
      const [demo, processor] = [fresh<DemoStatus>("demo"), fresh<ProcessorStatus>("processor")];
      const waiting = processor?.hoursWaiting;
      const isSent = demo !== undefined && demo.history.sent === demo.history.total;
      return isSent && waiting !== undefined && hoursIn(waiting, period).length === 0;
    };
    const status = (): SystemStatus => ({
      version,
      address: server.url,
      demo: fresh("demo"),
      store: { url: address.url, kind: config.store.kind },
      collector: fresh("collector"),
      processor: fresh("processor"),
      processes: Object.fromEntries(
        [...processes].map(([part, { processId, restarts }]) => [part, { id: processId, restarts }]),
      ),
      notReady: parts().flatMap((part) => {
        if (fresh(part) === undefined) return [`the ${part} has not reported`];
        const reason = reports.get(part)?.notReady;
        return reason === undefined ? [] : [`${part}: ${reason}`];
      }),
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
      hoursWaiting: () => fresh<ProcessorStatus>("processor")?.hoursWaiting ?? [],
    });
    const views = {
      status: () => Promise.resolve(shown(status())),
      metrics: async () => mergeMetrics([...(await askMetrics()), await registry.getMetricsAsJSON()]),
      notReady: () => status().notReady,
      demoTargets: () => fresh<DemoStatus>("demo")?.targets ?? [],
      guard,
      tls: tls && { ...tls, registry },
      registry,
    };
    const secret = randomBytes(24).toString("base64url");
    const server = lifecycle.add(
      "server",
      await startStatusServer(config.server, views, logger, (routes) => {
        addRemoteGpuMetrics(routes, secret, () => freshReport("processor")?.gpuMetrics);
        addRoutes(routes);
      }),
    );
    lifecycle.add("delivery worker", startDeliveryWorker(scraped, { store, version, logger, registry }));
    lifecycle.add("practices", startPracticeMetrics(scraped, { store, logger, registry, now: Date.now }));
    if (isDemo) {
      // A short history is for tests and for a first look. A longer one has a month that can be closed before it.
      const since =
        config.demo.history < DAY_MILLIS ? {} : { sinceMillis: lastDue(Date.now(), config.closing.day).from };
      await startChild({ role: "demo", config, ...since });
      lifecycle.add("demo's finance", startDemoClose({ config: scraped, store, isCharged, logger }));
    }
    void startChild({ role: "processor", config: scraped, store: address, secret });
    void startChild({ role: "collector", config: scraped });
    return { address: server.url, store: address, status, stop: () => lifecycle.stop() };
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }

  /** Returns the outside store, or starts the embedded one. */
  async function startStore(): Promise<StoreAddress> {
    const outside = outsideStore(config);
    if (outside !== undefined) return outside;
    const store = await startEmbeddedStore({
      folder: join(config.data, "store"),
      program: [process.execPath, STORE_PROGRAM],
      port: config.store.port,
      logger,
    });
    lifecycle.add("store", store);
    processes.set("store", store);
    return { url: store.url, ...store.user, database: config.store.database };
  }
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

function forkChild(order: ChildOrder, logFile: number | undefined): ChildProcess {
  const child = fork(CHILD_PROGRAM, [], { stdio: ["ignore", logFile ?? 2, logFile ?? 2, "ipc"], execArgv: V8_FLAGS });
  child.send(order);
  return child;
}

/** Merges the reports of all parts into one exposition. */
async function mergeMetrics(reported: readonly unknown[]): Promise<string> {
  const metrics = reported as MetricObjectWithValues<MetricValue<string>>[][];
  return AggregatorRegistry.aggregate(metrics).metrics();
}
