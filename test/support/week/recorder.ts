import type { InputSeries } from "../rules/case.ts";

/** Labels by name; an empty value means that the label is absent. */
export type Labels = Readonly<Record<string, string>>;

/** Keeps the samples that a Prometheus would have stored, scrape by scrape, as input for promtool. */
export interface Recorder {
  /** The key of a series in {@link add}. */
  key(name: string, labels: Labels): string;
  /** A value of the scrape at a step. */
  add(key: string, step: number, value: number): void;
  /** Every series with the step of its first value; a missed value is undefined. */
  series(): Iterable<{
    readonly key: string;
    readonly first: number;
    readonly values: readonly (number | undefined)[];
  }>;
  /** Every series in promtool's notation. A series that ends, or misses a scrape, goes stale there, as in Prometheus. */
  inputs(steps: number): readonly InputSeries[];
}

/** A recorder without any series. */
export function createRecorder(): Recorder {
  const all = new Map<string, { readonly first: number; readonly values: number[] }>();
  return {
    key(name, labels) {
      const list = Object.entries(labels).filter(([, value]) => value !== "");
      return `${name}{${list.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`;
    },
    add(key, step, value) {
      let series = all.get(key);
      if (series === undefined) all.set(key, (series = { first: step, values: [] }));
      series.values[step - series.first] = value;
    },
    *series() {
      for (const [key, { first, values }] of all) yield { key, first, values };
    },
    inputs: (steps) =>
      [...all].map(([series, { first, values }]) => ({ series, values: notation(first, values, steps) })),
  };
}

/** Values in promtool's notation: `1x3` is four ones, `_x2` two missing values. */
function notation(first: number, values: readonly number[], steps: number): string {
  const parts: string[] = first === 0 ? [] : [`_x${first}`];
  let at = 0;
  while (at < values.length) {
    const value = values[at];
    let until = at + 1;
    while (until < values.length && values[until] === value) until += 1;
    const length = until - at;
    if (value === undefined) parts.push("stale", ...(length > 1 ? [`_x${length - 1}`] : []));
    else parts.push(length > 1 ? `${value}x${length - 1}` : String(value));
    at = until;
  }
  if (first + values.length < steps) parts.push("stale");
  return parts.join(" ");
}
