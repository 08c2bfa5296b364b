import type { ClusterFact } from "../cluster-fact.ts";
import { lastUnits, type GpuHours, type Money } from "../exact/units.ts";
import type { InventoryFact } from "../inventory.ts";
import type { OwnerRules } from "../owner/compile.ts";
import { NO_WORKLOAD, podMarks } from "../owner/owner.ts";
import type { Marks } from "../marks.ts";
import { teamOf } from "../owner/owners.ts";
import type { MigMeasure } from "../share/mig-shape.ts";
import type { WorkloadFact } from "../workload.ts";
import { exemptionsOf } from "./exempt.ts";
import type {
  LimitedPod,
  NodeTelemetry,
  PracticeFacts,
  PracticeNamespace,
  PracticeNode,
  PracticePool,
  PracticeWorkload,
  Spend,
} from "./facts.ts";
import { groupBy } from "../grouped.ts";

/** The charges of a workload over the days. */
export interface WorkloadSpend extends Spend {
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** The charges of a node over the days. */
export interface NodeSpend extends Spend {
  readonly cluster: string;
  readonly node: string;
}

/** The most of a resource that was in use at once, of a quota or a queue that had the resource before the days began. */
export interface GrantUse {
  readonly cluster: string;
  /** The object of the quota or the queue. */
  readonly uid: string;
  readonly resource: string;
  readonly most: number;
}

/** The records of a store about the practices. */
export interface PracticeRecords {
  readonly now: number;
  readonly days: number;
  /** The measure of a MIG instance in the billing policy. */
  readonly migMeasure: MigMeasure;
  /** The newest facts of pods that exist. */
  readonly pods: readonly WorkloadFact[];
  /** The workloads with pods that have a limit of time and have succeeded in the days, each with the fact of its newest such pod. */
  readonly limited: readonly { readonly newest: WorkloadFact; readonly ended: readonly LimitedPod[] }[];
  /** The newest facts of nodes that exist, or have ended in the days. */
  readonly nodes: readonly InventoryFact[];
  /** The newest facts of namespaces, quotas, queues, limit ranges and priority classes. */
  readonly cluster: readonly ClusterFact[];
  readonly grantUses: readonly GrantUse[];
  readonly workloadSpends: readonly WorkloadSpend[];
  readonly nodeSpends: readonly NodeSpend[];
  readonly telemetry: readonly (NodeTelemetry & { readonly cluster: string; readonly node: string })[];
}

const NOTHING: Spend = {
  cost: lastUnits(0n),
  idle: lastUnits(0n),
  waiting: lastUnits(0n),
  unallocated: lastUnits(0n),
  stranded: lastUnits(0n),
  gpuHours: lastUnits(0n),
  heldGpuHours: lastUnits(0n),
  unallocatedGpuHours: lastUnits(0n),
};
const SILENT: NodeTelemetry = { hasSamples: false, hasProfiling: undefined };

/** Joins the records of a store to the facts that checks read. Teams are those of the rules at `now`. */
export function gatherPractices(records: PracticeRecords, owners: OwnerRules): PracticeFacts {
  const { now, days, migMeasure } = records;
  const marks = new Map<string, Marks>();
  const priorities = new Map<string, number>();
  for (const fact of records.cluster) {
    if (fact.kind === "Namespace") marks.set(keyOf(fact.cluster, fact.name), fact.body);
    else if (fact.kind === "PriorityClass") priorities.set(keyOf(fact.cluster, fact.name), fact.body.value);
  }
  const nodes = nodesOf(records);
  const byName = new Map(nodes.map((node) => [keyOf(node.cluster, node.node), node]));
  const poolOf = (cluster: string, node: string): string => byName.get(keyOf(cluster, node))?.pool ?? "";

  const spends = new Map(
    records.workloadSpends.map((each) => [keyOf(each.cluster, each.namespace, each.kind, each.name), each]),
  );
  const living = records.pods.filter(
    ({ phase, asks }) => phase !== "Succeeded" && phase !== "Failed" && asks.length > 0,
  );
  const workloadOf = (pods: readonly [WorkloadFact, ...WorkloadFact[]]): PracticeWorkload => {
    const [first] = pods;
    const { cluster, namespace, type, queue = "", node } = first;
    const { kind, name } = first.workload;
    const ofNamespace = marks.get(keyOf(cluster, namespace));
    const subject = { namespace, workload: name, queue, pool: poolOf(cluster, node), ...podMarks(first) };
    return {
      cluster,
      namespace,
      kind,
      name,
      team: teamOf(owners, { ...subject, namespaceMarks: ofNamespace }, now).value,
      type,
      pods,
      spend: spends.get(keyOf(cluster, namespace, kind, name)) ?? NOTHING,
      exempt: exemptionsOf([...pods, ofNamespace]),
    };
  };
  const workloads = groupBy(living, ({ cluster, namespace, workload: { kind, name } }) => [
    cluster,
    namespace,
    kind,
    name,
  ]).map(workloadOf);
  const namespaces = namespacesOf(records, workloads, marks, owners);
  return {
    now,
    days,
    migMeasure,
    workloads,
    limited: records.limited.map(({ newest, ended }) => ({ ...workloadOf([newest]), ended })),
    nodes,
    namespaces,
    pools: poolsOf(records, nodes),
    queues: records.cluster.flatMap((fact) => {
      if (fact.kind !== "Queue") return [];
      const { cluster, resource, name, uid, body } = fact;
      return { ...body, cluster, resource, name, most: mostOf(records, cluster, uid) };
    }),
    nodeOf: (cluster, node) => byName.get(keyOf(cluster, node)),
    priorityOf: (cluster, name) => priorities.get(keyOf(cluster, name)),
  };
}

function nodesOf({ nodes, nodeSpends, telemetry }: PracticeRecords): readonly PracticeNode[] {
  const spends = new Map(nodeSpends.map((spend) => [keyOf(spend.cluster, spend.node), spend]));
  const measured = new Map(telemetry.map((each) => [keyOf(each.cluster, each.node), each]));
  return nodes
    .filter(({ end, gpus }) => end === undefined && gpus.length > 0)
    .map((fact) => {
      const key = keyOf(fact.cluster, fact.node);
      return {
        ...fact,
        spend: spends.get(key) ?? NOTHING,
        telemetry: measured.get(key) ?? SILENT,
        exempt: exemptionsOf([fact]),
      };
    });
}

function poolsOf({ nodes: all }: PracticeRecords, nodes: readonly PracticeNode[]): readonly PracticePool[] {
  const shrunk = new Set(all.flatMap(({ end, cluster, pool = "" }) => (end === undefined ? [] : keyOf(cluster, pool))));
  return groupBy(
    nodes.filter(({ pool }) => pool !== undefined),
    ({ cluster, pool }) => [cluster, pool],
  ).map((members) => {
    const [{ cluster, pool = "" }] = members;
    return {
      cluster,
      name: pool,
      nodes: members,
      hasShrunk: shrunk.has(keyOf(cluster, pool)),
      spend: total(members.map(({ spend }) => spend)),
    };
  });
}

function namespacesOf(
  records: PracticeRecords,
  workloads: readonly PracticeWorkload[],
  marks: ReadonlyMap<string, Marks>,
  owners: OwnerRules,
): readonly PracticeNamespace[] {
  const { cluster: facts, workloadSpends, now } = records;
  const spends = byPlace(workloadSpends);
  const living = byPlace(workloads);
  const quotas = byPlace(facts.flatMap((fact) => (fact.kind === "ResourceQuota" ? [fact] : [])));
  const limitRanges = byPlace(facts.filter(({ kind }) => kind === "LimitRange"));
  const granted = [...quotas].filter(([, group]) => group.some(({ body }) => Object.keys(body.hard).length > 0));
  return [...new Set([...living.keys(), ...spends.keys(), ...granted.map(([key]) => key)])].flatMap((key) => {
    const ofNamespace = marks.get(key);
    // A namespace that is gone, or that is not watched, has no object to mend.
    if (ofNamespace === undefined) return [];
    const [cluster, name] = JSON.parse(key) as [string, string];
    return {
      cluster,
      name,
      team: teamOf(owners, { ...NO_WORKLOAD, pool: "", namespace: name, namespaceMarks: ofNamespace }, now).value,
      cost: total(spends.get(key) ?? []).cost,
      requested: requestedBy(living.get(key) ?? []),
      quotas: (quotas.get(key) ?? []).map((fact) => ({
        name: fact.name,
        hard: fact.body.hard,
        most: mostOf(records, cluster, fact.uid),
      })),
      limitRanges: limitRanges.get(key)?.length ?? 0,
      exempt: exemptionsOf([ofNamespace]),
    };
  });
}

/** Groups objects by their cluster and namespace. */
function byPlace<Of extends { readonly cluster: string; readonly namespace: string }>(
  objects: readonly Of[],
): ReadonlyMap<string, readonly Of[]> {
  const placeOf = ({ cluster, namespace }: Of): [string, string] => [cluster, namespace];
  return new Map(groupBy(objects, placeOf).map((group) => [keyOf(...placeOf(group[0])), group]));
}

function mostOf({ grantUses }: PracticeRecords, cluster: string, uid: string): Readonly<Record<string, number>> {
  const uses = grantUses.filter((use) => use.cluster === cluster && use.uid === uid);
  return Object.fromEntries(uses.map(({ resource, most }) => [resource, most]));
}

function requestedBy(workloads: readonly PracticeWorkload[]): Readonly<Record<string, number>> {
  const requested: Record<string, number> = {};
  for (const { asks } of workloads.flatMap(({ pods }) => pods)) {
    for (const ask of asks) {
      if (ask.kind === "gpu" || ask.kind === "mig")
        requested[ask.resource] = (requested[ask.resource] ?? 0) + ask.count;
    }
  }
  return requested;
}

function total(spends: readonly Spend[]): Spend {
  const sumOf = (of: (spend: Spend) => bigint): bigint => spends.reduce((sum, spend) => sum + of(spend), 0n);
  return {
    cost: sumOf(({ cost }) => cost) as Money,
    idle: sumOf(({ idle }) => idle) as Money,
    waiting: sumOf(({ waiting }) => waiting) as Money,
    unallocated: sumOf(({ unallocated }) => unallocated) as Money,
    stranded: sumOf(({ stranded }) => stranded) as Money,
    gpuHours: sumOf(({ gpuHours }) => gpuHours) as GpuHours,
    heldGpuHours: sumOf(({ heldGpuHours }) => heldGpuHours) as GpuHours,
    unallocatedGpuHours: sumOf(({ unallocatedGpuHours }) => unallocatedGpuHours) as GpuHours,
  };
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
