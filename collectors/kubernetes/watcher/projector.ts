import type { SeenObject } from "./seen-object.ts";
import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { FactEnd } from "../../../domain/fact.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import type { DeviceEvidence, PodTimes, WorkloadFact } from "../../../domain/workload.ts";
import type { OwnerCache } from "../owners/cache.ts";
import type { OwnerLookup } from "../owners/chain.ts";
import { sinceFirst } from "../projection/cluster/train-job.ts";
import { isReservedForGang } from "../projection/cluster/dra.ts";
import { projectClusterObject } from "../projection/cluster-fact.ts";
import type { KubeObject } from "../projection/kube-object.ts";
import { hasLostItsContainers } from "../projection/pod/pod-times.ts";
import { projectNode, type NodeOptions } from "../projection/node.ts";
import { projectPod, unmeteredOf, type PodOptions } from "../projection/pod.ts";
import type { Remark } from "../projection/remark.ts";
import { earliest } from "../projection/time.ts";
import { given } from "../projection/wire.ts";
import type { FactRegistries } from "./fact-registries.ts";
import { createDependentPods, withRelations } from "./dependent-pods.ts";
import { createDisruptionBudgets } from "./disruption-budgets.ts";
import { createMachines, type KnownNode } from "./machines.ts";
import { nodeProgramOf } from "./node-programs.ts";
import { createOtherPods } from "./other-pods.ts";
import { createPulls } from "./pulls.ts";
import type { FactBody, Sight } from "./fact-registry.ts";
import { createRelations } from "./relations.ts";

/** The configuration for the projection of pods and nodes. */
export interface ProjectionOptions {
  readonly pods: Omit<PodOptions, "lookup" | "isForGpus" | "gangFacts" | "disruptionBudgets">;
  readonly nodes: Omit<NodeOptions, "cordonedSeenMillis" | "slices" | "others">;
  /** The names of the annotations of namespaces to keep; all by default. */
  readonly namespaceAnnotations?: readonly string[];
}

/** Projects objects to facts and writes them into the registries. */
export interface Projector {
  /** Takes the current state of an object. Resolves when its fact is in the registries. `resource` is the name in kubectl. */
  take(resource: string, object: SeenObject, sight: Sight): Promise<void> | undefined;
  /** Records that an object no longer exists. */
  gone(resource: string, uid: string, end: FactEnd, sight: Sight): void;
  /** Records that all objects of a resource have been taken. */
  listed(resource: string, atMillis: number): void;
}

/** The PodDisruptionBudgets. Without their list, a pod without a budget and a pod with an unknown one are the same. */
const BUDGETS = "poddisruptionbudgets.policy";

/** The most rounds of reading missing owners. A chain has at most 10 owners, and each round can find another missing one. */
const MOST_ROUNDS = 12;

