import { hash, roll } from "./hash.ts";
import { NO_LOAD, type Load } from "./load.ts";
import type { FleetPod, PodRun } from "./pod.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

/** The holder of a slot, with the time in which the holder does not change. */
export interface Tenancy {
  readonly fromMillis: number;
  readonly untilMillis: number;
  /** The load of the slot. */
  readonly load: Load;
  readonly pod: FleetPod | undefined;
}

/** A piece of time with a key of its own. */
export interface Span {
  readonly key: number;
  readonly fromMillis: number;
  readonly untilMillis: number;
}

/**
 * Returns the span of a time line that contains a moment. The line is divided into pieces of the first length. A piece stays whole with the
 * first chance, else it is divided into pieces of the second length, and so on. Each length must divide the one before. Lines of different
 * keys are shifted against each other by whole minutes.
 */
export function spanAt(
  key: number,
  timeMillis: number,
  levels: readonly { readonly lengthMillis: number; readonly chance: number }[],
): Span {
  const shift = (hash(key, 91) % (levels[0]!.lengthMillis / MINUTE_MILLIS)) * MINUTE_MILLIS;
  for (const [level, { lengthMillis, chance }] of levels.entries()) {
    const index = Math.floor((timeMillis - shift) / lengthMillis);
    if (level < levels.length - 1 && roll(key, index, level, 92) >= chance) continue;
    const fromMillis = index * lengthMillis + shift;
    return { key: hash(key, index, level, 93), fromMillis, untilMillis: fromMillis + lengthMillis };
  }
  throw new RangeError("a time line needs a level");
}

/**
 * Returns the tenancy of a moment in a span in which one pod runs for a part of the time. The pod is created on demand, because the sum of
 * energy passes hundreds of tenancies and needs only their loads.
 */
export function tenancyWithin(
  span: Span,
  run: Omit<PodRun, "node">,
  timeMillis: number,
  holder: { readonly load: () => Load; readonly pod: (load: Load) => FleetPod },
): Tenancy {
  const { startMillis, endMillis } = run;
  if (timeMillis < startMillis) return nobody(span.fromMillis, startMillis);
  if (timeMillis >= endMillis) return nobody(endMillis, span.untilMillis);
  const load = holder.load();
  let pod: FleetPod | undefined;
  return {
    fromMillis: startMillis,
    untilMillis: endMillis,
    load,
    get pod() {
      return (pod ??= holder.pod(load));
    },
  };
}

/** Returns a time in which a slot is free. */
export function nobody(fromMillis: number, untilMillis: number): Tenancy {
  return { fromMillis, untilMillis, load: NO_LOAD, pod: undefined };
}

/** Rounds a time down to the second, the precision of Kubernetes' times. */
export function wholeSecond(timeMillis: number): number {
  return Math.floor(timeMillis / 1000) * 1000;
}
