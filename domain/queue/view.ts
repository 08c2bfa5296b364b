import { groupBy } from "../grouped.ts";
import type { Counted, QueuedPod } from "./queued-pod.ts";

/** Pods that wait for a node for the same reason. */
export interface PendingGroup {
  readonly cluster: string;
  readonly team: string;
  /** Empty for none, like the priority class. */
  readonly queue: string;
  readonly priorityClass: string;
  /** In Kubernetes' words: `Unschedulable`, `SchedulingGated`. */
  readonly reason: string;
  readonly pods: number;
  readonly devices: number;
  /** The age of the pod that has waited longest. */
  readonly oldestSeconds: number;
}

/** A pod that waits for a node, or the waiting pods of a gang together: with their devices, and the name of the one that waits longest. */
export type PendingPod = Pick<
  QueuedPod,
  "cluster" | "namespace" | "name" | "team" | "queue" | "priorityClass" | "devices" | "reason" | "message"
> & {
  readonly waitingSeconds: number;
  /** 1 for a pod without a gang. */
  readonly pods: number;
  /** The gang; null without one. */
  readonly gang: { readonly kind: string; readonly name: string } | null;
};

/**
 * A gang of which some members hold GPUs while others were never bound. Nothing can use the held GPUs. It ends for good once all members
 * were bound at the same time (the ledger's state *waiting*).
 */
export interface HoldingGang {
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly team: string;
  /** Pods that the gang needs; if unknown, the number of known pods. */
  readonly size: number;
  readonly holdingPods: number;
  readonly heldDevices: number;
  /** How long the first of its pods has held. */
  readonly holdingSeconds: number;
}

/** The quota of one resource and its use. */
export interface QuotaUse {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly resource: string;
  readonly hard: number;
  readonly used: number;
  readonly left: number;
}

/** A queue's quota of one resource and its use. */
export interface QueueUse {
  readonly cluster: string;
  /** The resource of the queue: `clusterqueues.kueue.x-k8s.io`. */
  readonly kind: string;
  /** Empty for a queue of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly scheduler: string;
  readonly parent: string;
  readonly resource: string;
  readonly quota: number;
  readonly admitted: number;
  readonly borrowed: number;
}

/** The current queues: waiting pods with reasons, gangs that hold GPUs without running, and the remaining quotas. */
export interface QueueView {
  readonly pending: readonly PendingGroup[];
  /** The pods and gangs that have waited longest, at most 20. */
  readonly longest: readonly PendingPod[];
  readonly gangs: readonly HoldingGang[];
  readonly quotas: readonly QuotaUse[];
  readonly queues: readonly QueueUse[];
}

const MOST_LONGEST = 20;

/** The waiting pods and the quotas in all clusters. */
export interface QueueFacts {
  pods(): readonly QueuedPod[];
  quotas(): readonly Counted<"ResourceQuota">[];
  queues(): readonly Counted<"Queue">[];
}

/** Returns the queue view at a time, by the clusters' clocks. */
export function viewQueue(board: QueueFacts, nowMillis: number): QueueView {
  const pods = board.pods();
  const ageOf = ({ since }: QueuedPod): number => Math.max(0, (nowMillis - since) / 1000);
  const waiting = pods.filter(({ isBound, endedAt }) => !isBound && endedAt === undefined);
  return {
    pending: groupBy(waiting, ({ cluster, team, queue, priorityClass, reason }) => [
      cluster,
      team,
      queue,
      priorityClass,
      reason,
    ]).map((group) => {
      const { cluster, team, queue, priorityClass, reason } = group[0];
      return {
        cluster,
        team,
        queue,
        priorityClass,
        reason,
        pods: group.length,
        devices: sumOf(group),
        oldestSeconds: Math.max(...group.map(ageOf)),
      };
    }),
    longest: groupBy(waiting, ({ cluster, namespace, name, gang }) => [
      cluster,
      namespace,
      ...(gang === undefined ? [name] : [gang.kind, gang.name]),
    ])
      .map((group) => {
        const [{ gang }] = group;
        const longest = group.reduce((first, pod) => (pod.since < first.since ? pod : first));
        const { cluster, namespace, name, team, queue, priorityClass, reason, message } = longest;
        return {
          cluster,
          namespace,
          name,
          team,
          queue,
          priorityClass,
          reason,
          message,
          devices: sumOf(group),
          waitingSeconds: ageOf(longest),
          pods: group.length,
          gang: gang === undefined ? null : { kind: gang.kind, name: gang.name },
        };
      })
      .toSorted((a, b) => b.waitingSeconds - a.waitingSeconds)
      .slice(0, MOST_LONGEST),
    gangs: groupBy(
      pods.filter(({ gang }) => gang !== undefined),
      ({ cluster, namespace, gang }) => [cluster, namespace, gang!.kind, gang!.name],
    ).flatMap((group) => {
      const bound = group.filter(({ isBound }) => isBound);
      const holding = bound.filter(({ endedAt }) => endedAt === undefined);
      const { cluster, namespace, gang, team } = group[0];
      const size = gang!.size === 0 ? group.length : gang!.size;
      if (holding.length === 0 || mostAtOnce(bound) >= size) return [];
      const { kind, name } = gang!;
      const heldDevices = sumOf(holding);
      const holdingSeconds = Math.max(...holding.map(ageOf));
      return [{ cluster, namespace, kind, name, team, size, holdingPods: holding.length, heldDevices, holdingSeconds }];
    }),
    quotas: board.quotas().flatMap(({ cluster, namespace, name, body }) =>
      Object.entries(body.hard).map(([resource, hard]) => {
        const used = body.used[resource] ?? 0;
        return { cluster, namespace, name, resource, hard, used, left: hard - used };
      }),
    ),
    queues: board.queues().flatMap(({ cluster, resource: kind, namespace, name, body }) => {
      const { scheduler, parent = "", quota, admitted, borrowed } = body;
      const resources = new Set([quota, admitted, borrowed].flatMap((amounts) => Object.keys(amounts)));
      return [...resources].map((resource) => ({
        cluster,
        kind,
        namespace,
        name,
        scheduler,
        parent,
        resource,
        quota: quota[resource] ?? 0,
        admitted: admitted[resource] ?? 0,
        borrowed: borrowed[resource] ?? 0,
      }));
    }),
  };
}

/** Returns the largest number of pods that held at the same time. */
function mostAtOnce(pods: readonly QueuedPod[]): number {
  const steps = pods.flatMap(({ since, endedAt = Infinity }) => [
    { at: since, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  let now = 0;
  let most = 0;
  for (const { by } of steps.toSorted((a, b) => a.at - b.at || a.by - b.by)) most = Math.max(most, (now += by));
  return most;
}

function sumOf(pods: readonly QueuedPod[]): number {
  return pods.reduce((sum, { devices }) => sum + devices, 0);
}
