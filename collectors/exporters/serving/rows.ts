import { hash } from "node:crypto";
import {
  firstValue,
  partOf,
  type Labels,
  type ServingAlias,
  type ServingDialect,
} from "../../../domain/serving/dialect/dialect.ts";
import type { KnownSeries } from "../../../domain/serving/dialect/known.ts";
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
  /** The bucket of its other labels. */
  readonly bucket: string;
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
  readonly bucket: string;
  readonly changed: ReadTenant["changed"] | "model-limit";
}

/** The most models of a page. A page of an engine has a few models and adapters, a page of a gateway some hundred. */
const MOST_MODELS = 1_000;

/** Reads the row that a series belongs to. `models` has the models of the page up to the limit, and grows. */
export function readRow(
  { dialect, labels: read }: Pick<KnownSeries, "dialect" | "labels">,
  labels: Labels,
  tenants: Tenants,
  models: Set<string>,
): RowLabels {
  const { exporter, kind } = dialect;
  const named = firstValue(labels, dialect.model, dialect.noValue) ?? "";
  const isBeyond = !models.has(named) && models.size >= MOST_MODELS;
  if (!isBeyond) models.add(named);
  const model = isBeyond ? OTHER_MODELS : named;
  const part = partOf(dialect, labels);
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
    bucket: bucketOf([...labels].filter(([name]) => (kind === "engine" ? ENGINE_PROCESS.has(name) : !read.has(name)))),
    changed,
  };
}

/** The most buckets of a row. */
const BUCKETS = 64;
/** Labels of the processes that Ray and other agents put on one page. The other series of an engine stay as long as the engine. */
const ENGINE_PROCESS: ReadonlySet<string> = new Set(["WorkerId", "worker_id", "ReplicaId", "replica", "pid"]);

/**
 * Returns the bucket of labels without a meaning, such as the users behind a tenant of a gateway; empty if there are none. Series of one bucket
 * are added. Each bucket is a row of its own, because a sum falls when one of its series leaves the page, as if all counters had begun again.
 * The number of buckets bounds the rows.
 */
function bucketOf(labels: readonly (readonly [name: string, value: string])[]): string {
  if (labels.length === 0) return "";
  const sorted = labels.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const digest = Number.parseInt(hash("sha1", JSON.stringify(sorted)).slice(0, 8), 16);
  return `#${digest % BUCKETS}`;
}

/** Divides a row into rows of the buckets of its series. */
export function byBucket({ series, dialect, cells }: Row): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const [column, ofColumn] of cells) {
    for (const each of ofColumn) {
      const part = [series.part ?? "", each.bucket].filter((name) => name !== "").join("/");
      const row = rows.get(part) ?? {
        series: part === "" ? series : { ...series, part },
        dialect,
        cells: new Map<string, CellSeries[]>(),
      };
      rows.set(part, row);
      const cell = row.cells.get(column);
      if (cell === undefined) row.cells.set(column, [each]);
      else cell.push(each);
    }
  }
  return [...rows.values()];
}

/** Enough digits for every rank. Texts of this length compare as numbers. */
const RANK_DIGITS = 6;
