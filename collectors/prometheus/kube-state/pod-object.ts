import { IMPORTED_MARK } from "../../../domain/workload.ts";
import type { KubeCondition } from "../../kubernetes/projection/kube-object.ts";
import type { PodObject } from "../../kubernetes/projection/pod-object.ts";
import type { SeenObject } from "../../kubernetes/watcher/seen-object.ts";
import { containersAt, statusesAt } from "./containers.ts";
import { type ImportedPod } from "./imported-pod.ts";
import type { LabelReader } from "./label-name.ts";
import type { ImportedOwners } from "./owners.ts";
import type { ResourceReader } from "./resource-name.ts";
import { labelOf, type Row } from "./row.ts";
import type { States } from "./states.ts";
import { timestamp } from "./timestamp.ts";

/** The readers of names that the objects of an import need. */
export interface NameReaders {
  readonly labels: LabelReader;
  readonly resources: ResourceReader;
}

/** Reasons of `kube_pod_status_reason` that are reasons of a condition and not of the status. */
const DISRUPTIONS = new Set(["PreemptionByScheduler", "TerminationByKubelet"]);
const GATED = "SchedulingGated";

/** Returns the Pod object at a time, as far as the series have it. */
export function importedPodObject(
  pod: ImportedPod,
  atMillis: number,
  { labels, resources }: NameReaders,
  owners: Pick<ImportedOwners, "reference">,
): PodObject & SeenObject {
  const { namespace, name, uid, states, times, mark } = pod;
  const { created, deletion, graceEnd, scheduled } = times;
  const isBound = scheduled !== undefined && atMillis >= scheduled;
  const info = states.trueRows("kube_pod_info", atMillis)[0];
  const { containers, initContainers } = containersAt(states, atMillis, resources);
  const phase = phaseAt(pod, atMillis);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace,
      name,
      uid,
      creationTimestamp: timestamp(created),
      labels: mapOf(states.trueRows("kube_pod_labels", atMillis), (row) => labels.labels(row)),
      annotations: {
        ...mapOf(states.trueRows("kube_pod_annotations", atMillis), (row) => labels.annotations(row)),
        [IMPORTED_MARK]: mark,
      },
      ownerReferences: ownersAt(states, namespace, info, atMillis, owners),
      ...(deletion === undefined || graceEnd === undefined || atMillis < deletion
        ? {}
        : {
            deletionTimestamp: timestamp(graceEnd),
            deletionGracePeriodSeconds: Math.round((graceEnd - deletion) / 1000),
          }),
    },
    spec: {
      ...(isBound ? { nodeName: nodeOf(states, atMillis) } : {}),
      schedulerName: labelOfFirst(states.trueRows("kube_pod_scheduler", atMillis), "name") ?? null,
      priorityClassName: info === undefined ? null : labelOf(info, "priority_class"),
      nodeSelector: mapOf(states.trueRows("kube_pod_nodeselectors", atMillis), (row) => labels.nodeSelector(row)),
      tolerations: states.trueRows("kube_pod_tolerations", atMillis).map((row) => {
        const key = labelOf(row, "key");
        return { ...(key === "" ? {} : { key }), operator: labelOf(row, "operator") };
      }),
      containers,
      initContainers,
    },
    status: {
      phase,
      reason: statusReason(states, atMillis),
      conditions: conditionsAt(pod, isBound, phase, atMillis),
      ...statusesAt(pod, phase, atMillis),
    },
  };
}

/** Returns the phase at a time: that of the next sample, limited by the times of the pod, which are exact. */
function phaseAt({ states, times }: ImportedPod, atMillis: number): string {
  const { started, finished } = times;
  const sampled = labelOfFirst(states.trueRows("kube_pod_status_phase", atMillis), "phase") ?? "Unknown";
  const isFinished = sampled === "Succeeded" || sampled === "Failed";
  if (isFinished && finished !== undefined && atMillis < finished)
    return started !== undefined && atMillis >= started ? "Running" : "Pending";
  if (sampled === "Running" && started !== undefined && atMillis < started) return "Pending";
  if (finished !== undefined && atMillis >= finished && !isFinished) {
    const last = labelOfFirst(states.trueRows("kube_pod_status_phase", states.lastMillis), "phase");
    return last === "Succeeded" || last === "Failed" ? last : sampled;
  }
  return sampled;
}