/** Creates a projector for one term. The remarks on an object are reported once for each fact of it. */
export function createProjector(options: {
  readonly registries: FactRegistries;
  readonly owners: OwnerCache;
  readonly projection: ProjectionOptions;
  readonly onRemarks: (object: KubeObject, remarks: readonly Remark[]) => void;
  readonly signal: AbortSignal;
}): Projector {
  const { registries, owners, projection, onRemarks, signal } = options;
  const relations = createRelations();
  const pulls = createPulls();
  /** The versions of the programs and the UID of each node, by the node's name. */
  const plugins = new Map<string, string>();
  const exporters = new Map<string, string>();
  const nodes = new Map<string, string>();
  const others = createOtherPods((node) => nodes.has(node));
  const budgets = createDisruptionBudgets();
  /** Until the first list of pods is complete, the pods without GPUs of an earlier term count. */
  let arePodsListed = false;
  const machines = createMachines();
  const dependents = createDependentPods();
  /** The UIDs of the claims that are reserved for gangs, by namespace and name. */
  const gangClaims = new Map<string, string>();

  /** Projects a pod. Reads the owners that turn out to be missing and repeats until none is missing. */
  async function takePod(object: SeenObject, sight: Sight): Promise<void> {
    budgets.join(object.metadata.uid, object);
    for (let round = 0; ; round++) {
      const missing: Parameters<OwnerLookup>[] = [];
      const projected = projectPod(object, {
        ...projection.pods,
        isForGpus: relations.isForGpus,
        gangFacts: relations.gangFacts,
        disruptionBudgets: () => budgets.namesFor(object.metadata.uid),
        lookup(reference, namespace) {
          if (owners.isUnknown(reference, namespace)) missing.push([reference, namespace]);
          return owners.lookup(reference, namespace);
        },
      });
      if (projected === undefined) return passOver(object, sight);
      if (missing.length === 0 || round === MOST_ROUNDS) {
        const { fact, remarks } = projected;
        if (remarks.length > 0) onRemarks(object, remarks);
        const former = registries.workloads.latest(fact.uid);
        const recalled = hasLostItsContainers(object) ? withContainersOf(former, fact, sight.atMillis) : fact;
        const whole = withHealth(withFormer(recalled, former), former, sight.atMillis);
        dependents.join(fact);
        registries.workloads.report(pulls.addTo(whole), sight);
        reserveGangClaims(fact, sight.atMillis);
        return;
      }
      await Promise.all(missing.map(([reference, namespace]) => owners.fetch(reference, namespace)));
      if (signal.aborted) return;
    }
  }

  /** Sends the claims of a pod's gang again, with the pod among those for which they are reserved. */
  function reserveGangClaims({ namespace, asks }: FactBody<WorkloadFact>, atMillis: number): void {
    for (const ask of asks) {
      const uid = ask.kind === "claim" ? gangClaims.get(`${namespace}/${ask.claim}`) : undefined;
      if (uid !== undefined) registries.cluster.amend(uid, atMillis, ofGang);
    }
  }

  /** Returns a claim of a gang, reserved for the pods that name it. */
  function ofGang(fact: FactBody<ClusterFact>): FactBody<ClusterFact> {
    if (fact.kind !== "ResourceClaim") return fact;
    const reservedFor = [...new Set([...fact.body.reservedFor, ...dependents.of(fact)])].sort();
    return { ...fact, body: { ...fact.body, reservedFor } };
  }

  /**
   * Handles a pod that requests no GPU, or no longer one. Of these pods, device plugins and exporters provide their version, and all others
   * take CPU and memory from GPUs if their node has some.
   */
  function passOver(object: SeenObject, sight: Sight): void {
    budgets.leave(object.metadata.uid);
    dependents.leave(object.metadata.uid);
    others.take(object.metadata.uid, object);
    registries.workloads.end(object.metadata.uid, { atMillis: sight.atMillis, inferred: false }, sight);
    const unmetered = unmeteredOf(object, projection.pods.resourceNames);
    if (unmetered.length > 0) onRemarks(object, unmetered);
    const program = nodeProgramOf(object);
    if (program === undefined) return;
    const versions = program.program === "exporter" ? exporters : plugins;
    if (versions.get(program.node) === program.version) return;
    versions.set(program.node, program.version);
    const uid = nodes.get(program.node);
    if (uid !== undefined) registries.inventory.amend(uid, sight.atMillis, withPrograms);
  }

  function withPrograms(fact: FactBody<InventoryFact>): FactBody<InventoryFact> {
    const devicePluginVersion = plugins.get(fact.node) ?? fact.devicePluginVersion;
    const exporterVersion = exporters.get(fact.node) ?? fact.exporterVersion;
    return { ...fact, ...given({ devicePluginVersion, exporterVersion }) } as FactBody<InventoryFact>;
  }

  /** Sends the facts of pods again whose budgets have changed. */
  function withBudgets(uids: readonly string[], atMillis: number): void {
    for (const uid of uids) {
      registries.workloads.amend(uid, atMillis, (body) => {
        const disruptionBudgets = budgets.namesFor(uid);
        return { ...body, ...given({ disruptionBudgets }) } as FactBody<WorkloadFact>;
      });
    }
  }

  function takeNode(object: SeenObject, sight: Sight): void {
    const { uid } = object.metadata;
    machines.takeNode(object, sight.resourceVersion);
    const former = registries.inventory.latest(uid);
    const cordonedSeenMillis = former?.cordonedSince ?? sight.atMillis;
    const slices = machines.slicesOf(object.metadata.name ?? "");
    const ofPods = arePodsListed ? others.of(object.metadata.name ?? "", sight.atMillis) : former?.others;
    const resident = given({ others: ofPods });
    const projected = projectNode(object, { ...projection.nodes, cordonedSeenMillis, slices, ...resident });
    if (projected === undefined) {
      registries.inventory.end(uid, { atMillis: sight.atMillis, inferred: false }, sight);
      return;
    }
    if (projected.remarks.length > 0) onRemarks(object, projected.remarks);
    nodes.set(projected.fact.node, uid);
    const { devicePluginVersion, exporterVersion } = former ?? {};
    const body = { ...projected.fact, ...given({ devicePluginVersion, exporterVersion }) } as FactBody<InventoryFact>;
    registries.inventory.report(withPrograms(body), sight);
  }

  function takeOther(resource: string, object: SeenObject, sight: Sight): void {
    const projected = projectClusterObject(object, projection.namespaceAnnotations);
    if (projected === undefined) {
      registries.cluster.end(object.metadata.uid, { atMillis: sight.atMillis, inferred: false }, sight);
      return;
    }
    if (projected.remarks.length > 0) onRemarks(object, projected.remarks);
    const read = { resource, ...projected.fact } as FactBody<ClusterFact>;
    const isOfGang = read.kind === "ResourceClaim" && isReservedForGang(object);
    if (isOfGang) gangClaims.set(`${read.namespace}/${read.name}`, read.uid);
    const ofAll = isOfGang ? ofGang(read) : read;
    const body = ofAll.kind === "TrainJob" ? withFirstReport(ofAll, registries.cluster.latest(read.uid)) : ofAll;
    relations.take(body);
    registries.cluster.report(body, sight);
    if (body.kind === "ResourceSlice") countAgain(machines.takeSlice(body.uid, body.body), sight.atMillis);
    if (body.kind === "PodDisruptionBudget") withBudgets(budgets.take(body), sight.atMillis);
    for (const uid of dependents.of(body))
      registries.workloads.amend(uid, sight.atMillis, (pod) => withRelations(pod, relations));
  }

  /** Projects nodes again whose slices have different devices than before. */
  function countAgain(changed: readonly KnownNode[], atMillis: number): void {
    for (const { object, resourceVersion } of changed) takeNode(object, { resourceVersion, atMillis });
  }

  return {
    take(resource, object, sight) {
      if (resource === "pods") return takePod(object, sight);
      if (resource === "events") {
        const uid = pulls.take(object);
        if (uid !== undefined) registries.workloads.amend(uid, sight.atMillis, (body) => pulls.addTo(body));
        return undefined;
      }
      if (resource === "nodes") takeNode(object, sight);
      else takeOther(resource, object, sight);
      return undefined;
    },
    gone(resource, uid, end, sight) {
      if (resource === "pods") {
        dependents.leave(uid);
        budgets.leave(uid);
        others.drop(uid);
        registries.workloads.end(uid, end, sight, (body) => ({ ...body, endReason: endReasonOf(body, end) }));
      } else if (resource === "nodes") {
        machines.dropNode(uid);
        registries.inventory.end(uid, end, sight);
      } else if (resource !== "events") {
        const body = registries.cluster.latest(uid);
        if (body !== undefined) {
          relations.drop(body);
          gangClaims.delete(`${body.namespace}/${body.name}`);
        }
        registries.cluster.end(uid, end, sight);
        if (body?.kind === "PodDisruptionBudget") withBudgets(budgets.drop(body), sight.atMillis);
        countAgain(machines.takeSlice(uid, undefined), sight.atMillis);
      }
    },
    listed(resource, atMillis) {
      if (resource === "pods") arePodsListed = true;
      if (resource === BUDGETS) withBudgets(budgets.setKnown(), atMillis);
    },
  };
}

