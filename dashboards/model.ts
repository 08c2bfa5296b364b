/** What a panel needs to have anything to tell; each level has those before it, but for D, which stands by itself. */
export const LEVELS = {
  A: "the exporters' and kube-state-metrics' own metrics, and the recording rules",
  B: "the labels that kube-state-metrics gives with its generated values",
  C: "gpu-ledger's processors as a target of Prometheus",
  D: "ClickHouse as a data source",
} as const;

/** One of {@link LEVELS}. */
export type Level = keyof typeof LEVELS;

/** A question to Prometheus: over the dashboard's time, or as of its end. */
export interface PrometheusQuery {
  readonly source: "prometheus";
  readonly expr: string;
  /** How a series is called, its labels in double braces. */
  readonly legend?: string;
  readonly as: "range" | "buckets" | "instant" | "table";
}

/** Whether a question is asked over the dashboard's time. */
export function isOverTime({ as }: Pick<PrometheusQuery, "as">): boolean {
  return as === "range" || as === "buckets";
}

/** A question to ClickHouse: columns `time`, one that names what is drawn, and `Value`; or a table. */
export interface ClickHouseQuery {
  readonly source: "clickhouse";
  readonly sql: string;
  readonly as: "range" | "table";
}

export type Query = PrometheusQuery | ClickHouseQuery;

/** Units of values, as Grafana calls them. */
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
/** Amounts as they are, neither rounded to thousands nor to less than their decimals, and their currency. */
export type Money = `suffix:${string}`;

/** From which value on a colour means something; the first has no value. */
export type Thresholds = readonly [{ readonly color: Color }, ...{ readonly color: Color; readonly from: number }[]];
export type Color = "green" | "yellow" | "orange" | "red" | "blue" | "text" | "transparent";

/** A column of a table: the field of the answer, how it is called, and where a click leads. */
export interface Column {
  /** A label or column; of values `Value`, with several queries `Value #A`, `Value #B`. */
  readonly field: string;
  readonly title: string;
  readonly unit?: Unit;
  readonly decimals?: number;
  readonly thresholds?: Thresholds;
  readonly link?: Link;
}

/** Where a click leads: `url` has Grafana's variables in it. */
export interface Link {
  readonly title: string;
  readonly url: string;
}

/** What a number means, by the number's text. */
export type Meanings = Readonly<Record<string, { readonly text: string; readonly color: Color }>>;

/** How an answer is shown. */
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
  /** What to conclude from it, in sentences. */
  readonly description: string;
  readonly needs: Level;
  readonly view: View;
  readonly unit: Unit;
  readonly decimals?: number;
  readonly thresholds?: Thresholds;
  readonly queries: readonly Query[];
  /** What it means that there is nothing, where everything is there that it needs. */
  readonly empty: string;
  /** Of 24 columns, and in rows of about 30 pixels. */
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
  /** Whether several may be chosen, and all of them are at first. */
  readonly isMulti: boolean;
  /** Only other queries use it. */
  readonly isHidden?: boolean;
  /** What is chosen at first, of a variable of one value; the first of them where it is left out. */
  readonly first?: string;
}

/** Marks on everything that is drawn over time. */
export interface Annotation {
  readonly name: string;
  readonly expr: string;
  readonly text: string;
  readonly color: Color;
}

/** A dashboard. */
export interface Dashboard {
  /** What its address begins with: it stays. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly annotations: readonly Annotation[];
  readonly sections: readonly Section[];
  /** What is shown at first, such as `now-7d`. */
  readonly from: string;
  readonly refresh: string;
}
