import { hash, hashText } from "../../fleet/hash.ts";
import type { KubernetesObject } from "../server/object.ts";
import type { PodPages } from "./pod-pages.ts";
import { amountsOf, quantities } from "./gpu-resources.ts";
import type { PodLife } from "./lives.ts";
import { addressOf } from "./nodes.ts";
import { marksOf, ownersOf, referenceTo } from "./pod-owners.ts";
import { podStatus, unschedulable } from "./pod-status.ts";
import { containerOf, tolerationsOf } from "./pod-practices.ts";
import { timestamp } from "./times.ts";

/** Priority classes by the type of a pod's workload. */
export const PRIORITIES = { training: "batch", inference: "production", notebook: "interactive" } as const;

const IMAGES = {
  training: "registry.example/ml/trainer:2.7",
  inference: "registry.example/ml/server:1.42",
  notebook: "registry.example/ml/notebook:2026.2",
} as const;

/** Returns the Pod object of a life at a time within it. `pages` are the pages of its engines, if it has any. */
export function podObject(life: PodLife, timeMillis: number, nodes: number, pages?: PodPages): KubernetesObject {
  const { pod, node } = life;
  const gpus = quantities(amountsOf(life.slots));
  const { labels, annotations } = marksOf(life);
  const { app = "" } = pod.labels;
  const [owner] = ownersOf(life);
  const isBound = timeMillis >= life.boundMillis;
  const isAskedToEnd = timeMillis >= life.askedToEndMillis;
  // Services and notebooks take their team from their namespace. Trainings have it in a label, as in the exporters' pages.
  const { team: _team, ...named } = pod.labels;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: life.uid,
      creationTimestamp: timestamp(life.createdMillis),
      ...(isAskedToEnd
        ? { deletionTimestamp: timestamp(life.askedToEndMillis + 30_000), deletionGracePeriodSeconds: 30 }
        : {}),
      labels: { ...(pod.type === "training" ? pod.labels : named), ...labels, ...pages?.labels },
      annotations: { ...annotations, ...pages?.annotations },
      ownerReferences: [referenceTo(owner)],
    },
    spec: {
      containers: [
        {
          name: pod.container,
          ...containerOf(app, IMAGES[pod.type], pod.type === "training"),
          ...(pages === undefined ? {} : { ports: pages.ports }),
          resources: {
            limits: { ...gpus, memory: "64Gi" },
            requests: { ...gpus, cpu: "8", memory: "64Gi" },
          },
        },
      ],
      ...(isBound ? { nodeName: node.name } : {}),
      nodeSelector: { "node.kubernetes.io/instance-type": node.instanceType },
      restartPolicy: pod.type === "training" ? "Never" : "Always",
      priorityClassName: PRIORITIES[pod.type],
      schedulerName: pod.type === "training" && pod.gang !== undefined ? "volcano" : "default-scheduler",
      serviceAccountName: "default",
      terminationGracePeriodSeconds: 30,
      tolerations: tolerationsOf(app, node.model.vendor),
    },
    status: isBound
      ? podStatus(life, timeMillis, { hostIP: addressOf(node), podIP: pages?.podIP ?? podAddress(life) })
      : unschedulable(
          life.createdMillis,
          `0/${nodes} nodes are available: ${nodes} Insufficient ${Object.keys(gpus)[0]}. preemption: 0/${nodes} nodes are available: ${nodes} No preemption victims found for incoming pod.`,
        ),
  };
}

function podAddress({ uid }: PodLife): string {
  const key = hashText(7, uid);
  return `10.${100 + (key % 100)}.${hash(key, 1) % 256}.${1 + (hash(key, 2) % 254)}`;
}
