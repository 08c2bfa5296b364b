import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { KubernetesObject } from "../../demo/kubernetes/server/object.ts";
import { startApiServer, type ApiServer } from "../../demo/kubernetes/server/server.ts";
import { generateQuickAlerts, QUICK_SECONDS } from "../support/alert-files.ts";
import { createCommandFolder, type CommandFolder, type RunningCommand } from "../support/command.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";
import { prepareKafka, startKafkaBroker, type KafkaBroker } from "../support/kafka-broker.ts";
import { container, CREATED, node as nodeObject, pod as podObject } from "../support/kube-objects.ts";
import { kubeconfigOf } from "../support/kubeconfig.ts";
import { requirePart } from "../support/parts.ts";
import { freePort } from "../support/ports.ts";
import {
  startPrometheus,
  type AnsweredSeries,
  type PastSeries,
  type PrometheusServer,
} from "../support/prometheus-server.ts";

const hasParts = requirePart("prometheus") && (await prepareKafka());

/** Two clusters in which everything has the same name, and another owner and price. */
const CLUSTERS = {
  eu: { perHour: 8, teams: { "team-0": "vision", "team-1": "nlp" } },
  us: { perHour: 5, teams: { "team-0": "speech", "team-1": "robotics" } },
} as const;
const NODES = ["node-1", "node-2", "node-3", "node-4"];
const GPUS_OF_NODE = 2;
const PAST = { seconds: 2 * 3600, stepSeconds: QUICK_SECONDS };
const SOON = { timeout: 120_000, interval: 500 };

/** A pod that holds a GPU and does not use it. */
interface IdlePod {
  readonly cluster: keyof typeof CLUSTERS;
  readonly node: string;
  readonly gpu: number;
  readonly namespace: "team-0" | "team-1";
  readonly pod: string;
}

const PODS: readonly IdlePod[] = (["eu", "us"] as const).flatMap((cluster) =>
  NODES.flatMap((node) =>
    (["team-0", "team-1"] as const).map((namespace, gpu) => ({
      cluster,
      node,
      gpu,
      namespace,
      pod: podOn(node, gpu),
    })),
  ),
);

/** The expected texts for the pods. */
const PLACES = PODS.map(placeOf).toSorted();
const OWNED = PODS.map((pod) => `${placeOf(pod)} of ${CLUSTERS[pod.cluster].teams[pod.namespace]}`).toSorted();
const priced = (digits: number): readonly string[] =>
  PODS.map((pod) => `${placeOf(pod)} at ${CLUSTERS[pod.cluster].perHour.toFixed(digits)} USD`).toSorted();

