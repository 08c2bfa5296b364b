import { hashText, uuidOf } from "../../fleet/hash.ts";
import type { FleetNode } from "../../fleet/node.ts";
import { isExporterAway } from "../../fleet/troubles.ts";
import type { KubernetesObject } from "../server/object.ts";
import { LONG_AGO } from "./namespaces.ts";
import { addressOf } from "./nodes.ts";
import { machineAt } from "./outages.ts";
import { condition } from "./pod-status.ts";
import { HOUR, MINUTE, timestamp } from "./times.ts";

/** The address of a node's exporter, from `startExporterServers`. */
export interface ExporterAddress {
  readonly url: string;
  readonly node: string;
}

/** The deployment of one kind of exporter. The labels are those of its own chart or operator. */
interface Deployed {
  readonly namespace: string;
  readonly daemonSet: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly container: string;
  readonly port: number;
}

const BY_EXPORTER: Readonly<Record<FleetNode["make"]["exporter"], Deployed>> = {
  "dcgm-exporter": {
    namespace: "gpu-operator",
    daemonSet: "nvidia-dcgm-exporter",
    labels: { app: "nvidia-dcgm-exporter", "app.kubernetes.io/managed-by": "gpu-operator" },
    container: "nvidia-dcgm-exporter",
    port: 9400,
  },
  "device-metrics-exporter": {
    namespace: "kube-amd-gpu",
    daemonSet: "amd-gpu-metrics-exporter",
    labels: { app: "amd-gpu-amdgpu-metrics-exporter", "app.kubernetes.io/name": "metrics-exporter" },
    container: "metrics-exporter",
    port: 5000,
  },
  nvidia_gpu_exporter: {
    namespace: "kube-system",
    daemonSet: "nvidia-gpu-exporter",
    labels: { "app.kubernetes.io/name": "nvidia-gpu-exporter" },
    container: "nvidia-gpu-exporter",
    port: 9835,
  },
};

/** Returns the exporter's pod on a node, while the node exists. Its address is that of the demo's server for the node. */
export function exporterPod(
  node: FleetNode,
  timeMillis: number,
  exporter: ExporterAddress | undefined,
): KubernetesObject | undefined {
  const machine = machineAt(node, timeMillis);
  if (machine === undefined) return undefined;
  const deployed = BY_EXPORTER[node.make.exporter];
  const url = exporter === undefined ? undefined : new URL(exporter.url);
  const port = url === undefined ? deployed.port : Number(url.port);
  const podIP = url?.hostname ?? addressOf(node);
  const started = machine.joinedMillis + MINUTE;
  const isReady = machine.isReady && !isExporterAway(node, timeMillis);
  const name = node.exporterPod.replace("nvidia-dcgm-exporter", deployed.daemonSet);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: deployed.namespace,
      uid: uuidOf(hashText(node.key, `exporter/${machine.uid}`)),
      creationTimestamp: timestamp(machine.joinedMillis),
      labels: { ...deployed.labels, "pod-template-generation": "1" },
      annotations: {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": String(port),
        "prometheus.io/path": url?.pathname ?? "/metrics",
      },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "DaemonSet",
          name: deployed.daemonSet,
          uid: uidOfDaemonSet(node.seed, deployed),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      containers: [
        {
          name: deployed.container,
          image: `registry.example/${node.make.exporter}:${node.make.version}`,
          ports: [{ name: "metrics", containerPort: port, protocol: "TCP" }],
          resources: {},
        },
      ],
      nodeName: node.name,
      tolerations: [{ operator: "Exists" }],
      serviceAccountName: deployed.daemonSet,
    },
    status: {
      phase: machine.isReady ? "Running" : "Pending",
      conditions: [
        condition(
          "Ready",
          isReady,
          Math.max(machine.isReady ? started : machine.joinedMillis, lastTurn(node, timeMillis)),
        ),
        condition("PodScheduled", true, machine.joinedMillis),
      ],
      hostIP: addressOf(node),
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: timestamp(machine.joinedMillis),
      containerStatuses: [
        {
          name: deployed.container,
          state: machine.isReady
            ? { running: { startedAt: timestamp(started) } }
            : { waiting: { reason: "ContainerCreating" } },
          ready: isReady,
          restartCount: 0,
        },
      ],
    },
  };
}

/** Returns the time when the exporter last went away or came back; long ago for one that never does. */
function lastTurn(node: FleetNode, timeMillis: number): number {
  if (!node.troubles.has("exporter-away")) return 0;
  const away = Math.floor((timeMillis - node.collectPhaseMillis) / HOUR) * HOUR + node.collectPhaseMillis + 25 * MINUTE;
  const turns = [away - 50 * MINUTE, away, away + 10 * MINUTE];
  return turns.findLast((turn) => turn <= timeMillis)!;
}

/** Returns the DaemonSets of the exporters of a fleet's nodes. */
export function exporterDaemonSets(nodes: readonly FleetNode[]): KubernetesObject[] {
  const kinds = new Map(nodes.map((node) => [node.make.exporter, node.seed]));
  return [...kinds].map(([exporter, seed]) => {
    const deployed = BY_EXPORTER[exporter];
    return {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: {
        name: deployed.daemonSet,
        namespace: deployed.namespace,
        uid: uidOfDaemonSet(seed, deployed),
        creationTimestamp: timestamp(LONG_AGO),
        labels: deployed.labels,
      },
      spec: { selector: { matchLabels: deployed.labels } },
    };
  });
}

function uidOfDaemonSet(seed: number, { namespace, daemonSet }: Deployed): string {
  return uuidOf(hashText(seed, `daemonset/${namespace}/${daemonSet}`));
}
