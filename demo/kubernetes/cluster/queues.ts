import type { Fleet } from "../../fleet/fleet.ts";
import { hashText, uuidOf } from "../../fleet/hash.ts";
import { TEAMS } from "../../fleet/teams.ts";
import type { KubernetesObject } from "../server/object.ts";
import { amountsOf, quantities, sumOf } from "./gpu-resources.ts";
import type { PodLife } from "./lives.ts";
import { LONG_AGO } from "./namespaces.ts";
import { ownersOf, referenceTo, workloadName } from "./pod-owners.ts";
import { condition } from "./pod-status.ts";
import { SECOND, timestamp } from "./times.ts";
import type { WaitingGang } from "./waiting-objects.ts";

const KUEUE = "kueue.x-k8s.io/v1beta1";
const VOLCANO = "scheduling.volcano.sh/v1beta1";
const FLAVOR = "default-flavor";
const COHORT = "research";

/** Returns Kueue's queues and Workloads for single training jobs, and Volcano's queues and PodGroups for gangs. */
export function queueObjects(
  fleet: Fleet,
  lives: readonly PodLife[],
  gangs: readonly WaitingGang[],
  timeMillis: number,
): KubernetesObject[] {
  const alone = lives.filter(({ pod }) => pod.type === "training" && pod.gang === undefined);
  const together = lives.filter(({ pod }) => pod.type === "training" && pod.gang?.rank === 0);
  return [
    ...TEAMS.flatMap(({ name, namespaces }) => {
      const own = alone.filter(({ pod, endMillis }) => pod.namespace === namespaces.training && timeMillis < endMillis);
      return teamQueues(fleet, name, namespaces.training, own, timeMillis);
    }),
    ...alone.map((life) => workloadObject(life, timeMillis)),
    ...TEAMS.map(({ name }) => volcanoQueue(fleet, name, gangs.filter(({ team }) => team === name).length)),
    ...together.map((life) => podGroup(life, timeMillis)),
  ];
}

function teamQueues(
  fleet: Fleet,
  team: string,
  namespace: string,
  lives: readonly PodLife[],
  timeMillis: number,
): KubernetesObject[] {
  const nominal = { "nvidia.com/gpu": Math.max(4, Math.ceil(fleet.gpus / 8)), "amd.com/gpu": 8 };
  const admitted = lives.filter(({ createdMillis }) => timeMillis >= createdMillis);
  const used: Readonly<Record<string, number>> = sumOf(admitted.map(({ slots }) => amountsOf(slots)));
  const usage = [
    {
      name: FLAVOR,
      resources: Object.entries(nominal).map(([name, most]) => ({
        name,
        total: String(used[name] ?? 0),
        borrowed: String(Math.max(0, (used[name] ?? 0) - most)),
      })),
    },
  ];
  const counts = {
    admittedWorkloads: admitted.length,
    pendingWorkloads: lives.length - admitted.length,
    reservingWorkloads: admitted.length,
  };
  const uid = (what: string): string => uuidOf(hashText(fleet.seed, `${what}/${team}`));
  const creationTimestamp = timestamp(LONG_AGO);
  const active = condition("Active", true, LONG_AGO, { reason: "Ready" });
  return [
    {
      apiVersion: KUEUE,
      kind: "ClusterQueue",
      metadata: { name: team, uid: uid("clusterqueue"), creationTimestamp },
      spec: {
        cohort: COHORT,
        namespaceSelector: {},
        queueingStrategy: "BestEffortFIFO",
        resourceGroups: [
          {
            coveredResources: Object.keys(nominal),
            flavors: [
              {
                name: FLAVOR,
                resources: Object.entries(nominal).map(([name, most]) => ({ name, nominalQuota: String(most) })),
              },
            ],
          },
        ],
      },
      status: { ...counts, flavorsReservation: usage, flavorsUsage: usage, conditions: [active] },
    },
    {
      apiVersion: KUEUE,
      kind: "LocalQueue",
      metadata: { name: "gpu", namespace, uid: uid("localqueue"), creationTimestamp },
      spec: { clusterQueue: team },
      status: { ...counts, flavorUsage: usage, flavorsReservation: usage, conditions: [active] },
    },
  ];
}

function workloadObject(life: PodLife, timeMillis: number): KubernetesObject {
  const { pod, queuedMillis, createdMillis, endMillis } = life;
  const top = ownersOf(life).at(-1)!;
  const requests = quantities(amountsOf(life.slots));
  const admittedMillis = Math.max(queuedMillis, createdMillis - SECOND);
  const isAdmitted = timeMillis >= createdMillis;
  return {
    apiVersion: KUEUE,
    kind: "Workload",
    metadata: {
      name: workloadName(life),
      namespace: pod.namespace,
      uid: uuidOf(hashText(life.node.key, `workload/${pod.uid}`)),
      creationTimestamp: timestamp(queuedMillis),
      ownerReferences: [referenceTo(top)],
    },
    spec: {
      active: true,
      queueName: "gpu",
      priorityClassName: "batch",
      podSets: [
        {
          name: "main",
          count: 1,
          template: { spec: { containers: [{ name: pod.container, resources: { requests, limits: requests } }] } },
        },
      ],
    },
    status: {
      ...(isAdmitted
        ? {
            admission: {
              clusterQueue: pod.team,
              podSetAssignments: [
                {
                  name: "main",
                  count: 1,
                  flavors: Object.fromEntries(Object.keys(requests).map((name) => [name, FLAVOR])),
                  resourceUsage: requests,
                },
              ],
            },
          }
        : {}),
      conditions: [
        isAdmitted
          ? condition("QuotaReserved", true, admittedMillis, { reason: "QuotaReserved" })
          : condition("QuotaReserved", false, queuedMillis, {
              reason: "Pending",
              message: "insufficient unused quota",
            }),
        ...(isAdmitted ? [condition("Admitted", true, admittedMillis, { reason: "Admitted" })] : []),
        ...(timeMillis >= endMillis
          ? [condition("Finished", true, endMillis, { reason: life.hasFailed ? "Failed" : "Succeeded" })]
          : []),
      ],
    },
  };
}

function volcanoQueue({ seed }: Fleet, team: string, waiting: number): KubernetesObject {
  return {
    apiVersion: VOLCANO,
    kind: "Queue",
    metadata: { name: team, uid: uuidOf(hashText(seed, `queue/${team}`)), creationTimestamp: timestamp(LONG_AGO) },
    spec: { weight: 1, reclaimable: true },
    status: { state: "Open", inqueue: waiting },
  };
}

function podGroup(life: PodLife, timeMillis: number): KubernetesObject {
  const { pod, createdMillis, startMillis, endMillis } = life;
  const [owner] = ownersOf(life);
  const size = pod.gang!.size;
  const phase = timeMillis >= endMillis ? "Completed" : timeMillis >= startMillis ? "Running" : "Inqueue";
  return {
    apiVersion: VOLCANO,
    kind: "PodGroup",
    metadata: {
      name: owner.name,
      namespace: pod.namespace,
      uid: uuidOf(hashText(life.node.seed, `podgroup/${owner.uid}`)),
      creationTimestamp: timestamp(createdMillis),
      ownerReferences: [referenceTo(owner)],
    },
    spec: { minMember: size, queue: pod.team, priorityClassName: "batch" },
    status: {
      phase,
      ...(phase === "Running" ? { running: size } : {}),
      ...(phase === "Completed" ? { succeeded: size } : {}),
    },
  };
}
