import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { startSystem as StartSystem, System } from "../../services/system.ts";
import { createFleet, type Fleet } from "../../demo/fleet/fleet.ts";
import { loadAt } from "../../demo/fleet/load.ts";
import type { FleetNode } from "../../demo/fleet/node.ts";
import { demoLedger } from "../../demo/fleet/prices.ts";
import { TEAMS } from "../../demo/fleet/teams.ts";
import { createClusterDriver } from "../../demo/kubernetes/cluster/driver.ts";
import { startApiServer } from "../../demo/kubernetes/server/server.ts";
import { startExporterServers, type ExporterServers } from "../../demo/servers.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { generateQuickAlerts, QUICK_SECONDS } from "../support/alert-files.ts";
import { createCommandFolder } from "../support/command.ts";
import { podsAt, type RunningPod } from "../support/fleet-pods.ts";
import { kubeconfigOf } from "../support/kubeconfig.ts";
import { requirePart } from "../support/parts.ts";
import { silent } from "../support/pipeline.ts";
import { startPrometheus, type PastSeries } from "../support/prometheus-server.ts";
import {
  startAlertmanager,
  startWebhook,
  type Alertmanager,
  type Notification,
  type Webhook,
} from "../support/rules/alertmanager.ts";
import { countXids, setValue, startSteeredExporter, type ChangeLine } from "../support/steered-exporter.ts";

const hasParts = requirePart("prometheus") && requirePart("alertmanager");

const CLUSTER = "prod";
/** A Tuesday in the fleet's time on which one notebook is forgotten and everything else is busy. */
const MOMENT = Date.UTC(2026, 2, 3, 13, 20);
const NODES = ["gpu-v100-01", "gpu-h100-01", "gpu-h100-02", "gpu-h100-03", "gpu-a100-02"];
const PAST = { seconds: 2 * 3600, stepSeconds: QUICK_SECONDS };
const SERVER = "https://gpu-ledger.example.com";
const SOON = { timeout: 120_000, interval: 500 };