/**
 * Adds earlier data that the object no longer has: a container's earliest start after two restarts, and the times of a queue whose object
 * no longer exists.
 */
function withFormer(fact: FactBody<WorkloadFact>, former: FactBody<WorkloadFact> | undefined): FactBody<WorkloadFact> {
  if (former === undefined) return fact;
  const { queued, admitted, pulled } = former.times;
  const times: PodTimes = {
    ...given({ queued, admitted, pulled }),
    ...fact.times,
    ...given({ started: earliest([former.times.started, fact.times.started]) }),
  };
  return { ...fact, times };
}

/**
 * Adds what a former status showed of the containers that the object has lost: their devices, and the end of the pod. A pod that ran in its
 * former status ran until the status was lost. It was bound once.
 */
function withContainersOf(
  former: FactBody<WorkloadFact> | undefined,
  fact: FactBody<WorkloadFact>,
  atMillis: number,
): FactBody<WorkloadFact> {
  if (former === undefined) return fact;
  const { scheduled, started, finished = started === undefined ? fact.times.finished : atMillis } = former.times;
  const evidence = [...fact.evidence, ...former.evidence.filter(({ by }) => by === "status")];
  return { ...fact, evidence, times: { ...fact.times, ...given({ scheduled, finished }) } };
}

function withFirstReport(
  fact: Extract<FactBody<ClusterFact>, { kind: "TrainJob" }>,
  former: FactBody<ClusterFact> | undefined,
): FactBody<ClusterFact> {
  return former?.kind === "TrainJob" ? { ...fact, body: sinceFirst(fact.body, former.body) } : fact;
}

type Status = Extract<DeviceEvidence, { by: "status" }>;

/** Adds since when devices are unhealthy and when they were, because the object has only the current health. */
function withHealth(
  fact: FactBody<WorkloadFact>,
  former: FactBody<WorkloadFact> | undefined,
  atMillis: number,
): FactBody<WorkloadFact> {
  if (fact.evidence.every(({ by }) => by !== "status")) return fact;
  const evidence = fact.evidence.map((entry): DeviceEvidence => {
    if (entry.by !== "status") return entry;
    const before = former?.evidence.find(
      (other): other is Status => other.by === "status" && isSameDevice(other, entry),
    );
    const spells = before?.unhealthy ?? [];
    const open = spells.at(-1)?.until === undefined ? spells.at(-1) : undefined;
    const isUnhealthy = entry.isUnhealthy === true;
    if (isUnhealthy === (open !== undefined)) return spells.length === 0 ? entry : { ...entry, unhealthy: spells };
    const unhealthy = isUnhealthy
      ? [...spells, { from: atMillis }]
      : [...spells.slice(0, -1), { ...open!, until: atMillis }];
    return { ...entry, unhealthy };
  });
  return { ...fact, evidence };
}

function isSameDevice(one: Status, other: Status): boolean {
  return (
    one.uuid === other.uuid &&
    one.pciBusId === other.pciBusId &&
    one.gpuIndex === other.gpuIndex &&
    one.instance === other.instance
  );
}

function endReasonOf(body: FactBody<WorkloadFact>, end: FactEnd): NonNullable<WorkloadFact["endReason"]> {
  return body.endReason ?? (end.inferred ? "unknown" : "deleted");
}
