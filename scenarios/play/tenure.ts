import type { Scenario } from "../schema.ts";
import { uuidOf } from "./identity.ts";

/** A node as a scenario writes it. */
export type ScenarioNode = Scenario["nodes"][number];

/** A pod as a scenario writes it. */
export type ScenarioPod = Scenario["pods"][number];

/** A time from one moment up to but without another, milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Whether a moment lies in a span; a side that is left out is open. */
export function isWithin(
  span: { readonly from?: number | undefined; readonly until?: number | undefined },
  at: number,
): boolean {
  return (span.from ?? -Infinity) <= at && at < (span.until ?? Infinity);
}

/** When a machine is there: as it is written, else for the whole period. */
export function lifeOf({ from, until }: ScenarioNode, { period }: Scenario): Span {
  return { from: from ?? period.start, until: until ?? period.end };
}

/** When a pod holds: from when it is bound until it is finished, Infinity while it is not. Undefined for one that never is bound. */
export function tenureOf({ node, scheduled, finished }: ScenarioPod, { period }: Scenario): Span | undefined {
  if (node === undefined || scheduled === null) return undefined;
  return { from: scheduled ?? period.start, until: finished === null ? Infinity : (finished ?? period.end) };
}

/** When a pod's first container runs; undefined where none ever does. */
export function startedAt(pod: ScenarioPod, scenario: Scenario): number | undefined {
  const tenure = tenureOf(pod, scenario);
  if (tenure === undefined || pod.started === null) return undefined;
  const started = pod.started ?? tenure.from;
  return started < tenure.until ? started : undefined;
}

/** When a pod was created. */
export function createdAt({ created, scheduled }: ScenarioPod, { period }: Scenario): number {
  return created ?? scheduled ?? period.start;
}

/** The cluster of a pod: its node's; of one that is on no node, the first node's. */
export function clusterOf({ node }: ScenarioPod, { nodes }: Scenario): string {
  return (nodes.find(({ name }) => name === node) ?? nodes[0])?.cluster ?? "default";
}

/** The UID of a pod: of two with one name, each has its own. */
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

/** Whether nobody tells Kubernetes' side of a node: its jobs are a batch scheduler's, which only the exporter names. */
export function isBare({ name }: ScenarioNode, { pods }: Scenario): boolean {
  return pods.some(({ node, hpcJob }) => node === name && hpcJob !== undefined);
}

/** The clusters of a scenario, each once. */
export function clustersOf({ nodes, files }: Scenario): readonly string[] {
  return [...new Set([...nodes.map(({ cluster }) => cluster), ...(files === undefined ? [] : [files.cluster])])];
}

/** The first moment of which a scenario tells anything. */
export function beginOf({ period, nodes, pods, namespaces }: Scenario): number {
  const times = [
    ...nodes.map(({ from }) => from),
    ...pods.flatMap(({ created, scheduled }) => [created, scheduled]),
    ...Object.values(namespaces).flatMap((states) => (Array.isArray(states) ? states.map(({ from }) => from) : [])),
  ];
  return times.reduce<number>((least, at) => Math.min(least, at ?? least), period.start);
}
