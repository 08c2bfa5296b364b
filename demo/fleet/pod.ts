import { hash, hashText, pick, roll, suffixOf, uuidOf } from "./hash.ts";
import type { Load } from "./load.ts";
import type { Team, WorkloadType } from "./teams.ts";

/** A pod that holds GPUs, from its binding to its end. */
export interface FleetPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly container: string;
  readonly node: string;
  readonly team: string;
  readonly type: WorkloadType;
  readonly workload: {
    readonly kind: "Job" | "PyTorchJob" | "Deployment" | "LeaderWorkerSet" | "StatefulSet";
    readonly name: string;
    readonly uid: string;
  };
  /** The pod's rank in a gang of several pods, and the UID of the pod with rank 0. */
  readonly gang?: { readonly rank: number; readonly size: number; readonly leader: string };
  readonly labels: Readonly<Record<string, string>>;
  /** The creation of a pod that waits for its node for hours; absent for all others. */
  readonly submittedMillis?: number;
  readonly startMillis: number;
  readonly endMillis: number;
  readonly load: Load;
  /** The used part of its devices' memory. */
  readonly memoryRatio: number;
  /** The parts of its load on the tensor pipes and on memory. */
  readonly tensorRatio: number;
  readonly dramRatio: number;
}

/** The time and the node of a pod. */
export interface PodRun {
  readonly node: string;
  readonly startMillis: number;
  readonly endMillis: number;
}

/** Returns a pod of a training job: alone, or one of a gang on several nodes. `key` is the job's. */
export function trainingPod(
  key: number,
  team: Team,
  run: PodRun,
  load: Load,
  { rank, size }: { readonly rank: number; readonly size: number },
): FleetPod {
  const title = pick(team.trainings, roll(key, 1));
  const name = `${title}-${suffixOf(key, 5)}`;
  const isGang = size > 1;
  return {
    ...run,
    name: isGang ? `${name}-worker-${rank}` : `${name}-${suffixOf(hash(key, 9), 5)}`,
    namespace: team.namespaces.training,
    uid: uuidOf(key, rank + 1),
    container: isGang ? "pytorch" : "trainer",
    team: team.name,
    type: "training",
    workload: { kind: isGang ? "PyTorchJob" : "Job", name, uid: uuidOf(key, 0) },
    ...(isGang ? { gang: { rank, size, leader: uuidOf(key, 1) } } : {}),
    labels: { app: title, team: team.name },
    load,
    memoryRatio: 0.72 + 0.25 * roll(key, 2),
    tensorRatio: 0.25 + 0.4 * roll(key, 3),
    dramRatio: 0.35 + 0.35 * roll(key, 4),
  };
}

/** Returns a replica of a service. `service` is the key of the service's time on a slot, `key` the pod's own. */
export function inferencePod(
  seed: number,
  [service, key]: readonly [service: number, key: number],
  team: Team,
  run: PodRun,
  load: Load,
): FleetPod {
  const name = pick(team.services, roll(service, 1));
  return {
    ...run,
    name: `${name}-${suffixOf(service, 9)}-${suffixOf(key, 5)}`,
    namespace: team.namespaces.inference,
    uid: uuidOf(key, 1),
    container: "server",
    team: team.name,
    type: "inference",
    workload: { kind: "Deployment", name, uid: deploymentUid(seed, team.name, name) },
    labels: { app: name, team: team.name },
    load,
    memoryRatio: 0.55 + 0.36 * roll(service, 2),
    tensorRatio: 0.1 + 0.2 * roll(service, 3),
    dramRatio: 0.5 + 0.3 * roll(service, 4),
  };
}

/** Returns the UID of a team's service. */
export function deploymentUid(seed: number, team: string, service: string): string {
  return uuidOf(hashText(seed, `deployment/${team}/${service}`));
}

/** Returns a notebook pod. */
export function notebookPod(key: number, team: Team, run: PodRun, load: Load): FleetPod {
  const person = pick(team.people, roll(key, 1));
  const name = `jupyter-${person}-${suffixOf(key, 5)}`;
  return {
    ...run,
    name: `${name}-0`,
    namespace: team.namespaces.notebook,
    uid: uuidOf(key, 1),
    container: "notebook",
    team: team.name,
    type: "notebook",
    workload: { kind: "StatefulSet", name, uid: uuidOf(key, 0) },
    labels: { app: "jupyter", team: team.name },
    load,
    memoryRatio: 0.05 + 0.4 * roll(key, 2),
    tensorRatio: 0.1 * roll(key, 3),
    dramRatio: 0.15 + 0.2 * roll(key, 4),
  };
}
