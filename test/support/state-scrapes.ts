import { parseExposition } from "../../collectors/exporters/exposition/parse.ts";
import { createOpenRuns, type Run, type SeriesRuns, type Span } from "../../collectors/prometheus/kube-state/runs.ts";

type Texts = Readonly<Record<string, string>>;

/** The pages of several scrapes, as a Prometheus keeps them. */
export interface StateScrapes {
  /** Takes the page of a scrape; undefined if the scrape failed. `target` are labels that Prometheus adds. */
  scrape(atMillis: number, page: string | undefined, target?: Texts): void;
  /** Returns all series with their runs. */
  series(): readonly SeriesRuns[];
  /** Returns the spans in which scrapes had pages. */
  seen(): readonly Span[];
}

/** Creates an empty set of scrapes. `stepMillis` is the time between two of them. */
export function createStateScrapes(stepMillis: number): StateScrapes {
  const times: number[] = [];
  const isUp: number[] = [];
  const found = new Map<string, { name: string; labels: ReadonlyMap<string, string>; values: Map<number, number> }>();
  return {
    scrape(atMillis, page, target = {}) {
      times.push(atMillis);
      isUp.push(page === undefined ? Number.NaN : 1);
      if (page === undefined) return;
      for (const { name, labels, value } of parseExposition(Buffer.from(page)).samples) {
        const all = asScraped(labels, target);
        const key = JSON.stringify([name, ...[...all].toSorted(([a], [b]) => (a < b ? -1 : 1))]);
        const known = found.get(key) ?? { name, labels: all, values: new Map<number, number>() };
        known.values.set(atMillis, value ?? Number.NaN);
        found.set(key, known);
      }
    },
    seen: () => collectRuns(times, isUp, 1.5 * stepMillis),
    series: () =>
      [...found.values()].map(({ name, labels, values }) => ({
        name,
        labels,
        runs: collectRuns(
          times,
          times.map((at) => values.get(at) ?? Number.NaN),
          1.5 * stepMillis,
        ),
      })),
  };
}

/** Returns labels as Prometheus stores them without `honor_labels`. It drops empty labels. */
function asScraped(labels: ReadonlyMap<string, string>, target: Texts): ReadonlyMap<string, string> {
  const all = new Map(Object.entries(target));
  for (const [name, value] of labels) {
    if (value !== "") all.set(Object.hasOwn(target, name) ? `exported_${name}` : name, value);
  }
  return all;
}

/** Returns the runs of samples in order of time. */
export function collectRuns(times: ArrayLike<number>, values: ArrayLike<number>, gapMillis: number): readonly Run[] {
  const runs = createOpenRuns(gapMillis);
  runs.take({ times, values, count: times.length }, { fromMillis: -Infinity, untilMillis: Infinity });
  return runs.all();
}
