import type { Presence } from "./presence.ts";
import { labelOf, type Row, type Rows } from "./row.ts";
import { runsWithin, type Run } from "./runs.ts";
import { createStates, type States } from "./states.ts";

/** One object from its first to its last sample. Another object can later have the same name. */
export interface Life {
  /** The UID in the series; undefined if they have none. */
  readonly uid: string | undefined;
  /** The creation time, milliseconds since the epoch; undefined if it was not exported. */
  readonly createdMillis: number | undefined;
  readonly states: States;
  /** When the object was last seen, if it was gone before the end of the samples; milliseconds since the epoch. */
  readonly goneMillis: number | undefined;
}

/** The metrics that separate the objects of one name. */
export interface LifeMetrics {
  /** The metric that every object has at each sample. */
  readonly info: string;
  /** The metric with the creation time in seconds. */
  readonly created: string;
}

interface Extent {
  readonly uid: string | undefined;
  readonly createdMillis: number | undefined;
  readonly fromMillis: number;
  readonly untilMillis: number;
}

const MILLIS = 1000;

/**
 * Returns the lives of the objects of one name, in order of time: one for each UID, otherwise for each creation time, otherwise for each
 * stretch of samples. Rows without a UID belong to the object that was there at the time.
 */
export function livesOf(rows: readonly Row[], { info, created }: LifeMetrics, presence: Presence): readonly Life[] {
  const extents = extentsOf(rows, { info, created }, presence).toSorted((a, b) => a.fromMillis - b.fromMillis);
  return extents.map((extent, index): Life => {
    const own = new Map<string, Row[]>();
    for (const row of rows) {
      const uid = labelOf(row, "uid");
      if (uid !== "" && extent.uid !== undefined && uid !== extent.uid) continue;
      const runs = runsWithin(row.runs, extent);
      if (runs.length === 0) continue;
      const clipped = runs === row.runs ? row : { ...row, runs };
      const ofMetric = own.get(row.metric);
      if (ofMetric === undefined) own.set(row.metric, [clipped]);
      else ofMetric.push(clipped);
    }
    const { uid, untilMillis } = extent;
    const hasNext = index + 1 < extents.length;
    return {
      uid,
      createdMillis: extent.createdMillis ?? createdOf(own, created),
      states: createStates(own, { firstMillis: extent.fromMillis, lastMillis: untilMillis }, presence),
      goneMillis: hasNext || presence.isGoneAfter(untilMillis) ? untilMillis : undefined,
    };
  });
}

function extentsOf(rows: readonly Row[], { info, created }: LifeMetrics, presence: Presence): readonly Extent[] {
  const uids = new Set(rows.map((row) => labelOf(row, "uid")).filter((uid) => uid !== ""));
  if (uids.size > 0) {
    return [...uids].map((uid) => ({
      uid,
      createdMillis: undefined,
      ...rangeOf(rows.flatMap((row) => (labelOf(row, "uid") === uid ? row.runs : []))),
    }));
  }
  const createdRuns = rows.flatMap((row) => (row.metric === created ? row.runs : []));
  const times = [...new Set(createdRuns.map(({ value }) => value))];
  if (times.length > 0) {
    return times.map((value) => ({
      uid: undefined,
      createdMillis: value * MILLIS,
      ...rangeOf(createdRuns.filter((run) => run.value === value)),
    }));
  }
  const ofInfo = rows.flatMap(({ metric, runs }) => (metric === info ? runs : []));
  const all = ofInfo.length > 0 ? ofInfo : rows.flatMap(({ runs }) => runs);
  return stretchesOf(all, presence).map((range) => ({ uid: undefined, createdMillis: undefined, ...range }));
}

/** Returns the stretches of samples between absences, in order of time. */
function stretchesOf(runs: readonly Run[], presence: Presence): readonly Pick<Run, "fromMillis" | "untilMillis">[] {
  const stretches: { fromMillis: number; untilMillis: number }[] = [];
  for (const { fromMillis, untilMillis } of runs.toSorted((a, b) => a.fromMillis - b.fromMillis)) {
    const last = stretches.at(-1);
    if (last !== undefined && !presence.isAbsentBetween(last.untilMillis, fromMillis))
      last.untilMillis = Math.max(last.untilMillis, untilMillis);
    else stretches.push({ fromMillis, untilMillis });
  }
  return stretches;
}

function rangeOf(runs: readonly Run[]): Pick<Run, "fromMillis" | "untilMillis"> {
  let [fromMillis, untilMillis] = [Infinity, -Infinity];
  for (const run of runs) {
    fromMillis = Math.min(fromMillis, run.fromMillis);
    untilMillis = Math.max(untilMillis, run.untilMillis);
  }
  return { fromMillis, untilMillis };
}

function createdOf(rows: Rows, created: string): number | undefined {
  const value = rows.get(created)?.[0]?.runs[0]?.value;
  return value === undefined ? undefined : value * MILLIS;
}