describe.skipIf(!hasParts)("alerts joined with the series of two processors about two clusters", () => {
  const apiServers = new Map<string, ApiServer>();
  const exporters: (ExporterDouble & { readonly cluster: string; readonly node: string })[] = [];
  let folder: CommandFolder;
  let broker: KafkaBroker;
  let store: TestStore;
  let prometheus: PrometheusServer;
  /** A Prometheus of the same fleet without any processor. */
  let withoutProcessors: PrometheusServer;
  /** The time from which the state was steady, in milliseconds since the epoch. */
  let settledAt: number;
  const addresses: string[] = [];
  const processors: RunningCommand[] = [];

  beforeAll(async () => {
    folder = createCommandFolder();
    [broker, store] = await Promise.all([startKafkaBroker(), startTestStore()]);
    for (const cluster of Object.keys(CLUSTERS) as (keyof typeof CLUSTERS)[]) {
      apiServers.set(cluster, await startCluster(cluster));
      for (const node of NODES) exporters.push({ ...(await startIdleExporter(node)), cluster, node });
    }
    for (let index = 0; index < 3; index++) addresses.push(`127.0.0.1:${await freePort()}`);
    start("collect", "collector-0", "127.0.0.1:0");
    await Promise.all([startProcessor(0), startProcessor(1)]);
    await vi.waitUntil(async () => (await ownersOf(0)) + (await ownersOf(1)) === PODS.length, SOON);
    const { rules } = await generateQuickAlerts(folder, {
      alerts: { GPUAllocatedIdle: { for: "10s", ageMinutes: 60 } },
    });
    const startOn = (ofProcessors: readonly string[]): Promise<PrometheusServer> =>
      startPrometheus({
        configuration: scraping(ofProcessors, Object.keys(rules)),
        files: rules,
        past: { series: PODS.flatMap(pastOf), range: PAST },
      });
    [prometheus, withoutProcessors] = await Promise.all([startOn(addresses), startOn([])]);
  });
  afterAll(async () => {
    await Promise.all([prometheus?.stop(), withoutProcessors?.stop()]);
    await folder.dispose();
    await Promise.all([
      ...exporters.map((exporter) => exporter.close()),
      ...[...apiServers.values()].map((server) => server.stop()),
    ]);
    await Promise.all([broker?.dispose(), store?.stop()]);
  });

  function start(command: "collect" | "process", name: string, listen: string): RunningCommand {
    const kubeconfig = folder.write("kubeconfig", kubeconfigOf(Object.fromEntries(apiServers)));
    const config = {
      data: name,
      server: { listen },
      bus: {
        kind: "kafka",
        samplePartitions: 4,
        kafka: { brokers: [broker.address], replicationFactor: 1, minInsyncReplicas: 1, session: "6s" },
      },
      store: { kind: "clickhouse", database: "ledger", clickhouse: { url: store.url, ...store.user } },
      collector: {
        name,
        interval: "5s",
        timeout: "5s",
        jobs: Object.keys(CLUSTERS).map((cluster) => ({
          name: cluster,
          labels: { cluster },
          targets: exporters
            .filter((exporter) => exporter.cluster === cluster)
            .map(({ url, node }) => ({ address: url, labels: { node } })),
        })),
      },
      kubernetes: {
        clusters: Object.keys(CLUSTERS).map((cluster) => ({ name: cluster, kubeconfig, context: cluster })),
      },
      prices: Object.entries(CLUSTERS).map(([cluster, { perHour }]) => ({
        from: "2026-01-01",
        match: { cluster },
        per: "gpu-hour",
        list: String(perHour),
      })),
      owners: { team: [{ namespaceLabel: "team" }] },
    };
    return folder.start([command, "--config", folder.write(`${name}.yaml`, config)]);
  }

  async function startProcessor(index: number): Promise<void> {
    processors[index] = start("process", `processor-${index}`, addresses[index]!);
    await processors[index].address();
  }

  /** The number of pods in a processor's series. */
  async function ownersOf(index: number): Promise<number> {
    const page = await (await fetch(`http://${addresses[index]}/metrics`)).text();
    return page.split("\n").filter((line) => line.startsWith("gpu_workload_info{")).length;
  }

  /** Targets with the labels of ServiceMonitors: without `honorLabels` a page's own labels are exported ones. */
  function scraping(ofProcessors: readonly string[], rules: readonly string[]): object {
    return {
      global: { scrape_interval: `${QUICK_SECONDS}s` },
      rule_files: rules,
      scrape_configs: [
        {
          job_name: "dcgm-exporter",
          static_configs: exporters.map(({ url, cluster, node }) => ({
            targets: [new URL(url).host],
            labels: { cluster, ...monitored("gpu-operator", "dcgm-exporter", `dcgm-exporter-${node}`) },
          })),
        },
        {
          job_name: "gpu-ledger-processor",
          static_configs: ofProcessors.map((address, index) => ({
            targets: [address],
            labels: monitored("gpu-ledger", "processor", `gpu-ledger-processor-${index}`),
          })),
        },
      ],
    };
  }

  const FIRING = 'ALERTS{alertname="GPUAllocatedIdle", alertstate="firing"}';

  /** Waits for `count` evaluations, with any results. */
  const evaluations = (count: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, count * QUICK_SECONDS * 1000));

  /** Expects that since the steady state each pod had one owner, one price and one alert at every evaluation. */
  async function expectSteady(): Promise<void> {
    const stepMillis = QUICK_SECONDS * 1000;
    const steps = Math.floor((Date.now() - settledAt) / stepMillis);
    const look = (expr: string): Promise<readonly AnsweredSeries[]> =>
      prometheus.queryRange(expr, settledAt, settledAt + steps * stepMillis, QUICK_SECONDS);
    const owners = await look("gpu:workload:info");
    const alerts = await look(FIRING);
    const costs = await look("pod:gpu_cost_per_hour:sum");
    expect(owners.map(({ metric }) => owned(metric)).toSorted()).toEqual(OWNED);
    expect(alerts.map(({ metric }) => owned(metric)).toSorted()).toEqual(OWNED);
    expect(costs.flatMap(pricesOf).toSorted()).toEqual(priced(0));
    const looks = [...owners, ...alerts, ...costs].map(({ values }) => values.length);
    expect([...new Set(looks)]).toEqual([steps + 1]);
  }

  it("each pod has one alert, with the team and the price of its own cluster", async () => {
    for (const index of [0, 1]) expect(await ownersOf(index)).toBeGreaterThan(0);
    const firing = async (): Promise<readonly string[]> =>
      (await prometheus.query(FIRING)).map(({ metric }) => owned(metric)).toSorted();
    await expect.poll(firing, SOON).toEqual(OWNED);
    const alerts = (await prometheus.alerts()).filter(({ labels }) => labels["alertname"] === "GPUAllocatedIdle");
    const shown = alerts.map(({ labels, annotations }) => `${placeOf(labels)} at ${annotations["cost_per_hour"]}`);
    expect(shown.toSorted()).toEqual(priced(2));
    const scraped = (await prometheus.query("gpu_workload_info")).map(({ metric }) => ({
      place: placeOf({ ...metric, namespace: metric["exported_namespace"]!, pod: metric["exported_pod"]! }),
      by: `${metric["namespace"]}/${metric["pod"]?.replace(/\d$/, "N")}`,
    }));
    expect(scraped.map(({ place }) => place).toSorted()).toEqual(PLACES);
    expect([...new Set(scraped.map(({ by }) => by))]).toEqual(["gpu-ledger/gpu-ledger-processor-N"]);
    await evaluations(3);
    settledAt = Date.now();
  });

  it("the alerts stay the same while one processor stops and the other one takes its partitions", async () => {
    await evaluations(2);
    const { code } = await processors[0]!.end("SIGTERM");
    expect(code).toBe(0);
    await expect.poll(() => ownersOf(1), SOON).toBe(PODS.length);
    await evaluations(4);
    await expectSteady();
  });

  it("the alerts stay the same when a processor joins and takes its part, and when the older one is killed", async () => {
    await startProcessor(2);
    const shares = async (): Promise<readonly boolean[]> => {
      const [older, newer] = await Promise.all([ownersOf(1), ownersOf(2)]);
      return [older > 0 && newer > 0, older + newer === PODS.length];
    };
    await expect.poll(shares, SOON).toEqual([true, true]);
    await evaluations(4);
    await expectSteady();
    await processors[1]!.end("SIGKILL");
    await expect.poll(() => ownersOf(2), SOON).toBe(PODS.length);
    await evaluations(4);
    await expectSteady();
  });

  it("an alert has no team and no price if no processor runs", async () => {
    const firing = await withoutProcessors.query(FIRING);
    expect(firing.map(({ metric }) => placeOf(metric)).toSorted()).toEqual(PLACES);
    expect(firing.flatMap(({ metric }) => Object.keys(metric))).not.toContain("team");
    const alerts = (await withoutProcessors.alerts()).filter(
      ({ labels }) => labels["alertname"] === "GPUAllocatedIdle",
    );
    expect([...new Set(alerts.map(({ annotations }) => annotations["cost_per_hour"]))]).toEqual([""]);
  });
});

