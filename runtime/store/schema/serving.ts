import { SERVING_METRICS } from "../../../domain/serving/metric.ts";
import type { SplitRule } from "../../../domain/serving/split-rule.ts";
import type { Increases } from "../../../domain/serving/work.ts";
import { columnsOf, type Column, type PathOf, type RowOf } from "./table.ts";
import type { ServingLine } from "../../../domain/serving/line.ts";
import * as types from "./types.ts";

const { counts, longText, manyTexts, moment, nullableAmount, nullableUint64, text, uint32, uint64 } = types;

const OF_POD = {
  cluster: text,
  node: text,
  namespace: text,
  pod: manyTexts,
  pod_uid: manyTexts,
  target: text,
  scraped_at: moment,
  interval_ms: uint32,
};

const SCRAPES = {
  ...OF_POD,
  collector: text,
  epoch: moment,
  sequence: uint64,
  duration_us: uint32,
  exporter: text,
  series: uint32,
  failure: text,
  failure_detail: longText,
  dropped: counts,
  partition: uint32,
  position: uint64,
};

/** A row of `serving_scrapes`: an attempt of a collector to read the page of an engine or a gateway. */
export type ServingScrapeRow = RowOf<typeof SCRAPES>;

/** The columns of `serving_scrapes`. */
export const SERVING_SCRAPE_COLUMNS = columnsOf(SCRAPES);

const SERIES = { ...OF_POD, exporter: text, kind: text, model: text, adapter: text, part: text, tenant: manyTexts };

/** A row of `serving_samples` without its metrics: one model, part or tenant of a page in one scrape. */
export type ServingSeriesRow = RowOf<typeof SERIES>;

/** The columns of `serving_samples`. Metrics are NULL if the page does not have them. */
export const SERVING_SAMPLE_COLUMNS: readonly Column[] = [
  ...columnsOf(SERIES),
  ...SERVING_METRICS.map(({ name }) => ({ name, type: nullableUint64, path: `values.${name}` })),
];

const OF_HOUR = {
  hour: moment,
  cluster: text,
  namespace: text,
  workload_kind: text,
  workload: manyTexts,
  replica: manyTexts,
  pod: manyTexts,
  pod_uid: manyTexts,
  target: text,
  kind: text,
  exporter: text,
  model: text,
  adapter: text,
  tenant: manyTexts,
  scrapes: uint32,
  failures: uint32,
  served_ms: uint32,
  loading_ms: uint32,
  covered_ms: uint32,
  idle_ms: uint32,
  running_ms: uint64,
  waiting_ms: uint64,
  resets: uint32,
};

/** The counters that an hour has as increases. */
export const SERVING_COUNTERS: readonly string[] = SERVING_METRICS.filter(({ kind }) => kind === "counter").map(
  ({ name }) => name,
);

/** A row of `serving_hours` without its run. A counter that the page does not have is undefined. */
export type ServingHourRow = RowOf<typeof OF_HOUR> & { readonly increases: Increases };

/** The columns of `serving_hours` without the run's. */
export const SERVING_HOUR_COLUMNS: readonly Column[] = [
  ...columnsOf(OF_HOUR),
  ...SERVING_COUNTERS.map((name) => ({ name, type: nullableUint64, path: `increases.${name}` })),
];

/** A line of a service as it is booked: under a policy and a rule, in a billing period. */
export interface BookedServingLine extends ServingLine {
  readonly policy: string;
  readonly rule: SplitRule;
  /** The start of the billing period, milliseconds since the epoch. */
  readonly billingPeriod: number;
  /** The closing whose lines the line corrects; empty if it is not a correction. */
  readonly corrects: string;
  /** The start of the hour, milliseconds since the epoch. */
  readonly hour: number;
}

const column = (name: string, type: types.ColumnType<unknown>, path: PathOf<BookedServingLine>): Column => ({
  name,
  type,
  path,
});

/** The columns of `serving_charges` without the run's. */
export const SERVING_CHARGE_COLUMNS: readonly Column[] = [
  column("policy", text, "policy"),
  column("rule", text, "rule"),
  column("billing_period", types.day, "billingPeriod"),
  column("corrects", manyTexts, "corrects"),
  column("hour", moment, "hour"),
  column("cluster", text, "cluster"),
  column("namespace", text, "namespace"),
  column("workload_kind", text, "workloadKind"),
  column("workload", manyTexts, "workload"),
  column("model", text, "model"),
  column("adapter", text, "adapter"),
  column("tenant", manyTexts, "tenant"),
  column("phase", text, "phase"),
  column("basis", text, "basis"),
  column("payer", text, "payer"),
  column("team", text, "team"),
  column("cost_center", text, "costCenter"),
  column("project", text, "project"),
  column("environment", text, "environment"),
  column("gpu_model", text, "gpuModel"),
  column("gpu_hours", types.amount, "amounts.gpuHours"),
  column("list_cost", nullableAmount, "amounts.list"),
  column("contracted_cost", nullableAmount, "amounts.contracted"),
  column("effective_cost", nullableAmount, "amounts.effective"),
  column("power_cost", nullableAmount, "amounts.power"),
  column("energy_mj", types.nullableInteger, "amounts.millijoules"),
  column("carbon_grams", nullableAmount, "amounts.carbon"),
  column("saved_cost", types.amount, "saved"),
  column("computed_tokens", types.int64, "counts.computedTokens"),
  column("cached_tokens", types.int64, "counts.cachedTokens"),
  column("generated_tokens", types.int64, "counts.generatedTokens"),
  column("requests", types.int64, "counts.requests"),
  column("inferences", types.int64, "counts.inferences"),
  column("excess_tokens", types.int64, "counts.excessTokens"),
  column("spend_nanos", types.int64, "counts.spendNanos"),
];