function conditionsAt(
  { states, times }: ImportedPod,
  isBound: boolean,
  phase: string,
  atMillis: number,
): readonly KubeCondition[] {
  const conditions: KubeCondition[] = [];
  const reasons = new Set(states.trueRows("kube_pod_status_reason", atMillis).map((row) => labelOf(row, "reason")));
  const unscheduled = states.trueRows("kube_pod_status_unschedulable", atMillis).length > 0 || reasons.has(GATED);
  if (isBound) conditions.push(condition("PodScheduled", "True", times.scheduled!));
  else if (unscheduled) {
    const reason = reasons.has(GATED) ? GATED : "Unschedulable";
    conditions.push({ ...condition("PodScheduled", "False", times.created), reason });
  }
  const ready = readyAt({ states, times }, atMillis);
  const isOver = phase === "Succeeded" || phase === "Failed";
  if (isOver) conditions.push(condition("Ready", "False", times.finished ?? atMillis));
  else if (ready !== undefined && phase === "Running") conditions.push(condition("Ready", "True", ready));
  for (const reason of reasons) {
    if (DISRUPTIONS.has(reason)) conditions.push({ ...condition("DisruptionTarget", "True", atMillis), reason });
  }
  return conditions;
}

/**
 * Returns since when the pod is ready; undefined if it is not. Older versions have no times of readiness; the first sample that is ready
 * replaces them.
 */
function readyAt({ states, times }: Pick<ImportedPod, "states" | "times">, atMillis: number): number | undefined {
  const row = states.trueRows("kube_pod_status_ready", atMillis).find((each) => labelOf(each, "condition") === "true");
  if (row === undefined && states.rows("kube_pod_status_ready").length > 0) return undefined;
  for (const metric of ["kube_pod_status_ready_time", "kube_pod_status_container_ready_time"]) {
    const value = states.valueAt(metric, atMillis);
    if (value !== undefined) return value * 1000 <= atMillis ? value * 1000 : undefined;
  }
  const run = row?.runs.find(({ value, untilMillis }) => value !== 0 && untilMillis >= atMillis);
  return run === undefined ? undefined : Math.max(run.fromMillis, times.started ?? 0);
}

function statusReason(states: States, atMillis: number): string | null {
  const reasons = states.trueRows("kube_pod_status_reason", atMillis).map((row) => labelOf(row, "reason"));
  return reasons.find((reason) => !DISRUPTIONS.has(reason) && reason !== GATED) ?? null;
}

function nodeOf(states: States, atMillis: number): string {
  const bound = states.rows("kube_pod_info").filter((row) => labelOf(row, "node") !== "");
  const now = states.trueRows("kube_pod_info", atMillis).find((row) => labelOf(row, "node") !== "");
  return labelOf(now ?? bound[0] ?? { labels: new Map() }, "node");
}

function ownersAt(
  states: States,
  namespace: string,
  info: Row | undefined,
  atMillis: number,
  owners: Pick<ImportedOwners, "reference">,
): ReturnType<ImportedOwners["reference"]>[] {
  const rows = states.trueRows("kube_pod_owner", atMillis).filter((row) => labelOf(row, "owner_kind") !== "");
  const references = rows.map((row) => ({
    ...owners.reference(labelOf(row, "owner_kind"), namespace, labelOf(row, "owner_name")),
    controller: labelOf(row, "owner_is_controller") === "true",
  }));
  const kind = info === undefined ? "" : labelOf(info, "created_by_kind");
  if (references.length > 0 || info === undefined || kind === "") return references;
  return [owners.reference(kind, namespace, labelOf(info, "created_by_name"))];
}

function condition(type: string, status: string, sinceMillis: number): KubeCondition {
  return { type, status, lastTransitionTime: timestamp(sinceMillis) };
}

function mapOf(
  rows: readonly Row[],
  read: (row: Row) => Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return rows.length === 0 ? {} : read(rows.at(-1)!);
}

function labelOfFirst(rows: readonly Row[], label: string): string | undefined {
  return rows[0] === undefined ? undefined : labelOf(rows[0], label);
}
