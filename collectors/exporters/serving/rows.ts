import {
  firstValue,
  type Labels,
  type ServingAlias,
  type ServingDialect,
} from "../../../domain/serving/dialect/dialect.ts";
import { OTHER_MODELS } from "../../../domain/serving/rules.ts";
import type { ServingSeries } from "../../../domain/serving/series.ts";
import type { ExpositionSample } from "../exposition/parse.ts";
import type { ReadTenant, Tenants } from "./tenants.ts";

/** A series of a page that fills a column of a row. */
export interface CellSeries {
  /** The index of its number on the page. */
  readonly index: number;
  readonly sample: ExpositionSample;
  readonly alias: ServingAlias;
  /** The position of its ranks; lower texts count first. Empty if the series has no rank. */
  readonly position: string;
}

/** A row of a page: one model, part or tenant. */
export interface Row {
  readonly series: ServingSeries;
  readonly dialect: ServingDialect;
  readonly cells: Map<string, CellSeries[]>;
}

/** The labels of a series, read in a dialect. */
export interface RowLabels {
  readonly key: string;
  readonly series: ServingSeries;
  readonly position: string;
  readonly changed: ReadTenant["changed"] | "model-limit";
}

/** The most models of a page. A page of an engine has a few models and adapters, a page of a gateway some hundred. */
const MOST_MODELS = 1_000;

/**
 * Reads the row that a series belongs to. Labels without a meaning are left out, so that their series are added. `models` has the models of
 * the page up to the limit, and grows.
 */
export function readRow(dialect: ServingDialect, labels: Labels, tenants: Tenants, models: Set<string>): RowLabels {
  const { exporter, kind } = dialect;
  const named = firstValue(labels, dialect.model, dialect.noValue) ?? "";
  const isBeyond = !models.has(named) && models.size >= MOST_MODELS;
  if (!isBeyond) models.add(named);
  const model = isBeyond ? OTHER_MODELS : named;
  const part = dialect.part?.(labels) ?? "";
  const { tenant, changed = isBeyond ? "model-limit" : undefined } = tenants(dialect, labels);
  const series: ServingSeries = {
    exporter,
    kind,
    model,
    ...(part === "" ? {} : { part }),
    ...(tenant === undefined ? {} : { tenant }),
  };
  const ranks = dialect.ranks?.map((label) => (labels.get(label) ?? "").padStart(RANK_DIGITS, "0")) ?? [];
  return {
    key: JSON.stringify([exporter, kind, model, part, tenant ?? ""]),
    series,
    position: ranks.join(),
    changed,
  };
}

/** Enough digits for every rank. Texts of this length compare as numbers. */
const RANK_DIGITS = 6;
