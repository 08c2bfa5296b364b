import { hash, uuidOf } from "../../fleet/hash.ts";
import type { FleetNode } from "../../fleet/node.ts";
import type { KubernetesObject } from "../server/object.ts";
import { addressOf } from "./nodes.ts";
import { condition, unschedulable } from "./pod-status.ts";
import { SECOND, timestamp } from "./times.ts";

/** A gang that does not run. */
export interface WaitingGang {
  readonly key: number;
  readonly name: string;
  readonly namespace: string;
  readonly team: string;
  readonly uid: string;
  readonly createdMillis: number;
  /** One for each of its pods: its node if it is bound, and its requests. */
  readonly members: readonly {
    readonly node: FleetNode | undefined;
    readonly gpus: number;
    readonly instanceType: string;
  }[];
}

/** A pod that fits no node. */
export interface WaitingPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly createdMillis: number;
  readonly scheduler?: string;
  readonly limits: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The scheduler's message about the missing resources of all nodes. */
  readonly reason: string;
}

/** Returns the Pod of a pod that waits, in a cluster of `nodes` nodes. */
export function waitingPodObject(pod: WaitingPod, nodes: number): KubernetesObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: pod.uid,
      creationTimestamp: timestamp(pod.createdMillis),
      labels: { app: pod.name.slice(0, -8), ...pod.labels },
      ...(pod.annotations === undefined ? {} : { annotations: pod.annotations }),
    },
    spec: {
      containers: [
        {
          name: "main",
          image: "registry.example/ml/notebook:2026.2",
          resources: { limits: pod.limits, requests: pod.limits },
        },
      ],
      ...(pod.nodeSelector === undefined ? {} : { nodeSelector: pod.nodeSelector }),
      schedulerName: pod.scheduler ?? "default-scheduler",
      restartPolicy: "Always",
    },
    status: unschedulable(pod.createdMillis, `0/${nodes} nodes are available: ${nodes} ${pod.reason}.`),
  };
}

/** Returns the PyTorchJob, the PodGroup and the Pods of a gang that waits. */
export function waitingGangObjects(gang: WaitingGang, nodes: number): KubernetesObject[] {
  const { name, namespace, uid, createdMillis, members, team } = gang;
  const metadata = {
    name,
    namespace,
    uid,
    creationTimestamp: timestamp(createdMillis),
    labels: { app: name.slice(0, -6), team },
  };
  const owner = {
    apiVersion: "kubeflow.org/v1",
    kind: "PyTorchJob",
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return [
    {
      apiVersion: "kubeflow.org/v1",
      kind: "PyTorchJob",
      metadata,
      spec: { pytorchReplicaSpecs: { Worker: { replicas: members.length, restartPolicy: "OnFailure" } } },
    },
    {
      apiVersion: "scheduling.volcano.sh/v1beta1",
      kind: "PodGroup",
      metadata: { ...metadata, uid: uuidOf(gang.key, 900), ownerReferences: [owner] },
      spec: { minMember: members.length, queue: team },
      status: {
        phase: "Inqueue",
        conditions: [
          condition("Unschedulable", true, createdMillis + SECOND, {
            reason: "NotEnoughResources",
            message: `${members.length}/${members.length} tasks in gang unschedulable: pod group is not ready, ${members.length} minAvailable`,
          }),
        ],
      },
    },
    ...members.map((member, rank): KubernetesObject => {
      const gpus = { "nvidia.com/gpu": String(member.gpus) };
      const scheduled = createdMillis + 5 * SECOND;
      return {
        apiVersion: "v1",
        kind: "Pod",
        metadata: {
          name: `${name}-worker-${rank}`,
          namespace,
          uid: uuidOf(gang.key, rank + 1),
          creationTimestamp: timestamp(createdMillis),
          labels: {
            ...metadata.labels,
            "training.kubeflow.org/job-name": name,
            "training.kubeflow.org/replica-type": "worker",
            "training.kubeflow.org/replica-index": String(rank),
            "volcano.sh/queue-name": team,
          },
          annotations: { "scheduling.k8s.io/group-name": name },
          ownerReferences: [owner],
        },
        spec: {
          initContainers: [{ name: "wait-for-peers", image: "registry.example/ml/wait:1", resources: {} }],
          containers: [
            { name: "pytorch", image: "registry.example/ml/trainer:2.7", resources: { limits: gpus, requests: gpus } },
          ],
          ...(member.node === undefined ? {} : { nodeName: member.node.name }),
          nodeSelector: { "node.kubernetes.io/instance-type": member.instanceType },
          schedulerName: "volcano",
          priorityClassName: "batch",
          restartPolicy: "Never",
          tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
        },
        status:
          member.node === undefined
            ? unschedulable(createdMillis, `0/${nodes} nodes are available: ${nodes} Insufficient nvidia.com/gpu.`)
            : boundStatus(scheduled, addressOf(member.node), hash(gang.key, rank)),
      };
    }),
  ];
}

/** Returns the status of a pod whose init container waits for the others. It holds its GPU without using it. */
function boundStatus(scheduledMillis: number, hostIP: string, key: number): object {
  const podIP = `10.99.${key % 256}.${1 + ((key >>> 8) % 254)}`;
  const started = timestamp(scheduledMillis + 10 * SECOND);
  const unready = {
    reason: "ContainersNotInitialized",
    message: "containers with incomplete status: [wait-for-peers]",
  };
  return {
    phase: "Pending",
    conditions: [
      condition("Initialized", false, scheduledMillis, unready),
      condition("Ready", false, scheduledMillis, { reason: "ContainersNotReady" }),
      condition("PodScheduled", true, scheduledMillis),
    ],
    hostIP,
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: timestamp(scheduledMillis),
    initContainerStatuses: [
      { name: "wait-for-peers", state: { running: { startedAt: started } }, ready: false, restartCount: 0 },
    ],
    containerStatuses: [
      { name: "pytorch", state: { waiting: { reason: "PodInitializing" } }, ready: false, restartCount: 0 },
    ],
  };
}
