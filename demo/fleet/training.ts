import { hash, pick, roll } from "./hash.ts";
import type { Slot } from "./node.ts";
import { trainingLoad } from "./habits.ts";
import { trainingPod } from "./pod.ts";
import { nobody, spanAt, tenancyWithin, wholeSecond, type Span, type Tenancy } from "./span.ts";
import { TEAMS } from "./teams.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

/** The lengths of a group's jobs: two days to three hours. */
const LEVELS = [
  { lengthMillis: 48 * HOUR_MILLIS, chance: 0.15 },
  { lengthMillis: DAY_MILLIS, chance: 0.2 },
  { lengthMillis: 12 * HOUR_MILLIS, chance: 0.35 },
  { lengthMillis: 6 * HOUR_MILLIS, chance: 0.6 },
  { lengthMillis: 3 * HOUR_MILLIS, chance: 1 },
];

/** The part of a group's jobs that span all of its nodes. */
const GANG_CHANCE = 0.45;
/** The part of all shares without a job. */
const EMPTY_CHANCE = 0.1;

/** Returns the training job on a GPU. The group's span belongs to one gang, or each node's GPUs are divided by halves. */
export function trainingTenancy(slot: Slot, timeMillis: number): Tenancy {
  const { node, gpu } = slot;
  const { group } = node;
  const span = spanAt(group.key, timeMillis, LEVELS);
  if (group.nodes.length > 1 && roll(span.key, 1) < GANG_CHANCE) {
    return jobTenancy(slot, span, span.key, group.nodes.length, timeMillis);
  }
  const share = shareOf(hash(span.key, node.rank, 2), gpu, group.gpusOfEach[node.rank]!);
  return jobTenancy(slot, span, share, 1, timeMillis);
}

/** Returns the key of a GPU's share: a node's GPUs are halved until a share stays whole. */
function shareOf(key: number, gpu: number, gpus: number): number {
  let from = 0;
  let count = gpus;
  let share = hash(key, from, count);
  while (count > 1 && roll(share, 3) >= 0.4) {
    const half = Math.ceil(count / 2);
    if (gpu < from + half) count = half;
    else {
      from += half;
      count -= half;
    }
    share = hash(key, from, count);
  }
  return share;
}

function jobTenancy(slot: Slot, span: Span, key: number, size: number, timeMillis: number): Tenancy {
  const { fromMillis, untilMillis } = span;
  if (size === 1 && roll(key, 4) < EMPTY_CHANCE) return nobody(fromMillis, untilMillis);
  const length = untilMillis - fromMillis;
  // Jobs wait a short time for their images and data, and one of twelve fails early.
  const startMillis = wholeSecond(fromMillis + length * 0.04 * roll(key, 5) + 5000);
  const part = roll(key, 6) < 0.08 ? 0.2 + 0.4 * roll(key, 7) : 0.9 + 0.095 * roll(key, 7);
  const endMillis = wholeSecond(fromMillis + length * part);
  return tenancyWithin(span, { startMillis, endMillis }, timeMillis, {
    load: () => trainingLoad(key),
    pod(load) {
      const team = pick(TEAMS, roll(key, 8));
      const run = { node: slot.node.name, startMillis, endMillis };
      return trainingPod(key, team, run, load, { rank: slot.node.rank, size });
    },
  });
}
