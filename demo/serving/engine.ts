import { HOUR_MILLIS } from "../../domain/time.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { hash, hashText } from "../fleet/hash.ts";
import { loadAt, loadBetween, NO_LOAD, type Load } from "../fleet/load.ts";
import type { FleetNode, Slot } from "../fleet/node.ts";
import { tenancyAt } from "../fleet/tenancy.ts";
import type { PodLife } from "../kubernetes/cluster/lives.ts";
import { MODELS_OF_SERVICE, type ServedModel } from "./models.ts";

/** An inference engine in a pod, on one of the pod's GPUs. */
export interface Engine {
  readonly key: number;
  readonly model: ServedModel;
  readonly life: PodLife;
  readonly slot: Slot;
  /** The load of its slot, as in the exporter's page. */
  readonly load: Load;
  /** The power above idle at full load. */
  readonly watts: number;
}

/** The state of an engine at a time. Counts are of the time since the engine started. */
export interface EngineState {
  readonly startMillis: number;
  readonly isAsleep: boolean;
  readonly running: number;
  readonly waiting: number;
  /** The used part of the cache. */
  readonly cache: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly generatedTokens: number;
  readonly requests: { readonly stop: number; readonly length: number; readonly abort: number };
  readonly preemptions: number;
  readonly steps: number;
  /** Sums over requests. */
  readonly seconds: { readonly queue: number; readonly prefill: number; readonly decode: number };
}

/** An engine ends and starts again in its pod. */
const RESTART_MILLIS = 31 * HOUR_MILLIS;
const STEPS_PER_SECOND = 18;

/** Returns the nodes of a fleet that can have engines. */
export function engineNodes({ nodes }: Fleet): readonly FleetNode[] {
  const canServe = ({ use, resident }: Slot): boolean => (resident?.plan.type ?? use) === "inference";
  return nodes.filter(({ gpus }) => gpus.some(({ slots }) => slots.some(canServe)));
}

/** Returns the engines of a pod, one for each model of its service. The other pods of a group work for the engine of its leader. */
export function enginesOf(life: PodLife): readonly Engine[] {
  const { pod, slots, node, uid } = life;
  const canServe = pod.type === "inference" && (pod.gang?.rank ?? 0) === 0;
  const models = canServe ? MODELS_OF_SERVICE.get(pod.labels["app"]!) : undefined;
  return slots.flatMap((slot, index) => {
    const model = models?.[index];
    if (model === undefined) return [];
    const { load } = tenancyAt(slot, pod.startMillis);
    const watts = slot.weight * (node.model.maxWatts - node.model.idleWatts);
    return [{ key: hashText(index, uid), model, life, slot, load, watts }];
  });
}

/** Returns the energy above idle of an engine's GPU between two times in the life of its pod, joules. */
export function joulesBetween({ watts, load }: Engine, fromMillis: number, untilMillis: number): number {
  return watts * loadBetween(load, fromMillis / 1000, untilMillis / 1000);
}

/** Returns the time when an engine last started. Both times are milliseconds since the epoch. */
export function startedAt({ key, life }: Engine, timeMillis: number): number {
  const phase = hash(key, 1) % RESTART_MILLIS;
  return Math.max(life.startMillis, Math.floor((timeMillis - phase) / RESTART_MILLIS) * RESTART_MILLIS + phase);
}

/** Returns the state of an engine at a time in the life of its pod. It is a function of its arguments: counts rise until the next start. */
export function stateOf(engine: Engine, timeMillis: number): EngineState {
  const { model, load, watts } = engine;
  const startMillis = startedAt(engine, timeMillis);
  const loadSeconds = loadBetween(load, startMillis / 1000, timeMillis / 1000);
  const joules = watts * loadSeconds;
  const now = Math.max(0, loadAt(load, timeMillis / 1000));
  const promptTokens = Math.floor(joules * model.promptOfJoule);
  const requests = promptTokens / model.promptOfRequest;
  // The time of all requests is the area under the number of running ones (Little's law).
  const runningSeconds = loadSeconds * model.batch;
  const prefillPart = model.generatedOfJoule === 0 ? 1 : 0.15;
  return {
    startMillis,
    isAsleep: load === NO_LOAD,
    running: now === 0 ? 0 : Math.max(1, Math.round(now * model.batch)),
    waiting: Math.round(Math.max(0, now - 0.6) * model.batch),
    cache: Math.min(1, now * 0.9),
    promptTokens,
    cachedTokens: Math.floor(promptTokens * model.cachedPart),
    generatedTokens: Math.floor(joules * model.generatedOfJoule),
    requests: {
      stop: Math.floor(requests * 0.93),
      length: Math.floor(requests * 0.05),
      abort: Math.floor(requests * 0.01),
    },
    preemptions: Math.floor(requests / 4000),
    steps: Math.floor(loadSeconds * STEPS_PER_SECOND),
    seconds: {
      queue: runningSeconds * 0.04,
      prefill: runningSeconds * prefillPart,
      decode: runningSeconds * (1 - prefillPart),
    },
  };
}