describe.skipIf(!hasParts)("alerts from exporters over Prometheus and Alertmanager to their receivers", () => {
  const began = Date.now();
  const clock = (): number => MOMENT + Date.now() - began;
  const whole = createFleet({ seed: 3, gpus: 24, cluster: CLUSTER });
  const fleet: Fleet = { ...whole, nodes: whole.nodes.filter(({ name }) => NODES.includes(name)) };
  const pods = podsAt(fleet, MOMENT);
  const notebook = pods.find(({ pod }) => pod.type === "notebook")!;
  const node = (name: string): FleetNode => fleet.nodes.find((each) => each.name === name)!;
  const [faulty, warm] = [node("gpu-h100-01").gpus[0]!.uuid, node("gpu-h100-02").gpus[0]!.uuid];

  let xid = 0;
  const changes: ChangeLine[] = [countXids(faulty, () => xid)];
  const stops: (() => Promise<unknown>)[] = [];
  let webhook: Webhook;
  let alertmanager: Alertmanager;

  beforeAll(async () => {
    const servers = keep(await startExporterServers(fleet, clock));
    const exporters = await Promise.all(
      servers.targets.map(async (target) => ({ ...target, url: await steered(target.url) })),
    );
    const system = keep(await startProgram(exporters));
    webhook = keep(await startWebhook());
    const files = await generated();
    alertmanager = keep(await startAlertmanager(files.alertmanager));
    await vi.waitUntil(async () => (await ownersOf(system)).length === pods.length, SOON);
    keep(
      await startPrometheus({
        configuration: scraping(exporters, system, Object.keys(files.rules)),
        files: files.rules,
        past: { series: pastOf(fleet, pods), range: PAST },
      }),
    );
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  function keep<Part extends { stop(): Promise<unknown> }>(part: Part): Part {
    stops.push(() => part.stop());
    return part;
  }

  async function steered(url: string): Promise<string> {
    const exporter = await startSteeredExporter(url, changes);
    stops.push(() => exporter.close());
    return exporter.url;
  }

  /** The whole of gpu-ledger, as released, with the fleet's cluster. */
  async function startProgram(exporters: readonly Place[]): Promise<System> {
    const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-alerts-"));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const apiServer = keep(await startApiServer());
    const driver = createClusterDriver(fleet, apiServer, clock, { exporters });
    driver.start();
    stops.push(() => Promise.resolve(driver.stop()));
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigOf({ [CLUSTER]: apiServer }));
    const config = parseConfig(
      JSON.stringify({
        cluster: CLUSTER,
        data: folder,
        log: { level: "error" },
        server: { listen: "127.0.0.1:0" },
        collector: { jobs: [{ name: "gpus", kubernetes: { kubeconfig } }] },
        kubernetes: { clusters: [{ kubeconfig }] },
      }),
      { source: "test", folder, env: {} },
    );
    const built = new URL("../../dist/services/system.js", import.meta.url).href;
    const { startSystem } = (await import(built)) as { startSystem: typeof StartSystem };
    return startSystem({ config: { ...config, ...demoLedger() }, version: "test", logger: silent });
  }

  /** Rules and routes as an administrator generates them, with a receiver for every team and one for the platform. */
  async function generated() {
    const folder = createCommandFolder();
    stops.push(() => folder.dispose());
    const reach = (to: string) => ({ webhook: `${webhook.url}/${to}` });
    return generateQuickAlerts(folder, {
      server: SERVER,
      platform: reach("platform"),
      contacts: Object.fromEntries(TEAMS.map(({ name }) => [name, reach(name)])),
      alerts: {
        GPUAllocatedIdle: { for: "10s", ageMinutes: 60 },
        // Later than the alert that suppresses them: beside other work, the pages of exporters can be scraped long before that of gpu-ledger.
        LowGPUUtilization: { for: "30s" },
        GPUPodLowUtilization: { for: "30s" },
        GPUNearSlowdownTemperature: { for: "20s" },
        HighGPUTemperature: { for: "20s" },
      },
    });
  }

  /** Targets with the labels of a ServiceMonitor, and those of the cluster and the node. */
  function scraping(exporters: readonly Place[], system: System, rules: readonly string[]): object {
    const target = (url: string, labels: Readonly<Record<string, string>>) => ({
      targets: [new URL(url).host],
      labels: { endpoint: "metrics", ...labels },
    });
    return {
      global: { scrape_interval: `${QUICK_SECONDS}s` },
      rule_files: rules,
      alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(alertmanager.url).host] }] }] },
      scrape_configs: [
        {
          job_name: "nvidia-dcgm-exporter",
          static_configs: exporters.map((place) => target(place.url, targetLabels(node(place.node)))),
        },
        {
          job_name: "gpu-ledger",
          static_configs: [target(system.address, { namespace: "gpu-ledger", pod: "gpu-ledger-0" })],
        },
      ],
    };
  }

  /** The notifications so far: receiver, state, alert and pod or GPU. */
  const notifications = (): readonly string[] =>
    webhook.received.map(({ to, notification }) => `${to}: ${lineOf(notification)}`);

  /** Waits until nothing has come for as long as alert, inhibition and notification take together. */
  async function untilQuiet(): Promise<void> {
    for (let before = -1; before !== webhook.received.length;) {
      before = webhook.received.length;
      await new Promise((resolve) => setTimeout(resolve, 40_000));
    }
  }

  it("an idle notebook gives one notification, to its team alone, with owner, cost and links", async () => {
    const { namespace, name, team, workload } = notebook.pod;
    await expect.poll(notifications, SOON).toHaveLength(1);
    await untilQuiet();
    expect(notifications()).toEqual([`${team}: firing GPUAllocatedIdle ${name}`]);
    const [alert, ...others] = webhook.received[0]!.notification.alerts;
    expect(others).toEqual([]);
    expect(alert!.labels).toEqual({
      alertname: "GPUAllocatedIdle",
      cluster: CLUSTER,
      namespace,
      pod: name,
      team,
      cost_centre: TEAMS.find((each) => each.name === team)!.costCenter,
      workload: workload.name,
      workload_type: "notebook",
      severity: "warning",
      notify: "ticket",
      gpu_topic: "waste",
    });
    expect(alert!.annotations).toMatchObject({
      description: `Cluster ${CLUSTER}: Pod ${namespace}/${name} has held its GPUs for more than an hour. None of them was active in the last hour.`,
      // A V100 at AWS's list price in the demo's book.
      cost_per_hour: "3.90 USD",
      page: `${SERVER}/workload?cluster=${CLUSTER}&namespace=${namespace}&pod=${name}`,
    });
    expect(alert!.annotations["runbook_url"]).toMatch(/^https:.*\/docs\/runbooks\/GPUAllocatedIdle\.md$/);
    expect(await statesOf(alertmanager, name)).toEqual({
      GPUAllocatedIdle: "active",
      GPUPodLowUtilization: "suppressed",
      LowGPUUtilization: "suppressed",
    });
  });

  it("the team gets a notification of the end when the notebook works again", async () => {
    const { name, team } = notebook.pod;
    const [{ node: on, gpu }] = notebook.slots as [RunningPod["slots"][0]];
    changes.push(setValue("DCGM_FI_DEV_GPU_UTIL", on.gpus[gpu]!.uuid, 97));
    await expect.poll(notifications, SOON).toContain(`${team}: resolved GPUAllocatedIdle ${name}`);
    await untilQuiet();
    // The mean of an hour with idle time is low for a while. It is the same waste, so there is no other notification.
    expect(notifications()).toEqual([
      `${team}: firing GPUAllocatedIdle ${name}`,
      `${team}: resolved GPUAllocatedIdle ${name}`,
    ]);
  });

  it("a GPU that falls off the bus pages the platform once and inhibits its own heat alert, and no other GPU's", async () => {
    const before = webhook.received.length;
    xid = 79;
    changes.push(
      setValue("DCGM_FI_DEV_XID_ERRORS", faulty, 79),
      setValue("DCGM_FI_DEV_GPU_TEMP", faulty, 90),
      setValue("DCGM_FI_DEV_GPU_TEMP", warm, 90),
    );
    await expect.poll(() => webhook.received.length - before, SOON).toBe(2);
    await untilQuiet();
    expect(notifications().slice(before).toSorted()).toEqual([
      `platform: firing GPUXidHardwareFault ${faulty}`,
      `platform: firing HighGPUTemperature ${warm}`,
    ]);
    const page = webhook.received.find(({ notification }) => lineOf(notification).includes("GPUXidHardwareFault"))!;
    expect(page.notification.alerts[0]!.labels).toMatchObject({ severity: "critical", notify: "page", code: "79" });
    const holder = pods.find(({ slots }) => slots.some((slot) => slot.node.gpus[slot.gpu]!.uuid === faulty))!.pod;
    expect(page.notification.alerts[0]!.annotations["held_by"]).toBe(
      `${holder.namespace}/${holder.name} of team ${holder.team} `,
    );
    expect(await statesOf(alertmanager, faulty)).toEqual({
      GPUXidHardwareFault: "active",
      GPUNearSlowdownTemperature: "suppressed",
    });
  });
});

