import type { FactOrigin } from "../../domain/fact.ts";
import type { EndReason, OwnerReference, WorkloadFact } from "../../domain/workload.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { workloadType } from "../../collectors/kubernetes/owners/type.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";
import type { Scenario } from "../files.ts";
import { asksOf, evidenceOf } from "./asks.ts";
import { uuidOf } from "./identity.ts";
import { clusterOf, createdAt, podUid, startedAt, tenureOf, type ScenarioPod } from "./tenure.ts";

/** The fact of a pod from a time on. It is computed on demand, because a month has hundreds of thousands of them. */
export interface PodMoment {
  readonly atMillis: number;
  readonly fact: () => PodBody;
}

/** A pod's fact without the fields that the watcher adds. */
export type PodBody = Omit<WorkloadFact, keyof FactOrigin>;

/** How long the object of a finished pod stays, like that of a Job with a TTL. */
const KEPT_MILLIS = 5 * MINUTE_MILLIS;

const KINDS = ownerKinds();
const END_REASONS: Readonly<Record<ScenarioPod["phase"], EndReason>> = {
  Succeeded: "completed",
  Failed: "failed",
  Evicted: "evicted",
  Deleted: "deleted",
};

/**
 * Returns the facts of a scenario's pod, as a watcher would send them: when it is created, bound, starts and finishes, and when its object is gone.
 * Equal times are one fact. None for a job of a batch scheduler.
 */
export function podMoments(pod: ScenarioPod, scenario: Scenario): readonly PodMoment[] {
  if (pod.hpcJob !== undefined) return [];
  const life = lifeOfPod(pod, scenario);
  const bodyAt = (at: number): PodBody => ({ ...constantOf(pod, scenario), ...stateAt(pod, scenario, life, at) });
  const times = [life.created, life.bound, life.started, life.finished].filter((at) => at !== undefined);
  const moments = [...new Set(times)]
    .toSorted((a, b) => a - b)
    .map((atMillis): PodMoment => ({ atMillis, fact: () => bodyAt(atMillis) }));
  const { finished } = life;
  if (finished === undefined || isTakenAway(pod, life)) return moments;
  const atMillis = finished + KEPT_MILLIS;
  return [...moments, { atMillis, fact: () => ({ ...bodyAt(finished), end: { atMillis, inferred: false } }) }];
}

interface PodLife {
  readonly created: number;
  readonly bound: number | undefined;
  readonly started: number | undefined;
  readonly finished: number | undefined;
}

function lifeOfPod(pod: ScenarioPod, scenario: Scenario): PodLife {
  const tenure = tenureOf(pod, scenario);
  const unbound = pod.finished === null ? undefined : (pod.finished ?? scenario.period.end);
  const until = tenure === undefined || tenure.until === Infinity ? undefined : tenure.until;
  return {
    created: Math.min(createdAt(pod, scenario), tenure?.from ?? Infinity),
    bound: tenure?.from,
    started: startedAt(pod, scenario),
    finished: tenure === undefined ? unbound : until,
  };
}

/** The fields of a fact that stay the same for a pod's whole life. */
function constantOf(pod: ScenarioPod, scenario: Scenario) {
  const { name, namespace, workload, labels, annotations, queue, priorityClass, gang } = pod;
  const owners = ownersOf(pod, scenario);
  const { type } = workloadType({ owners, labels, overrides: [labels, annotations] }, KINDS);
  return {
    uid: podUid(pod, scenario),
    namespace,
    name,
    owners,
    ownersTruncated: false,
    workload: workload === undefined ? { kind: "Pod", name } : { kind: workload.kind, name: workload.name },
    type: pod.type ?? type,
    restarts: 0,
    // A pod's own labels are before those of its owner.
    labels: { ...workload?.labels, ...labels },
    annotations,
    marks: { pod: { labels, annotations }, owners: { labels: workload?.labels ?? {}, annotations: {} } },
    nodeSelector: {},
    tolerations: [],
    ...(queue === undefined ? {} : { queue }),
    ...(priorityClass === undefined ? {} : { priorityClass }),
    ...(gang === undefined ? {} : { gang: { kind: "PodGroup", name: gang.group, size: gang.size } }),
  };
}

function ownersOf(pod: ScenarioPod, scenario: Scenario): readonly OwnerReference[] {
  const { workload, namespace } = pod;
  if (workload === undefined || workload.kind === "Pod") return [];
  const { kind, name } = workload;
  const group = KINDS.all.find((each) => each.kind === kind)?.group ?? "";
  const uid = uuidOf("owner", clusterOf(pod, scenario), namespace, kind, name);
  return [{ apiVersion: group === "" ? "v1" : `${group}/v1`, kind, name, uid }];
}

/** Returns true if a pod's object is deleted at its end. A pod that was never bound can only be deleted. */
function isTakenAway({ phase }: ScenarioPod, { bound }: PodLife): boolean {
  return phase === "Deleted" || bound === undefined;
}

function stateAt(pod: ScenarioPod, scenario: Scenario, life: PodLife, at: number) {
  const { created, bound, started, finished } = life;
  const host = scenario.nodes.find(({ name }) => name === pod.node);
  const isBound = host !== undefined && bound !== undefined && bound <= at;
  const hasStarted = started !== undefined && started <= at;
  const over = finished !== undefined && finished <= at ? finished : undefined;
  const isDeleted = isTakenAway(pod, life);
  const ended = over === undefined || isDeleted ? {} : { finished: over };
  const deleted = over === undefined || !isDeleted ? {} : { deletion: over };
  const phase = pod.phase === "Succeeded" ? "Succeeded" : "Failed";
  return {
    node: isBound ? host.name : "",
    phase: "finished" in ended ? phase : hasStarted ? "Running" : "Pending",
    times: {
      created,
      ...(isBound ? { scheduled: bound } : {}),
      ...(hasStarted ? { started, ready: started } : {}),
      ...ended,
      ...deleted,
    },
    ...(over !== undefined || hasStarted
      ? {}
      : { pending: { reason: isBound ? "ContainerCreating" : "Unschedulable", message: "" } }),
    asks: asksOf(pod, host),
    evidence: isBound ? evidenceOf(pod, host, bound) : [],
    ...(over === undefined ? {} : { endReason: isDeleted ? "deleted" : END_REASONS[pod.phase] }),
    ...(over === undefined || !isDeleted ? {} : { end: { atMillis: over, inferred: false } }),
  } satisfies Partial<PodBody>;
}
