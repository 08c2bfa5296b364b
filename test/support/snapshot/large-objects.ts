import type { KubernetesObject } from "../../../demo/kubernetes/server/object.ts";
import { BusyPod } from "../kubernetes/busy-pod.ts";

/** A pod of a large cluster. */
export interface LargePod {
  readonly index: number;
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  /** The number of its GPU on its node; undefined without a GPU. */
  readonly gpu: number | undefined;
}

/** The pods of a ReplicaSet. */
const REPLICAS = 10;
const BUSY = { seed: 1, pods: 1, nodes: 1 };

/** Returns the name of a node by its number. */
export function nodeName(index: number): string {
  return `gpu-${String(index).padStart(4, "0")}`;
}

/** Returns a Node with GPUs and, as on real clusters, 50 images. */
export function largeNode(index: number, gpus: number): KubernetesObject {
  const name = nodeName(index);
  const amounts = { cpu: "96", memory: "1056000000Ki", pods: "110", "nvidia.com/gpu": String(gpus) };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: `uid-of-${name}`,
      creationTimestamp: "2026-01-02T06:00:00Z",
      labels: {
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": `eu-west-1${"abc"[index % 3]}`,
        "karpenter.sh/capacity-type": "on-demand",
        "nvidia.com/gpu.count": String(gpus),
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.memory": "81559",
      },
    },
    spec: { taints: [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }] },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", lastTransitionTime: "2026-01-02T06:01:00Z" },
      ],
      images: Array.from({ length: 50 }, (_, i) => ({
        names: [`registry.example/image-${i}@sha256:${"5e".repeat(32)}`, `registry.example/image-${i}:1.${i}`],
        sizeBytes: 1_000_000 * i,
      })),
    },
  };
}

/** Returns a running Pod of about nine kilobytes, as the busy cluster has them, under the name, node and owner of a large cluster. */
export function largePod(pod: LargePod): KubernetesObject {
  const { name, namespace, node, gpu } = pod;
  const { metadata, spec, status } = JSON.parse(new BusyPod(BUSY, gpu === undefined ? 16 : 0, 0, 0).json("")) as {
    readonly metadata: KubernetesObject["metadata"];
    readonly spec: object;
    readonly status: object;
  };
  const { resourceVersion: _, ...rest } = metadata;
  const set = replicaSetOf(pod);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...rest,
      name,
      namespace,
      // As in the pages of `dcgmPage`.
      uid: `uid-${name}`,
      labels: { app: set, team: namespace },
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: set, uid: `uid-${set}`, controller: true }],
    },
    spec: { ...spec, nodeName: node },
    status,
  };
}

/** Returns the ReplicaSets of pods and their Deployments, with specs of a usual size. */
export function largeReplicaSets(pods: readonly LargePod[]): readonly KubernetesObject[] {
  const sets = new Map(pods.map((pod) => [replicaSetOf(pod), pod.namespace]));
  const spec = { replicas: REPLICAS, template: { spec: { note: "template ".repeat(300) } } };
  return [...sets].flatMap(([set, namespace]) => {
    const [apiVersion, kind, name, uid] = ["apps/v1", "Deployment", `of-${set}`, `uid-of-${set}`] as const;
    const labels = { team: namespace };
    const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
    return [
      { apiVersion, kind, metadata: { name, namespace, uid, labels }, spec },
      {
        apiVersion,
        kind: "ReplicaSet",
        metadata: { name: set, namespace, uid: `uid-${set}`, labels, ownerReferences },
        spec,
      },
    ];
  });
}

/** Returns the ReplicaSet of a pod: ten pods with neighboring numbers share one, if they have one namespace. */
function replicaSetOf({ index, namespace }: LargePod): string {
  return `${namespace}-${Math.floor(index / REPLICAS)}`;
}
