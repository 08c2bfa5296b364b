/** The data that a panel needs. Each level includes the levels before it, except D, which is independent. */
export const LEVELS = {
  A: "the exporters' and kube-state-metrics' own metrics, and the recording rules",
  B: "the labels that kube-state-metrics gives with its generated values",
  C: "gpu-ledger's processors as a target of Prometheus",
  D: "ClickHouse as a data source",
} as const;

/** One of {@link LEVELS}. */
export type Level = keyof typeof LEVELS;

/** A query to Prometheus: over the dashboard's time, or at its end. */
export interface PrometheusQuery {
  readonly source: "prometheus";
  readonly expr: string;
  /** The name of a series, with labels in double braces. */
  readonly legend?: string;
  readonly as: "range" | "buckets" | "instant" | "table";
}

/** Returns true if a query is over the dashboard's time. */
export function isOverTime({ as }: Pick<PrometheusQuery, "as">): boolean {
  return as === "range" || as === "buckets";
}

/** A query to ClickHouse: columns `time`, the name of the series, and `Value`; or a table. */
export interface ClickHouseQuery {
  readonly source: "clickhouse";
  readonly sql: string;
  readonly as: "range" | "table";
}

export type Query = PrometheusQuery | ClickHouseQuery;

/** Units of values, with Grafana's names. */
export type Unit =
  | "short"
  | "none"
  | "percentunit"
  | "celsius"
  | "watt"
  | "bytes"
  | "binBps"
  | "hertz"
  | "s"
  | "dateTimeAsIso"
  | "string"
  | "ops"
  | "reqps"
  | Money;
/** Exact amounts with their currency. They are not rounded to thousands or to fewer decimals. */
export type Money = `suffix:${string}`;

/** The values from which a color applies. The first has no value. */
export type Thresholds = readonly [{ readonly color: Color }, ...{ readonly color: Color; readonly from: number }[]];
export type Color = "green" | "yellow" | "orange" | "red" | "blue" | "text" | "transparent";

/** A column of a table: the field of the answer, its title, and its link. */
export interface Column {
  /** A label or column; for values `Value`, with several queries `Value #A`, `Value #B`. */
  readonly field: string;
  readonly title: string;
  readonly unit?: Unit;
  readonly decimals?: number;
  readonly thresholds?: Thresholds;
  readonly link?: Link;
}

/** A link. `url` contains Grafana's variables. */
export interface Link {
  readonly title: string;
  readonly url: string;
}

/** The meanings of numbers, by the number's text. */
export type Meanings = Readonly<Record<string, { readonly text: string; readonly color: Color }>>;

/** The view of an answer. */
export type View =
  | { readonly kind: "stat" }
  | { readonly kind: "series"; readonly isStacked?: boolean; readonly isBars?: boolean; readonly max?: number }
  | { readonly kind: "bars" }
  | { readonly kind: "timeline"; readonly meanings: Meanings }
  | { readonly kind: "heatmap"; readonly of: Unit }
  | { readonly kind: "table"; readonly columns: readonly Column[]; readonly sortedBy?: string };

/** A panel. */
export interface Panel {
  readonly title: string;
  /** The conclusions from the panel, in sentences. */
  readonly description: string;
  readonly needs: Level;
  readonly view: View;
  readonly unit: Unit;
  readonly decimals?: number;
  readonly thresholds?: Thresholds;
  readonly queries: readonly Query[];
  /** The meaning of an empty panel if all of its data exists. */
  readonly empty: string;
  /** The width, of 24 columns, and the height, in rows of about 30 pixels. */
  readonly width: number;
  readonly height: number;
  readonly links?: readonly Link[];
}

/** Panels under a heading. */
export interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A choice at the top of a dashboard, of the values of a label or of a column. */
export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly query:
    | { readonly source: "prometheus"; readonly selector: string; readonly of: string }
    | { readonly source: "clickhouse"; readonly sql: string };
  /** True if several values may be chosen; then all are chosen first. */
  readonly isMulti: boolean;
  /** True if only other queries use it. */
  readonly isHidden?: boolean;
  /** The first choice of a variable with one value; if absent, its first value. */
  readonly first?: string;
}

/** Marks on everything over time. */
export interface Annotation {
  readonly name: string;
  readonly expr: string;
  readonly text: string;
  readonly color: Color;
}

/** A dashboard. */
export interface Dashboard {
  /** The stable beginning of its address. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly annotations: readonly Annotation[];
  readonly sections: readonly Section[];
  /** The first time range, such as `now-7d`. */
  readonly from: string;
  readonly refresh: string;
}
