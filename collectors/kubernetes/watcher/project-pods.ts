import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { FactEnd } from "../../../domain/fact.ts";
import type { DeviceEvidence, PodTimes, WorkloadFact } from "../../../domain/workload.ts";
import type { OwnerLookup } from "../owners/chain.ts";
import { projectPod, unmeteredOf } from "../projection/pod.ts";
import { hasLostItsContainers } from "../projection/pod/pod-times.ts";
import { earliest } from "../projection/time.ts";
import { given } from "../projection/wire.ts";
import type { FactBody, Sight } from "./fact-registry.ts";
import { nodeProgramOf } from "./node-programs.ts";
import { withPrograms } from "./project-nodes.ts";
import type { ProjectorState } from "./projector-state.ts";
import type { SeenObject } from "./seen-object.ts";

/** The most rounds of reading missing owners. A chain has at most 10 owners, and each round can find another missing one. */
const MOST_ROUNDS = 12;

/** Projects a pod. Reads the owners that turn out to be missing and repeats until none is missing. */
export async function takePod(state: ProjectorState, object: SeenObject, sight: Sight): Promise<void> {
  const { budgets, projection, relations, owners, registries, pulls, dependents, onRemarks, signal } = state;
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
    if (projected === undefined) return passOver(state, object, sight);
    if (missing.length === 0 || round === MOST_ROUNDS) {
      const { fact, remarks } = projected;
      if (remarks.length > 0) onRemarks(object, remarks);
      const former = registries.workloads.latest(fact.uid);
      const recalled = hasLostItsContainers(object) ? withContainersOf(former, fact, sight.atMillis) : fact;
      const whole = withHealth(withFormer(recalled, former), former, sight.atMillis);
      dependents.join(fact);
      registries.workloads.report(pulls.addTo(whole), sight);
      reserveGangClaims(state, fact, sight.atMillis);
      return;
    }
    await Promise.all(missing.map(([reference, namespace]) => owners.fetch(reference, namespace)));
    if (signal.aborted) return;
  }
}

/** Records that a pod no longer exists. */
export function endPod(
  { dependents, budgets, others, registries }: ProjectorState,
  uid: string,
  end: FactEnd,
  sight: Sight,
): void {
  dependents.leave(uid);
  budgets.leave(uid);
  others.drop(uid);
  registries.workloads.end(uid, end, sight, (body) => ({ ...body, endReason: endReasonOf(body, end) }));
}

/** Sends the claims of a pod's gang again, with the pod among those for which they are reserved. */
function reserveGangClaims(state: ProjectorState, { namespace, asks }: FactBody<WorkloadFact>, atMillis: number): void {
  const { registries, gangClaims } = state;
  for (const ask of asks) {
    const uid = ask.kind === "claim" ? gangClaims.get(`${namespace}/${ask.claim}`) : undefined;
    if (uid !== undefined) registries.cluster.amend(uid, atMillis, (fact) => ofGang(state, fact));
  }
}

/** Returns a claim of a gang, reserved for the pods that name it. */
export function ofGang({ dependents }: ProjectorState, fact: FactBody<ClusterFact>): FactBody<ClusterFact> {
  if (fact.kind !== "ResourceClaim") return fact;
  const reservedFor = [...new Set([...fact.body.reservedFor, ...dependents.of(fact)])].sort();
  return { ...fact, body: { ...fact.body, reservedFor } };
}

/**
 * Handles a pod that requests no GPU, or no longer one. Of these pods, device plugins and exporters provide their version, and all others
 * take CPU and memory from GPUs if their node has some.
 */
function passOver(state: ProjectorState, object: SeenObject, sight: Sight): void {
  const { budgets, dependents, others, registries, projection, onRemarks, exporters, plugins, nodes } = state;
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
  if (uid !== undefined) registries.inventory.amend(uid, sight.atMillis, (fact) => withPrograms(state, fact));
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