/** The address of a node's exporter. */
type Place = ExporterServers["targets"][number];

function targetLabels({ name, exporterPod }: FleetNode): Readonly<Record<string, string>> {
  return {
    instance: `${name}:9400`,
    cluster: CLUSTER,
    node: name,
    namespace: "gpu-operator",
    pod: exporterPod,
    container: "nvidia-dcgm-exporter",
    service: "nvidia-dcgm-exporter",
  };
}

/** The recorded past of Prometheus: the activity of devices and pods, and the exporters' `up`. */
function pastOf({ nodes }: Fleet, pods: readonly RunningPod[]): readonly PastSeries[] {
  const began = Date.now() / 1000;
  const ofExporters = nodes.flatMap((node): PastSeries[] => {
    const { instance, cluster } = targetLabels(node) as { instance: string; cluster: string };
    return [
      { name: "up", labels: { ...targetLabels(node), job: "nvidia-dcgm-exporter" }, valueAt: () => 1 },
      {
        name: "exporter:gpus:count",
        labels: { cluster, instance, node: node.name },
        valueAt: () => node.gpus.length,
      },
    ];
  });
  const ofPods = pods.flatMap(({ pod: { namespace, name, load }, slots }): PastSeries[] => [
    {
      name: "pod:gpu_start:timestamp",
      labels: { cluster: CLUSTER, namespace, pod: name },
      valueAt: () => 0,
    },
    ...slots.map(({ node, gpu }) => ({
      name: "gpu:device_activity:ratio",
      labels: { cluster: CLUSTER, node: node.name, UUID: node.gpus[gpu]!.uuid },
      valueAt: (at: number) => Math.max(0, loadAt(load, MOMENT / 1000 + at - began)),
    })),
  ]);
  return [...ofExporters, ...ofPods];
}

/** The program's series with the owner of each pod. */
async function ownersOf({ address }: System): Promise<readonly string[]> {
  const page = await (await fetch(`${address}/metrics`)).text();
  return page.split("\n").filter((line) => line.startsWith("gpu_workload_info{"));
}

function lineOf({ status, alerts }: Notification): string {
  const what = alerts.map(({ labels }) => `${labels["alertname"]} ${labels["UUID"] ?? labels["pod"] ?? ""}`);
  return `${status} ${what.join(", ")}`;
}

/** The state in Alertmanager of each alert about a pod or a GPU. */
async function statesOf({ url }: Alertmanager, of: string): Promise<Readonly<Record<string, string>>> {
  const alerts = (await (await fetch(`${url}/api/v2/alerts`)).json()) as readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly status: { readonly state: string };
  }[];
  const about = alerts.filter(({ labels }) => labels["pod"] === of || labels["UUID"] === of);
  return Object.fromEntries(about.map(({ labels, status }) => [labels["alertname"]!, status.state]));
}
