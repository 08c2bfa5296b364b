import { hash, pick, roll } from "./hash.ts";
import { notebookLoad } from "./habits.ts";
import type { Slot } from "./node.ts";
import { notebookPod } from "./pod.ts";
import { nobody, tenancyWithin, wholeSecond, type Tenancy } from "./span.ts";
import { TEAMS } from "./teams.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

/** Returns the notebook on a slot: one a day, in working hours; few at weekends. */
export function notebookTenancy(slot: Slot, timeMillis: number): Tenancy {
  // A slot belongs to one team. The team's midnight divides its days.
  const team = pick(TEAMS, roll(slot.key, 1));
  const offset = team.utcOffsetHours * HOUR_MILLIS;
  const day = Math.floor((timeMillis + offset) / DAY_MILLIS);
  const fromMillis = day * DAY_MILLIS - offset;
  const span = { key: hash(slot.key, day, 2), fromMillis, untilMillis: fromMillis + DAY_MILLIS };
  // Day 0 was a Thursday.
  const isWeekend = [2, 3].includes(((day % 7) + 7) % 7);
  if (roll(span.key, 3) >= (isWeekend ? 0.12 : 0.8)) return nobody(fromMillis, span.untilMillis);
  const startMillis = wholeSecond(fromMillis + (8 + 3 * roll(span.key, 4)) * HOUR_MILLIS);
  const endMillis = wholeSecond(fromMillis + (17 + 5 * roll(span.key, 5)) * HOUR_MILLIS);
  const run = { startMillis, endMillis };
  return tenancyWithin(span, run, timeMillis, {
    load: () => notebookLoad(span.key),
    pod: (load) => notebookPod(span.key, team, { node: slot.node.name, ...run }, load),
  });
}
