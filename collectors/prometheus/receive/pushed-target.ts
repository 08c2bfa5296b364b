import type { SavedTarget, PushedTarget } from "./model.ts";
import { MINUTE_MILLIS } from "../../../domain/time.ts";
import type { Batch, SampleDrop } from "./model.ts";
import { createIntervalEstimate } from "./interval.ts";
import { createLayout } from "./layout.ts";
import type { MomentHold } from "./moment-hold.ts";
import { createMoment, growMoment } from "./moment.ts";
import type { Moment } from "./model.ts";
import { createReplicaElection } from "./replica-election.ts";
import type { SeriesPlace } from "./model.ts";

/** The most moments of a target in a minute of their time: twice as many as the shortest interval of scrapes has. */
const MOST_IN_A_MINUTE = 120;
/** The minutes whose moments are counted. Senders come back to the last few only. */
const COUNTED_MINUTES = 64;

/** Creates a target without a series. */
export function createPushedTarget(
  identity: Pick<PushedTarget, "key" | "cluster" | "sender" | "job" | "instance" | "pods">,
  options: {
    readonly hold: MomentHold;
    readonly intervalMillis: number;
    readonly saved: SavedTarget | undefined;
    readonly onElected: () => void;
  },
): PushedTarget {
  const { hold, intervalMillis, saved, onElected } = options;
  const moments = new Map<number, Moment>();
  const minutes = createMinuteCounts();
  const interval = createIntervalEstimate(saved?.intervalMillis ?? intervalMillis);
  let layout = createLayout();
  let last: Moment | undefined;
  let newest = 0;
  let forgotten = saved?.forgottenMillis ?? -1;
  let arrivedMillis = 0;
  /** Moments up to here belong to the former replica. */
  let formerUntil = -1;
  const election = createReplicaElection(saved?.replica, () => {
    formerUntil = newest;
    onElected();
  });

  function open(atMillis: number, segment: number): Moment {
    if (newest > 0) interval.add(atMillis - newest);
    newest = Math.max(newest, atMillis);
    const moment = createMoment(target, atMillis, segment);
    moments.set(atMillis, moment);
    hold.add(moment);
    hold.grew(growMoment(moment));
    return moment;
  }

  const target: PushedTarget = {
    ...identity,
    get layout() {
      return layout;
    },
    interval,
    election,
    upLabels: undefined,
    origins: [],
    savedNodes: saved?.nodes ?? [],
    expected: 0,
    get newestMillis() {
      return newest;
    },
    get arrivedMillis() {
      return arrivedMillis;
    },
    seenMillis: 0,
    lastMessage: undefined,
    failure: undefined,
    take(batch, from, { nowMillis, segment }) {
      const { places, times, values } = batch;
      const { replica } = places[from]!;
      const atMillis = times[from]!;
      target.seenMillis = nowMillis;
      const end = endOfRun(batch, from);
      const { savedNodes, origins } = target;
      const isKnown = layout.slots.length > 0 || origins.length > 0 || savedNodes.length > 0;
      if (!isKnown) return dropRun(batch, "not-a-gpu-target", from, end);
      if (!election.accepts(replica, nowMillis, interval.millis)) return dropRun(batch, "replica", from, end);
      let moment = last?.atMillis === atMillis ? last : moments.get(atMillis);
      if (moment === undefined) {
        if (atMillis <= formerUntil) return dropRun(batch, "replica", from, end);
        if (atMillis <= forgotten) return dropRun(batch, "too-late", from, end);
        if (!minutes.count(atMillis)) return dropRun(batch, "too-often", from, end);
        moment = open(atMillis, segment);
      }
      last = moment;
      let isNew = false;
      for (let index = from; index < end; index++) if (put(hold, moment, places[index]!, values, index)) isNew = true;
      if (!isNew) return end;
      arrivedMillis = nowMillis;
      moment.arrivedMillis = nowMillis;
      if (!moment.isChanged) {
        moment.isChanged = true;
        hold.changed(moment);
      }
      return end;
    },
    replaceLayout: () => void (layout = createLayout()),
    forget(moment) {
      moments.delete(moment.atMillis);
      if (last === moment) last = undefined;
      forgotten = Math.max(forgotten, moment.atMillis);
    },
    save: () => ({
      forgottenMillis: forgotten,
      replica: election.elected,
      intervalMillis: interval.millis,
      nodes: target.origins.length === 0 ? target.savedNodes : target.origins.map(({ node }) => node),
    }),
  };
  return target;
}

/** Counts the samples of a scrape that are dropped. Returns their end. */
function dropRun(batch: Batch, reason: SampleDrop, from: number, end: number): number {
  batch.dropped[reason] = (batch.dropped[reason] ?? 0) + end - from;
  return end;
}

/** Returns the end of the samples of one scrape that begin at a position of a batch. */
function endOfRun({ places, times, size }: Batch, from: number): number {
  const first = places[from]!;
  let end = from + 1;
  while (end < size && isOfRun(places[end]!, first) && times[end] === times[from]) end += 1;
  return end;
}

/** Returns whether two samples are of the same target and the same replica, and neither is a pod. */
function isOfRun({ target, replica, role }: SeriesPlace, first: SeriesPlace): boolean {
  return target === first.target && replica === first.replica && role !== "pod";
}

interface MinuteCounts {
  /** Counts a moment. Returns false if its minute has too many. */
  count(atMillis: number): boolean;
}

function createMinuteCounts(): MinuteCounts {
  /** The number of moments of each minute, the minutes in the order of their first moments. */
  const counts = new Map<number, number>();
  return {
    count(atMillis) {
      const minute = Math.floor(atMillis / MINUTE_MILLIS);
      const count = (counts.get(minute) ?? 0) + 1;
      if (count > MOST_IN_A_MINUTE) return false;
      counts.set(minute, count);
      const [first] = counts.keys();
      if (counts.size > COUNTED_MINUTES) counts.delete(first!);
      return true;
    },
  };
}

/** Puts a value into a moment. Returns false if the moment has it already. */
function put(hold: MomentHold, moment: Moment, place: SeriesPlace, given: Float64Array, index: number): boolean {
  if (place.role === "up") {
    const value = given[index]!;
    if (Object.is(moment.up, value)) return false;
    if (moment.up === undefined) moment.count += 1;
    moment.up = value;
    return true;
  }
  const { slot } = place;
  const own = place.layout === moment.layout ? slot : moment.layout.slotOf(place.layout.slots[slot]!);
  if (own >= moment.values.length) hold.grew(growMoment(moment));
  const { values, seen } = moment;
  if (seen[own] === 0) {
    seen[own] = 1;
    moment.count += 1;
  } else if (values[own] === given[index] || (values[own] !== values[own] && given[index] !== given[index]))
    return false;
  values[own] = given[index]!;
  return true;
}
