import { SERVING_METRIC_BY_NAME, type ServingUnit } from "../metric.ts";
import type { ServingKind } from "../series.ts";

/** The labels of a series. */
export type Labels = ReadonlyMap<string, string>;

/** The values that labels must have. An empty text stands for a label that is absent or empty. */
export type LabelValues = Readonly<Record<string, string | readonly string[]>>;

/** A program's name for a canonical metric. */
export interface ServingAlias {
  /** The name of a canonical metric. */
  readonly column: string;
  /** The factor for the raw value. */
  readonly factor: number;
  readonly when?: LabelValues;
  /** If a row has a column under several names, the lowest rank counts. Series of one rank are added. */
  readonly rank: number;
}

/** A name of a series, with the label values that it requires. Counters are named without `_total`. */
export type SeriesName = string | readonly [name: string, when: LabelValues];

/** A canonical metric with its names, in order of preference. A list of names stands for series that are added. */
export interface ServingRow {
  readonly column: string;
  readonly factor: number;
  readonly names: readonly (SeriesName | { readonly all: readonly SeriesName[] })[];
}

/** The dialect of an inference engine, a frontend or a gateway. */
export interface ServingDialect {
  readonly exporter: string;
  readonly kind: ServingKind;
  /** The program's names of the canonical metrics. */
  readonly table: readonly ServingRow[];
  /** Returns whether a metric's name belongs to this program. */
  readonly owns: (name: string) => boolean;
  /** The labels with the model's name. The first one with a value counts. */
  readonly model: readonly string[];
  /** The labels with the part of the engine that a series belongs to. Their values are joined. */
  readonly part?: readonly string[];
  /** A value of a label of parts that stands for the whole engine. */
  readonly whole?: string;
  /** The labels with the tenant, unless a job has its own. The first one with a value counts. */
  readonly tenant?: readonly string[];
  /** A value of a model or a tenant that stands for no value. */
  readonly noValue?: string;
  /** Labels of ranks that report the same work. Only the lowest rank counts. */
  readonly ranks?: readonly string[];
  /** Columns to which other columns of the row are added. */
  readonly totals?: Readonly<Record<string, readonly string[]>>;
  /** Columns that count only if the row has none of the others. */
  readonly unless?: Readonly<Record<string, readonly string[]>>;
  /** Columns that do not count if another program of the page has a row of the same model: it has counted the same requests. */
  readonly beside?: readonly string[] | "all";
  /** Reasons why names that look useful are not read. */
  readonly traps?: Readonly<Record<string, string>>;
}

const row =
  (factor: number) =>
  (column: string, ...names: ServingRow["names"]): ServingRow => ({ column, factor, names });

/** Returns a row whose values need no conversion: tokens, requests, counts, microseconds. */
export const whole = row(1);
/** Returns a row of durations in seconds, for a column in microseconds. */
export const seconds = row(1e6);
/** Returns a row of ratios from 0 to 1, for a column in parts per million. */
export const ratio = row(1e6);
/** Returns a row of floating-point operations, for a column in gigaflops. */
export const flops = row(1e-9);
/** Returns a row of bytes, for a column in megabytes. */
export const bytes = row(1e-6);
/** Returns a row of amounts of money, for a column in nanos. */
export const money = row(1e9);

/** Returns rows for the ends of requests, by the values of a label. Requests with another value count as `requests_other`. */
export function endsOfRequests(name: string, label: string, ends: Readonly<Record<string, readonly string[]>>) {
  const named = Object.entries(ends).map(([column, values]) => whole(column, [name, { [label]: values }]));
  return [...named, whole("requests_other", name)];
}

/** Returns the first value of some labels that is not empty; undefined if there is none. */
export function firstValue(labels: Labels, names: readonly string[], noValue = ""): string | undefined {
  return names.map((name) => labels.get(name) ?? "").find((value) => value !== "" && value !== noValue);
}

/** The columns that {@link endsOfRequests} fills. Their sum is the number of requests. */
export const ENDS: readonly string[] = [
  "requests_stop",
  "requests_length",
  "requests_abort",
  "requests_error",
  "requests_other",
];

/** Returns the name of the part that a series belongs to; empty for the whole engine. */
export function partOf({ part = [], whole: none }: ServingDialect, labels: Labels): string {
  return part
    .map((name) => labels.get(name) ?? "")
    .filter((value) => value !== "" && value !== none)
    .join("/");
}

/** Returns the labels that a dialect reads, without those of tenants. */
export function labelsRead({ table, model, part = [], ranks = [] }: ServingDialect): ReadonlySet<string> {
  const names = table.flatMap((entry) => entry.names.flatMap((name) => (isAll(name) ? name.all : [name])));
  const conditions = names.flatMap((name) => (typeof name === "string" ? [] : Object.keys(name[1])));
  return new Set([...model, ...part, ...ranks, ...conditions]);
}

function isAll(name: ServingRow["names"][number]): name is { readonly all: readonly SeriesName[] } {
  return typeof name === "object" && "all" in name;
}

const CREATED = { column: "created_ms", factor: 1000 };

/**
 * Returns the lookup function of a dialect's table. It returns the aliases of a series' name, in the order in which they are tried. Counters
 * are found with and without `_total`. The time at which a counter or a histogram began is found as `_created`.
 */
export function servingAliases(rows: readonly ServingRow[]): (name: string) => readonly ServingAlias[] {
  const table = new Map<string, ServingAlias[]>();
  const add = (name: string, alias: ServingAlias): void => {
    table.set(name, [...(table.get(name) ?? []), alias]);
  };
  let rank = 0;
  for (const { column, factor, names } of rows) {
    for (const entry of names) {
      for (const each of isAll(entry) ? entry.all : [entry]) {
        const [name, when] = typeof each === "string" ? [each] : each;
        const conditions = when === undefined ? {} : { when };
        add(name, { column, factor, rank, ...conditions });
        if (SERVING_METRIC_BY_NAME.get(column)?.kind === "counter")
          add(`${name.replace(/_(sum|count)$/, "")}_created`, { ...CREATED, rank: 0, ...conditions });
      }
      rank += 1;
    }
  }
  return (name) => table.get(name) ?? table.get(name.replace(/_total$/, "")) ?? NONE;
}

const NONE: readonly ServingAlias[] = [];

/** Returns whether labels have the values that an alias requires. */
export function matches({ when = {} }: Pick<ServingAlias, "when">, labels: Labels): boolean {
  for (const label in when) {
    const value = labels.get(label) ?? "";
    const wanted = when[label]!;
    if (typeof wanted === "string" ? value !== wanted : !wanted.includes(value)) return false;
  }
  return true;
}

/** The largest valid value of each unit. A larger value is a mistake. A double holds all of them exactly. */
export const MOST_OF_SERVING_UNIT: Readonly<Record<ServingUnit, number>> = {
  tokens: 9e15,
  requests: 9e15,
  count: 9e15,
  microseconds: 9e15,
  gigaflops: 9e15,
  megabytes: 9e15,
  nanos: 9e15,
  ppm: 1e6,
  milliseconds: 9e12,
};
