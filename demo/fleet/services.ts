import { hash, pick, roll } from "./hash.ts";
import { inferenceLoad } from "./habits.ts";
import type { Slot } from "./node.ts";
import { inferencePod } from "./pod.ts";
import { spanAt, tenancyWithin, wholeSecond, type Span, type Tenancy } from "./span.ts";
import { TEAMS } from "./teams.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

/** The lengths of a service's time on its GPU. */
const SERVICE_LEVELS = [
  { lengthMillis: 28 * DAY_MILLIS, chance: 0.3 },
  { lengthMillis: 14 * DAY_MILLIS, chance: 0.5 },
  { lengthMillis: 7 * DAY_MILLIS, chance: 1 },
];
/** A new release replaces the pods twice a week. */
const RELEASE_MILLIS = 3.5 * DAY_MILLIS;
/** The part of replicas that a scaler removes at night. */
const ELASTIC_CHANCE = 0.3;

/** Returns the replica on a slot: of one service for weeks, as a new pod at each release, some only in the daytime. */
export function inferenceTenancy(slot: Slot, timeMillis: number): Tenancy {
  const service = spanAt(slot.key, timeMillis, SERVICE_LEVELS);
  const team = pick(TEAMS, roll(service.key, 5));
  const isElastic = roll(service.key, 6) < ELASTIC_CHANCE;
  const length = isElastic ? DAY_MILLIS : RELEASE_MILLIS;
  const shift = isElastic ? -team.utcOffsetHours * HOUR_MILLIS : hash(service.key, 7) % RELEASE_MILLIS;
  const piece = pieceAt(service, timeMillis, length, wholeSecond(shift));
  const startMillis = isElastic
    ? wholeSecond(piece.fromMillis + (6.5 + roll(piece.key, 8)) * HOUR_MILLIS)
    : piece.fromMillis + 45_000;
  const endMillis = isElastic
    ? wholeSecond(piece.fromMillis + (21 + roll(piece.key, 9)) * HOUR_MILLIS)
    : piece.untilMillis;
  const run = {
    startMillis: Math.min(Math.max(startMillis, piece.fromMillis), piece.untilMillis),
    endMillis: Math.min(endMillis, piece.untilMillis),
  };
  return tenancyWithin(piece, run, timeMillis, {
    load: () => inferenceLoad(service.key, piece.key, team.utcOffsetHours),
    pod: (load) => inferencePod(slot.node.seed, [service.key, piece.key], team, { node: slot.node.name, ...run }, load),
  });
}

/** Returns the piece of regular length within a span, cut off at the span's ends. */
function pieceAt(span: Span, timeMillis: number, length: number, shift: number): Span {
  const index = Math.floor((timeMillis - shift) / length);
  const from = index * length + shift;
  return {
    key: hash(span.key, index, 10),
    fromMillis: Math.max(from, span.fromMillis),
    untilMillis: Math.min(from + length, span.untilMillis),
  };
}
