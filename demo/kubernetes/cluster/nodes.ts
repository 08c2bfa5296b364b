import { hash } from "../../fleet/hash.ts";
import type { FleetNode } from "../../fleet/node.ts";
import type { KubernetesObject } from "../server/object.ts";
import { offeredAt, quantities } from "./gpu-resources.ts";
import { nodeLabels } from "./node-labels.ts";
import { machineAt, type Machine } from "./outages.ts";
import { MINUTE, timestamp } from "./times.ts";

/** The interval of a kubelet's status reports without changes (nodeStatusReportFrequency). */
const REPORT = 5 * MINUTE;

/** Returns a node's address within the cluster. */
export function addressOf({ key }: FleetNode): string {
  return `10.${20 + (key % 40)}.${hash(key, 81) % 256}.${1 + (hash(key, 82) % 254)}`;
}

/** Returns whether a node has no taint for its GPUs: the lab's machines have none. */
export function hasNoTaint({ instanceType }: Pick<FleetNode, "instanceType">): boolean {
  return instanceType === "workstation";
}

/** Returns the Node object of a fleet's node at a time; `undefined` while there is none. */
export function nodeObject(node: FleetNode, timeMillis: number): KubernetesObject | undefined {
  const machine = machineAt(node, timeMillis);
  if (machine === undefined) return undefined;
  const { capacity, allocatable } = offeredAt(node, timeMillis);
  const cores = String(Math.max(16, node.gpus.length * 12));
  const memory = `${Math.max(64, node.gpus.length * 128) * 1024 * 1024}Ki`;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: node.name,
      uid: machine.uid,
      creationTimestamp: timestamp(machine.joinedMillis),
      labels: nodeLabels(node),
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    },
    spec: {
      providerID: `demo:///${node.zone}/${machine.uid}`,
      ...(machine.leavingSinceMillis === undefined ? {} : { unschedulable: true }),
      taints: taintsOf(node, machine),
    },
    status: {
      capacity: { cpu: cores, memory, pods: "110", "ephemeral-storage": "976762584Ki", ...quantities(capacity) },
      allocatable: { cpu: cores, memory, pods: "110", "ephemeral-storage": "900183532Ki", ...quantities(allocatable) },
      conditions: conditionsOf(node, machine, timeMillis),
      addresses: [
        { type: "InternalIP", address: addressOf(node) },
        { type: "Hostname", address: node.name },
      ],
      nodeInfo: {
        machineID: machine.uid.replaceAll("-", ""),
        systemUUID: machine.uid,
        kernelVersion: "6.8.0-1021-aws",
        osImage: "Ubuntu 24.04.2 LTS",
        containerRuntimeVersion: "containerd://1.7.27",
        kubeletVersion: "v1.33.4",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    },
  };
}

function taintsOf(node: FleetNode, { isReady, leavingSinceMillis }: Machine): readonly object[] {
  const timeAdded = timestamp(leavingSinceMillis ?? 0);
  return [
    ...(hasNoTaint(node) ? [] : [{ key: `${node.model.vendor}.com/gpu`, value: "present", effect: "NoSchedule" }]),
    ...(leavingSinceMillis === undefined
      ? []
      : [
          { key: "aws-node-termination-handler/spot-itn", effect: "NoExecute", timeAdded },
          { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded },
        ]),
    ...(isReady ? [] : [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]),
  ];
}

function conditionsOf(node: FleetNode, machine: Machine, timeMillis: number): readonly object[] {
  const phase = hash(node.key, 83) % REPORT;
  const reported = Math.floor((timeMillis - phase) / REPORT) * REPORT + phase;
  const lastHeartbeatTime = timestamp(Math.max(reported, machine.joinedMillis));
  const lastTransitionTime = timestamp(machine.joinedMillis + (machine.isReady ? MINUTE : 0));
  const condition = (type: string, status: string, reason: string, message: string): object => ({
    type,
    status,
    lastHeartbeatTime,
    lastTransitionTime,
    reason,
    message,
  });
  return [
    condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    machine.isReady
      ? condition("Ready", "True", "KubeletReady", "kubelet is posting ready status")
      : condition("Ready", "False", "KubeletNotReady", "container runtime network not ready"),
  ];
}
