import type { Presence } from "./presence.ts";
import { labelOf, type Row, type Rows } from "./row.ts";
import type { Run } from "./runs.ts";

/** The series of one object, with the state that they had at a time. All times are milliseconds since the epoch. */
export interface States {
  /** The first and the last sample of the object. */
  readonly firstMillis: number;
  readonly lastMillis: number;
  /** Returns all rows of a metric. */
  rows(metric: string): readonly Row[];
  /** Returns the rows of a metric that have a value other than 0 at a time. */
  trueRows(metric: string, atMillis: number): readonly Row[];
  /** Returns a metric's value at a time, from the first row that has a value then. `labels` are those that the row must have. */
  valueAt(metric: string, atMillis: number, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Returns all values of a metric in order of time. */
  values(metric: string): readonly number[];
  /** Returns the first sample of a metric that is not 0. */
  firstTrue(metric: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Returns the times of samples at which the state differs from the sample before. */
  changes(): readonly number[];
}

/** Creates the states of an object from its rows. Their runs are within the object's life. */
export function createStates(
  rows: Rows,
  life: { readonly firstMillis: number; readonly lastMillis: number },
  presence: Presence,
): States {
  const { firstMillis, lastMillis } = life;
  const bridged = new Map(
    [...rows].map(([metric, all]) => [metric, all.map((row) => ({ ...row, runs: presence.bridge(row.runs) }))]),
  );
  const of = (metric: string): readonly Row[] => bridged.get(metric) ?? [];
  // During an outage of kube-state-metrics, the next sample has the state. What came later is known by the times in values.
  const within = (atMillis: number): number => {
    const inLife = Math.max(firstMillis, atMillis);
    return Math.min(lastMillis, presence.nextSeen(inLife) ?? inLife);
  };
  const matching = (metric: string, labels: Readonly<Record<string, string>>): readonly Row[] =>
    of(metric).filter((row) => Object.entries(labels).every(([name, value]) => labelOf(row, name) === value));

  /**
   * Returns the run at a time. Between two samples, a state that the next sample has counts: the times of changes in the values are exact,
   * and the first sample after such a time has the changed state.
   */
  function runAt({ runs }: Row, atMillis: number): Run | undefined {
    const at = within(atMillis);
    return (
      runs.findLast((run) => run.fromMillis <= at && at <= run.untilMillis) ??
      runs.find((run) => run.fromMillis > at && run.fromMillis - at <= presence.lateMillis)
    );
  }

  return {
    firstMillis,
    lastMillis,
    rows: of,
    trueRows: (metric, atMillis) => of(metric).filter((row) => (runAt(row, atMillis)?.value ?? 0) !== 0),
    valueAt(metric, atMillis, labels = {}) {
      const found = matching(metric, labels).flatMap((row) => runAt(row, atMillis) ?? []);
      return found.toSorted((a, b) => b.fromMillis - a.fromMillis)[0]?.value;
    },
    values: (metric) =>
      of(metric)
        .flatMap(({ runs }) => runs)
        .toSorted((a, b) => a.fromMillis - b.fromMillis)
        .map(({ value }) => value),
    firstTrue: (metric, labels = {}) =>
      earliestOf(matching(metric, labels).flatMap(({ runs }) => runs.filter(({ value }) => value !== 0))),
    changes() {
      const times = new Set<number>();
      for (const { runs } of [...bridged.values()].flat()) {
        for (const { fromMillis, untilMillis } of runs) {
          times.add(fromMillis);
          if (untilMillis >= lastMillis) continue;
          const next = presence.nextSeen(untilMillis + presence.stepMillis);
          if (next !== undefined && next <= lastMillis) times.add(next);
        }
      }
      return [...times];
    },
  };
}

function earliestOf(runs: readonly Run[]): number | undefined {
  return runs.length === 0 ? undefined : Math.min(...runs.map(({ fromMillis }) => fromMillis));
}
