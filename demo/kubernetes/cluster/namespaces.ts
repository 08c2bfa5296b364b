import type { Fleet } from "../../fleet/fleet.ts";
import { hashText, uuidOf } from "../../fleet/hash.ts";
import { TEAMS } from "../../fleet/teams.ts";
import type { KubernetesObject } from "../server/object.ts";
import { quantities, sumOf, type Amounts } from "./gpu-resources.ts";
import { PRIORITIES } from "./pods.ts";
import { DAY, HOUR, timestamp } from "./times.ts";

/** A change of a namespace from one team to another. */
export interface TeamChange {
  readonly namespace: string;
  readonly atMillis: number;
  readonly team: string;
  readonly costCenter: string;
}

/** The creation time of the fleet's namespaces and queues, before everything that is shown. */
export const LONG_AGO = Date.UTC(2024, 1, 1, 9);

/** Namespaces of the cluster's own pods. */
const SYSTEM_NAMESPACES = ["kube-system", "gpu-operator", "kube-amd-gpu"];

/**
 * Returns the change of the month: from the 15th at noon to the month's end, the gateway's namespace belongs to `nlp` instead of
 * `platform-ml`.
 */
export function teamChangeOf(timeMillis: number): TeamChange {
  const date = new Date(timeMillis);
  const atMillis = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 15, 12);
  return { namespace: "platform-ml-serve", atMillis, team: "nlp", costCenter: "CC-1102" };
}

/** Returns the Namespace objects at a time. */
export function namespaceObjects(fleet: Fleet, timeMillis: number, change: TeamChange): KubernetesObject[] {
  const object = (name: string, labels: Readonly<Record<string, string>>): KubernetesObject => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      uid: uuidOf(hashText(fleet.seed, `namespace/${name}`)),
      creationTimestamp: timestamp(LONG_AGO),
      labels: { "kubernetes.io/metadata.name": name, ...labels },
    },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
  return [
    ...SYSTEM_NAMESPACES.map((name) => object(name, {})),
    ...fleet.namespaces.map(({ name, labels }) => {
      const isHandedOver = name === change.namespace && timeMillis >= change.atMillis;
      return object(name, isHandedOver ? { ...labels, team: change.team, "cost-centre": change.costCenter } : labels);
    }),
  ];
}

/** Returns a quota of GPUs for each namespace of trainings and notebooks, and its used part. */
export function quotaObjects(fleet: Fleet, used: ReadonlyMap<string, readonly Amounts[]>): KubernetesObject[] {
  return TEAMS.flatMap(({ namespaces }) => [
    quota(fleet, namespaces.training, Math.max(8, Math.ceil(fleet.gpus / 2)), used),
    quota(fleet, namespaces.notebook, Math.max(4, Math.ceil(fleet.gpus / 8)), used),
  ]);
}

function quota(
  fleet: Fleet,
  namespace: string,
  most: number,
  used: ReadonlyMap<string, readonly Amounts[]>,
): KubernetesObject {
  const sum = sumOf(used.get(namespace) ?? []);
  const hard = { "requests.nvidia.com/gpu": String(most), "requests.amd.com/gpu": String(most) };
  const taken = Object.fromEntries(Object.keys(hard).map((name) => [name, sum[name.slice("requests.".length)] ?? 0]));
  return {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: {
      name: "gpus",
      namespace,
      uid: uuidOf(hashText(fleet.seed, `quota/${namespace}`)),
      creationTimestamp: timestamp(LONG_AGO + DAY),
    },
    spec: { hard },
    status: { hard, used: quantities(taken) },
  };
}

/** Returns the priority classes of the pods. */
export function priorityObjects(fleet: Fleet): KubernetesObject[] {
  const values = { [PRIORITIES.training]: 1000, [PRIORITIES.notebook]: 50_000, [PRIORITIES.inference]: 100_000 };
  return Object.entries(values).map(([name, value]) => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: {
      name,
      uid: uuidOf(hashText(fleet.seed, `priority/${name}`)),
      creationTimestamp: timestamp(LONG_AGO + HOUR),
    },
    value,
    globalDefault: false,
    preemptionPolicy: name === PRIORITIES.training ? "Never" : "PreemptLowerPriority",
  }));
}
