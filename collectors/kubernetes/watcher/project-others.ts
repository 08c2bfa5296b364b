import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { FactEnd } from "../../../domain/fact.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import { projectClusterObject } from "../projection/cluster-fact.ts";
import { isReservedForGang } from "../projection/cluster/dra.ts";
import { sinceFirst } from "../projection/cluster/train-job.ts";
import { given } from "../projection/wire.ts";
import { withRelations } from "./dependent-pods.ts";
import type { FactBody, Sight } from "./fact-registry.ts";
import { countAgain } from "./project-nodes.ts";
import { ofGang } from "./project-pods.ts";
import type { ProjectorState } from "./projector-state.ts";
import type { SeenObject } from "./seen-object.ts";

/** Projects an object that is neither a pod nor a node. */
export function takeOther(state: ProjectorState, resource: string, object: SeenObject, sight: Sight): void {
  const { projection, registries, onRemarks, gangClaims, relations, machines, budgets, dependents } = state;
  const projected = projectClusterObject(object, projection.namespaceAnnotations);
  if (projected === undefined) {
    registries.cluster.end(object.metadata.uid, { atMillis: sight.atMillis, inferred: false }, sight);
    return;
  }
  if (projected.remarks.length > 0) onRemarks(object, projected.remarks);
  const read = { resource, ...projected.fact } as FactBody<ClusterFact>;
  const isOfGang = read.kind === "ResourceClaim" && isReservedForGang(object);
  if (isOfGang) gangClaims.set(`${read.namespace}/${read.name}`, read.uid);
  const ofAll = isOfGang ? ofGang(state, read) : read;
  const body = ofAll.kind === "TrainJob" ? withFirstReport(ofAll, registries.cluster.latest(read.uid)) : ofAll;
  relations.take(body);
  registries.cluster.report(body, sight);
  if (body.kind === "ResourceSlice") countAgain(state, machines.takeSlice(body.uid, body.body), sight.atMillis);
  if (body.kind === "PodDisruptionBudget") withBudgets(state, budgets.take(body), sight.atMillis);
  for (const uid of dependents.of(body))
    registries.workloads.amend(uid, sight.atMillis, (pod) => withRelations(pod, relations));
}

/** Records that an object that is neither a pod nor a node no longer exists. */
export function endOther(state: ProjectorState, uid: string, end: FactEnd, sight: Sight): void {
  const { registries, relations, gangClaims, budgets, machines } = state;
  const body = registries.cluster.latest(uid);
  if (body !== undefined) {
    relations.drop(body);
    gangClaims.delete(`${body.namespace}/${body.name}`);
  }
  registries.cluster.end(uid, end, sight);
  if (body?.kind === "PodDisruptionBudget") withBudgets(state, budgets.drop(body), sight.atMillis);
  countAgain(state, machines.takeSlice(uid, undefined), sight.atMillis);
}

/** Sends the facts of pods again whose budgets have changed. */
export function withBudgets({ registries, budgets }: ProjectorState, uids: readonly string[], atMillis: number): void {
  for (const uid of uids) {
    registries.workloads.amend(uid, atMillis, (body) => {
      const disruptionBudgets = budgets.namesFor(uid);
      return { ...body, ...given({ disruptionBudgets }) } as FactBody<WorkloadFact>;
    });
  }
}

function withFirstReport(
  fact: Extract<FactBody<ClusterFact>, { kind: "TrainJob" }>,
  former: FactBody<ClusterFact> | undefined,
): FactBody<ClusterFact> {
  return former?.kind === "TrainJob" ? { ...fact, body: sinceFirst(fact.body, former.body) } : fact;
}
