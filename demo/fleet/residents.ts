import type { Resident, Residency } from "./residency.ts";
import { RESTARTABLE_LABEL } from "../../domain/advice/rules/spot.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";
import { steadyLoad } from "./habits.ts";
import { hash, hashText, suffixOf, uuidOf } from "./hash.ts";
import { NO_LOAD } from "./load.ts";
import type { FleetNode, Slot } from "./node.ts";
import { deploymentUid, type FleetPod, type PodRun } from "./pod.ts";
import { tenancyWithin, type Tenancy } from "./span.ts";
import { TEAMS, type Team, type WorkloadType } from "./teams.ts";

/** A Monday morning long ago, and a time that does not end in the demo. Milliseconds since the epoch. */
const FOREVER = [Date.UTC(2025, 8, 1, 6), Date.UTC(2065, 8, 1, 6)] as const;

/** The time before the first start of a run, and after its end. */
const PAUSE_MILLIS = 20 * MINUTE_MILLIS;
const WEEKLY = { size: 2, everyMillis: 7 * DAY_MILLIS, waitMillis: 10 * HOUR_MILLIS };

const resident = (
  [team, name]: readonly [string, string],
  type: WorkloadType,
  load: number | Resident["load"],
  more: Partial<Resident> = {},
): Resident => ({
  name,
  team,
  type,
  gpusOfPod: 1,
  usedGpus: more.gpusOfPod ?? 1,
  load: typeof load === "number" ? (key) => steadyLoad(key, load) : load,
  memoryRatio: 0.85,
  tensorRatio: 0.3,
  dramRatio: 0.5,
  ...more,
});

/** Returns a level for some hours of each day, and 0 in the others. */
const inHours =
  (level: number, fromHour: number, hours: number): Resident["load"] =>
  () => ({
    base: 0,
    waves: [],
    pulse: { height: level, period: 86_400, width: hours * 3600, phase: fromHour * 3600 },
  });

/** Returns a level as soon as all pods of a weekly gang run. */
const onceWhole =
  (level: number): Resident["load"] =>
  () => ({
    base: level,
    waves: [],
    pulse: {
      height: -level,
      period: WEEKLY.everyMillis / 1000,
      width: (PAUSE_MILLIS + WEEKLY.waitMillis) / 1000,
      phase: FOREVER[0] / 1000,
    },
  });

/** The residents of the demo fleet, with the advice for each that wastes GPU-time. */
export const RESIDENTS = {
  // Stop it: its owner has forgotten it.
  jupyterGus: resident(["speech", "jupyter-gus"], "notebook", () => NO_LOAD, { memoryRatio: 0.3 }),
  // Request one GPU instead of two.
  diarize: resident(["speech", "diarize"], "inference", 0.7, { gpusOfPod: 2, usedGpus: 1 }),
  // A MIG instance is enough.
  promptGuard: resident(["nlp", "prompt-guard"], "inference", 0.09, { memoryRatio: 0.05 }),
  // An L40S is enough.
  rerankApi: resident(["nlp", "rerank-api"], "inference", 0.2, { memoryRatio: 0.42 }),
  // Two replicas are enough.
  imageTags: resident(["vision", "image-tags"], "inference", 0.16),
  // Nothing to advise: a model on two nodes. Only the leader of the group has a page.
  chat235b: resident(["nlp", "chat-235b"], "inference", 0.75, {
    gpusOfPod: 2,
    gang: { size: 2, everyMillis: 14 * DAY_MILLIS, waitMillis: 0 },
  }),
  // Stop it at night: its users label images in the day.
  labelAssist: resident(["vision", "label-assist"], "inference", inHours(0.65, 7, 10)),
  // It can restart, so spot nodes will do.
  domainPretrain: resident(["nlp", "domain-pretrain"], "training", 0.88, {
    gpusOfPod: 4,
    labels: { [RESTARTABLE_LABEL]: "true" },
  }),
  // Put both runs on one node: each of two nodes has a free GPU.
  graspRollouts: resident(["robotics", "grasp-rollouts"], "training", 0.85),
  // Admit its pods together: the first one waits ten hours for the second.
  policyDistill: resident(["robotics", "policy-distill"], "training", onceWhole(0.9), { gpusOfPod: 2, gang: WEEKLY }),
} as const satisfies Readonly<Record<string, Resident>>;