/** The labels that identify a pod. Each series may lack them. */
interface Place {
  readonly cluster?: string;
  readonly namespace?: string;
  readonly pod?: string;
}

function placeOf({ cluster, namespace, pod }: Place): string {
  return `${cluster}/${namespace}/${pod}`;
}

function owned(labels: AnsweredSeries["metric"]): string {
  return `${placeOf(labels)} of ${labels["team"]}`;
}

/** Each price that a pod had, once. */
function pricesOf({ metric, values }: AnsweredSeries): readonly string[] {
  return [...new Set(values.map(([, value]) => `${placeOf(metric)} at ${value} ${metric["currency"]}`))];
}

function podOn(node: string, gpu: number): string {
  return `train-${node}-${gpu}`;
}

/** The labels of the Prometheus operator for a pod's endpoint. */
function monitored(namespace: string, container: string, pod: string): AnsweredSeries["metric"] {
  return { namespace, container, pod, service: container, endpoint: "metrics" };
}

/** The recorded past of a pod and its device: no activity. */
function pastOf({ cluster, node, gpu, namespace, pod }: IdlePod): readonly PastSeries[] {
  const uuid = new RegExp(`gpu="${gpu}",UUID="([^"]+)"`).exec(pageOf(node))![1]!;
  const device = { cluster, node, UUID: uuid };
  return [
    { name: "gpu:device_activity:ratio", labels: device, valueAt: () => 0 },
    { name: "pod:gpu_start:timestamp", labels: { cluster, namespace, pod }, valueAt: () => 0 },
  ];
}

/** A page of a node without any activity. */
function pageOf(node: string): string {
  return dcgmPage({ gpus: GPUS_OF_NODE, host: node, value: () => "0", pod: (gpu) => podOn(node, gpu) });
}

function startIdleExporter(node: string): Promise<ExporterDouble> {
  const page = pageOf(node);
  return startExporterDouble((_, response, double) => double.page(response, page));
}

/** An API server with the cluster's namespaces, nodes and pods. */
async function startCluster(cluster: keyof typeof CLUSTERS): Promise<ApiServer> {
  const server = await startApiServer();
  const put = (object: object): string => server.put(object as KubernetesObject);
  for (const [name, team] of Object.entries(CLUSTERS[cluster].teams)) {
    put({ apiVersion: "v1", kind: "Namespace", metadata: { name, uid: `${cluster}-${name}`, labels: { team } } });
  }
  const labels = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" };
  const capacity = { "nvidia.com/gpu": String(GPUS_OF_NODE) };
  for (const name of NODES) {
    put(
      nodeObject(labels, capacity, {
        metadata: { name, uid: `${cluster}-${name}`, labels, creationTimestamp: CREATED },
      }),
    );
  }
  for (const { namespace, pod: name, node } of PODS.filter((each) => each.cluster === cluster)) {
    put(
      podObject({
        metadata: { name, namespace, uid: `${cluster}-${name}` },
        spec: { nodeName: node, containers: [container({ "nvidia.com/gpu": "1" })] },
      }),
    );
  }
  return server;
}
