import type { OwnerReference, WorkloadFact } from "../workload.ts";
import type { TrainingMarks } from "../training-marks.ts";
import { runPodOf, type ContainerRestart, type RunPod } from "./run-pod.ts";

/** The rules by which pods belong to one run. */
export interface RunRules {
  /** Labels or annotations whose value names a run across workloads, strongest first. */
  readonly keys: readonly string[];
  /** The longest time without a pod after which an owner of the same name continues its run. */
  readonly gapMillis: number;
}

/** The name of a run: the kind and name of its owner, or the key and its value. A later run can have the same name. */
export interface RunName {
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** A training run: the pods of an owner and of its successors. */
export interface Run extends RunName {
  /** See {@link runIdOf}. */
  readonly id: string;
  /** When its first pod was created, milliseconds since the epoch. */
  readonly begun: number;
  /** When its last pod ended; Infinity while a pod exists. */
  readonly ended: number;
  /** All of its pods run together: if one stops, all stop. */
  readonly isGang: boolean;
  /** The object at the top of the owners of its newest pod; the pod itself if it has no owner. */
  readonly object: OwnerReference;
  /** UIDs of the objects that own its pods. */
  readonly owners: ReadonlySet<string>;
  /** The latest value of each report of its pods. */
  readonly marks: TrainingMarks;
  /** In order of their creation. */
  readonly pods: readonly RunPod[];
}

/** Owners that start a run of their own again and again. The object below them is the run. */
const SCHEDULES: ReadonlySet<string> = new Set(["CronJob", "CronWorkflow", "ScheduledSparkApplication"]);

/** Owners whose pods train together, also without an object for the gang. */
const DISTRIBUTED: ReadonlySet<string> = new Set([
  "JobSet",
  "TrainJob",
  "PyTorchJob",
  "TFJob",
  "MPIJob",
  "XGBoostJob",
  "PaddleJob",
  "JAXJob",
  "RayJob",
  "RayCluster",
  "RunaiJob",
]);

/**
 * Returns the name of a pod's run: its first configured key with a value, otherwise the top of its owner chain. A schedule is not the top:
 * each object that it creates is a run.
 */
export function runNameOf(fact: WorkloadFact, { keys }: Pick<RunRules, "keys">): RunName {
  const { cluster, namespace } = fact;
  for (const key of keys) {
    const value = keyed(fact.labels, key) ?? keyed(fact.annotations, key);
    if (value !== undefined) return { cluster, namespace, kind: key, name: value };
  }
  const { kind, name } = isScheduled(fact) ? fact.owners.at(-2)! : fact.workload;
  return { cluster, namespace, kind, name };
}

function keyed(map: Readonly<Record<string, string>>, key: string): string | undefined {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return value === "" ? undefined : value;
}

function isScheduled({ owners, workload }: WorkloadFact): boolean {
  return SCHEDULES.has(workload.kind) && owners.length > 1;
}

/**
 * Returns the runs of pods, in order of their begin. Pods of one name are one run if a configured key names it, if they have the same
 * owner, or if a successor's first pod is created at most `gapMillis` after the last pod has ended. A pod's restarts are found by its UID.
 */
export function runsOf(
  facts: readonly WorkloadFact[],
  rules: RunRules,
  restarts: ReadonlyMap<string, readonly ContainerRestart[]> = new Map(),
): readonly Run[] {
  const byName = new Map<string, Member[]>();
  for (const fact of facts) {
    const name = runNameOf(fact, rules);
    const key = JSON.stringify([name.cluster, name.namespace, name.kind, name.name]);
    const members = byName.get(key) ?? [];
    byName.set(key, members);
    members.push({ name, fact, pod: runPodOf(fact, restarts.get(fact.uid)) });
  }
  const runs = [...byName.values()].flatMap((members) => attempts(members, rules)).map(runOf);
  return runs.toSorted((a, b) => a.begun - b.begun || (a.id < b.id ? -1 : 1));
}

interface Member {
  readonly name: RunName;
  readonly fact: WorkloadFact;
  readonly pod: RunPod;
}

/** Divides the pods of one name into runs, in order of time. */
function attempts(members: readonly Member[], { keys, gapMillis }: RunRules): readonly (readonly Member[])[] {
  const ordered = members.toSorted((a, b) => a.pod.created - b.pod.created || (a.pod.uid < b.pod.uid ? -1 : 1));
  if (keys.includes(ordered[0]!.name.kind)) return [ordered];
  const runs: { readonly members: Member[]; readonly owners: Set<string>; until: number }[] = [];
  for (const member of ordered) {
    const owner = objectOf(member.fact).uid;
    const last = runs.at(-1);
    const isSame = last !== undefined && (last.owners.has(owner) || member.pod.created <= last.until + gapMillis);
    const run = isSame ? last : { members: [], owners: new Set<string>(), until: -Infinity };
    if (!isSame) runs.push(run);
    run.members.push(member);
    if (owner !== "") run.owners.add(owner);
    run.until = Math.max(run.until, member.pod.end?.at ?? Infinity);
  }
  return runs.map((run) => run.members);
}

/** Returns the object that is the run of a pod. Its UID is empty if it is unknown. */
function objectOf(fact: WorkloadFact): OwnerReference {
  const { name, uid } = fact;
  return fact.owners.at(isScheduled(fact) ? -2 : -1) ?? { apiVersion: "v1", kind: "Pod", name, uid };
}

function runOf(members: readonly Member[]): Run {
  const [{ name, pod }] = members as readonly [Member, ...Member[]];
  const facts = members.map(({ fact }) => fact);
  const owners = facts.flatMap((fact): readonly OwnerReference[] => fact.owners);
  return {
    ...name,
    id: runIdOf(name, pod.created),
    begun: pod.created,
    ended: members.reduce((latest, each) => Math.max(latest, each.pod.end?.at ?? Infinity), -Infinity),
    isGang: facts.some(({ gang }) => gang !== undefined) || owners.some(({ kind }) => DISTRIBUTED.has(kind)),
    object: objectOf(facts.at(-1)!),
    owners: new Set(owners.flatMap(({ uid }) => (uid === "" ? [] : [uid]))),
    marks: Object.assign({}, ...facts.map(({ training }) => training)) as TrainingMarks,
    pods: members.map((member) => member.pod),
  };
}

/** Returns the id of a run: `cluster/namespace/kind/name@2026-03-02T08:00:00.000Z`, with each part as in an address. */
export function runIdOf({ cluster, namespace, kind, name }: RunName, begunMillis: number): string {
  const path = [cluster, namespace, kind, name].map(encodeURIComponent).join("/");
  return `${path}@${new Date(begunMillis).toISOString()}`;
}

/** Returns the name and the begin of the run with an id; undefined for a text that is not one. */
export function readRunId(id: string): (RunName & { readonly begun: number }) | undefined {
  const [, path = "", at = ""] = /^([^@]*)@([^@]*)$/.exec(id) ?? [];
  const parts = path.split("/").map(decoded);
  const begun = Date.parse(at);
  if (parts.length !== 4 || Number.isNaN(begun) || parts.includes(undefined)) return undefined;
  const [cluster, namespace, kind, name] = parts as [string, string, string, string];
  return { cluster, namespace, kind, name, begun };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