/** Returns the names of a team's services, residents included. */
export function servicesOf({ name: team, services }: Pick<Team, "name" | "services">): readonly string[] {
  const residents = Object.values<Resident>(RESIDENTS).filter(
    (each) => each.team === team && each.type === "inference",
  );
  return [...services, ...residents.map(({ name }) => name)];
}

/** Returns the resident on a GPU of a plan; undefined where the holders change. A resident with too few GPUs does not come. */
export function residencyOf(
  { residents = [], gpus }: { readonly residents?: readonly (Resident | "free" | undefined)[]; readonly gpus: number },
  gpu: number,
): Residency | "free" | undefined {
  const plan = residents[gpu];
  if (plan === "free") return plan;
  if (plan === undefined || residents.lastIndexOf(plan) >= gpus) return undefined;
  const place = residents.slice(0, gpu).filter((each) => each === plan).length;
  return { plan, pod: Math.floor(place / plan.gpusOfPod), isUsed: place % plan.gpusOfPod < plan.usedGpus };
}

/** Returns the resident's pod on a slot. */
export function residentTenancy({ node }: Slot, { plan, pod: place, isUsed }: Residency, timeMillis: number): Tenancy {
  const [sinceMillis, endMillis] = FOREVER;
  const isGroup = plan.type === "inference" && plan.gang !== undefined;
  const pod = isGroup ? node.rank : place;
  const length = plan.gang?.everyMillis ?? endMillis - sinceMillis;
  const index = Math.floor((timeMillis - sinceMillis) / length);
  const fromMillis = sinceMillis + index * length;
  const key = hash(hashText(isGroup ? node.group.key : node.key, plan.name), index);
  const span = { key, fromMillis, untilMillis: fromMillis + length };
  const run = {
    startMillis: fromMillis + PAUSE_MILLIS + pod * (plan.gang?.waitMillis ?? 0),
    endMillis: span.untilMillis - PAUSE_MILLIS,
  };
  return tenancyWithin(span, run, timeMillis, {
    load: () => (isUsed ? plan.load(hash(key, pod, 1)) : NO_LOAD),
    pod: () => ({
      ...residentPod(plan, { node: node.name, ...run }, { node, key, pod }),
      ...(plan.gang === undefined ? {} : { submittedMillis: fromMillis + PAUSE_MILLIS / 2 }),
    }),
  });
}

const KINDS = { training: "Job", inference: "Deployment", notebook: "StatefulSet" } as const;
const GANG_KINDS = { ...KINDS, training: "PyTorchJob", inference: "LeaderWorkerSet" } as const;

function residentPod(
  plan: Resident,
  run: PodRun,
  { node, key, pod }: { readonly node: FleetNode; readonly key: number; readonly pod: number },
): FleetPod {
  const { name: app, team, type, gang, memoryRatio, tensorRatio, dramRatio } = plan;
  const podKey = hash(key, pod, 1);
  const own = `${app}-${suffixOf(key, 5)}`;
  const random = suffixOf(podKey, 5);
  const group = `${app}-${suffixOf(node.group.key, 3)}`;
  const named = {
    Job: [`${own}-${random}`, "trainer", own, uuidOf(key, 0)],
    PyTorchJob: [`${own}-worker-${pod}`, "pytorch", own, uuidOf(key, 0)],
    Deployment: [`${app}-${suffixOf(key, 9)}-${random}`, "server", app, deploymentUid(node.seed, team, app)],
    LeaderWorkerSet: [pod === 0 ? `${group}-0` : `${group}-0-${pod}`, "server", group, uuidOf(node.group.key, 2)],
    StatefulSet: [`${own}-0`, "notebook", own, uuidOf(key, 0)],
  } as const;
  const kind = (gang === undefined ? KINDS : GANG_KINDS)[type];
  const [name, container, workload, uid] = named[kind];
  return {
    ...run,
    name,
    namespace: TEAMS.find((each) => each.name === team)!.namespaces[type],
    uid: uuidOf(podKey, 1),
    container,
    team,
    type,
    workload: { kind, name: workload, uid },
    ...(gang === undefined ? {} : { gang: { rank: pod, size: gang.size, leader: uuidOf(hash(key, 0, 1), 1) } }),
    labels: { app: type === "notebook" ? "jupyter" : app, team, ...plan.labels },
    load: plan.load(podKey),
    memoryRatio,
    tensorRatio,
    dramRatio,
  };
}
