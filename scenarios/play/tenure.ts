import type { Scenario } from "../files.ts";
import { uuidOf } from "./identity.ts";

/** A node of a scenario. */
export type ScenarioNode = Scenario["nodes"][number];

/** A pod of a scenario. */
export type ScenarioPod = Scenario["pods"][number];

/** A half-open time range, in milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Returns true if a time is in a span. An absent bound is open. */
export function isWithin(
  span: { readonly from?: number | undefined; readonly until?: number | undefined },
  at: number,
): boolean {
  return (span.from ?? -Infinity) <= at && at < (span.until ?? Infinity);
}

/** Returns the lifetime of a machine: as written, or else the whole period. */
export function lifeOf({ from, until }: ScenarioNode, { period }: Scenario): Span {
  return { from: from ?? period.start, until: until ?? period.end };
}

/** Returns the time in which a pod holds: from its binding to its end, Infinity without an end. Undefined for a pod that is never bound. */
export function tenureOf({ node, scheduled, finished }: ScenarioPod, { period }: Scenario): Span | undefined {
  if (node === undefined || scheduled === null) return undefined;
  return { from: scheduled ?? period.start, until: finished === null ? Infinity : (finished ?? period.end) };
}

/** Returns the time when a pod's first container runs, milliseconds since the epoch; undefined if none ever does. */
export function startedAt(pod: ScenarioPod, scenario: Scenario): number | undefined {
  const tenure = tenureOf(pod, scenario);
  if (tenure === undefined || pod.started === null) return undefined;
  const started = pod.started ?? tenure.from;
  return started < tenure.until ? started : undefined;
}

/** Returns the time of a pod's creation, milliseconds since the epoch. */
export function createdAt({ created, scheduled }: ScenarioPod, { period }: Scenario): number {
  return created ?? scheduled ?? period.start;
}

/** Returns the cluster of a pod: that of its node, or of the first node for a pod without a node. */
export function clusterOf({ node }: ScenarioPod, { nodes }: Scenario): string {
  return (nodes.find(({ name }) => name === node) ?? nodes[0])?.cluster ?? "default";
}

/** Returns the UID of a pod. Two pods with the same name have different UIDs. */
export function podUid(pod: ScenarioPod, scenario: Scenario): string {
  return uuidOf(
    "pod",
    clusterOf(pod, scenario),
    pod.namespace,
    pod.name,
    createdAt(pod, scenario),
    pod.scheduled ?? "",
  );
}

/** Returns true if a node is not in Kubernetes: its jobs belong to a batch scheduler, and only the exporter names them. */
export function isBare({ name }: ScenarioNode, { pods }: Scenario): boolean {
  return pods.some(({ node, hpcJob }) => node === name && hpcJob !== undefined);
}

/** Returns the clusters of a scenario, each once. */
export function clustersOf({ nodes, files }: Scenario): readonly string[] {
  return [...new Set([...nodes.map(({ cluster }) => cluster), ...(files === undefined ? [] : [files.cluster])])];
}

/** Returns the first time in a scenario, milliseconds since the epoch. */
export function beginOf({ period, nodes, pods, namespaces }: Scenario): number {
  const times = [
    ...nodes.map(({ from }) => from),
    ...pods.flatMap(({ created, scheduled }) => [created, scheduled]),
    ...Object.values(namespaces).flatMap((states) => (Array.isArray(states) ? states.map(({ from }) => from) : [])),
  ];
  return times.reduce<number>((least, at) => Math.min(least, at ?? least), period.start);
}
