import { matches, type Labels } from "../../../domain/serving/dialect/dialect.ts";
import { knownSeries, type KnownSeries } from "../../../domain/serving/dialect/known.ts";
import { SERVING_METRICS } from "../../../domain/serving/metric.ts";
import type { ServingShape } from "../../../domain/serving/scrape.ts";
import type { Steps } from "../../../runtime/steps.ts";
import type { ExpositionSample, FamilyMeta } from "../exposition/parse.ts";
import { MOST_CELLS, type PlannedDrop } from "../fold/plan.ts";
import type { Program } from "../fold/program.ts";
import { PageError } from "../http/page-error.ts";
import { compileServing } from "./compile.ts";
import { byBucket, readRow, type CellSeries, type Row, type RowLabels } from "./rows.ts";
import type { Tenants } from "./tenants.ts";

/** The plan of an engine's or a gateway's page. */
export interface ServingPlan {
  readonly shape: ServingShape;
  readonly program: Program;
  readonly drops: readonly PlannedDrop[];
  readonly known: boolean;
  /** For each sample, the reason why it is not used; undefined if a row has its value. */
  readonly unused: readonly (string | undefined)[];
}

/** The number of series or rows processed in one step. */
const SERIES_OF_STEP = 64;

/**
 * Plans a page: which series belong to one row, which column each fills, and what is left out and why. Series that fold into one cell are
 * added, per bucket of their other labels. Rows have the order of the page. The time is linear in series and rows. Throws a {@link PageError} `too-many-series` if the cells
 * would fill the memory.
 */
export function* planServing(
  samples: readonly ExpositionSample[],
  families: ReadonlyMap<string, FamilyMeta>,
  tenants: Tenants,
): Steps<ServingPlan> {
  const unused: (string | undefined)[] = samples.map(() => undefined);
  const page = yield* groupRows(samples, tenants, unused);
  const exporter = page.exporter === "" ? yield* programOf(families) : page.exporter;
  const rows: Row[] = [];
  const present = new Set<string>();
  for (const [index, whole] of page.rows.entries()) {
    if (index % SERIES_OF_STEP === 0) yield;
    dropBeside(whole, page.rows, unused);
    yield* chooseSeries(whole, unused);
    for (const row of byBucket(whole)) {
      if (row.cells.size === 1 && row.cells.has(CREATED)) {
        for (const { index: line } of row.cells.get(CREATED)!) unused[line] = "the row has no other value";
        continue;
      }
      rows.push(row);
      for (const column of [...row.cells.keys(), ...totalsOf(row)]) present.add(column);
    }
  }
  const columns = SERVING_METRICS.map(({ name }) => name).filter((name) => present.has(name));
  if (rows.length * columns.length > MOST_CELLS)
    throw new PageError("too-many-series", `${rows.length} rows with ${columns.length} columns of values`);
  return {
    shape: { exporter, columns, series: rows.map(({ series }) => series) },
    program: yield* compileServing(samples.length, rows, columns),
    drops: page.drops,
    known: exporter !== "",
    unused,
  };
}

interface GroupedPage {
  readonly rows: readonly Row[];
  readonly drops: readonly PlannedDrop[];
  /** The program with the most series in rows; empty if no known program has a series on the page. */
  readonly exporter: string;
}

function* groupRows(
  samples: readonly ExpositionSample[],
  tenants: Tenants,
  unused: (string | undefined)[],
): Steps<GroupedPage> {
  const rows = new Map<string, Row>();
  const drops: PlannedDrop[] = [];
  const known = new Map<string, KnownSeries | undefined>();
  // Equal label blocks of a page share one map; see the parser.
  const read = new Map<string, Map<Labels, RowLabels>>();
  const seen = new Map<string, Set<Labels>>();
  const counts = new Map<string, number>();
  const models = new Set<string>();
  for (const [index, sample] of samples.entries()) {
    if (index % SERIES_OF_STEP === 0) yield;
    const { name, labels } = sample;
    if (!known.has(name)) known.set(name, knownSeries(name));
    const found = known.get(name);
    if (found === undefined) {
      unused[index] = "no engine and no gateway that is known has this metric";
      continue;
    }
    const { dialect, aliases } = found;
    const used = counts.get(dialect.exporter) ?? 0;
    counts.set(dialect.exporter, used);
    const alias = aliases.find((each) => matches(each, labels));
    if (alias === undefined) {
      unused[index] = whyUnused(found, name);
      continue;
    }
    const ofName = seen.get(name) ?? new Set();
    seen.set(name, ofName);
    if (ofName.has(labels)) {
      drops.push({ line: sample.line, name, reason: "duplicate-series", why: "an earlier line has the same series" });
      continue;
    }
    ofName.add(labels);
    counts.set(dialect.exporter, used + 1);
    const ofDialect = read.get(dialect.exporter) ?? new Map<Labels, RowLabels>();
    read.set(dialect.exporter, ofDialect);
    let place = ofDialect.get(labels);
    if (place === undefined) ofDialect.set(labels, (place = readRow(found, labels, tenants, models)));
    const { key, series, position, bucket, changed } = place;
    if (changed !== undefined) drops.push({ line: sample.line, name, reason: changed, why: WHY_CHANGED[changed] });
    const row = rows.get(key) ?? { series, dialect, cells: new Map<string, CellSeries[]>() };
    rows.set(key, row);
    const cell = row.cells.get(alias.column);
    const added = { index, sample, alias, position, bucket };
    if (cell === undefined) row.cells.set(alias.column, [added]);
    else cell.push(added);
  }
  return { rows: [...rows.values()], drops, exporter: mostFrequent(counts) };
}

/** Returns the first program with a family on a page. The families of a gateway without requests have no series. */
function* programOf(families: ReadonlyMap<string, FamilyMeta>): Steps<string> {
  let count = 0;
  for (const name of families.keys()) {
    if (count++ % SERIES_OF_STEP === 0) yield;
    const known = knownSeries(name);
    if (known !== undefined) return known.dialect.exporter;
  }
  return "";
}

const WHY_CHANGED = {
  "gateway-namespace": "the pod is in no namespace of gateways of its job: the value counts without a tenant",
  "email-tenant": "the label of the tenant looks like an e-mail address: the value counts without a tenant",
  "reserved-tenant": "the tenant has a name that bills reserve: the value counts without a tenant",
  "model-limit": "the page has more models than the limit: the value counts for the model `other`",
  "tenant-limit": "the page has more tenants than the limit: the value counts for the tenant `other`",
} as const;

function whyUnused({ dialect, aliases }: KnownSeries, name: string): string {
  const family = name.replace(/_(bucket|sum|count|created)$/, "").replace(/_total$/, "");
  const trap = dialect.traps?.[family] ?? dialect.traps?.[`${family}_total`];
  if (trap !== undefined) return trap;
  if (name.endsWith("_bucket")) return "it is a bucket of a histogram";
  if (aliases.length > 0) return "no canonical metric has these labels";
  return "no canonical metric has this meaning";
}

/** Leaves out what another program of the page has counted for the same model. */
function dropBeside({ series, dialect, cells }: Row, rows: readonly Row[], unused: (string | undefined)[]): void {
  const { beside } = dialect;
  if (beside === undefined) return;
  if (!rows.some((other) => other.dialect !== dialect && other.series.model === series.model)) return;
  for (const column of beside === "all" ? [...cells.keys()] : beside) {
    for (const { index } of cells.get(column) ?? []) unused[index] = "another program of the page counts the same";
    cells.delete(column);
  }
}

/** Keeps the series of each cell that count: those of the preferred name and of the lowest rank. */
function* chooseSeries({ dialect, cells }: Row, unused: (string | undefined)[]): Steps<void> {
  for (const [column, others] of Object.entries(dialect.unless ?? {})) {
    if (!others.some((other) => cells.has(other))) continue;
    for (const { index } of cells.get(column) ?? [])
      unused[index] = "other series name the same tokens by their source";
    cells.delete(column);
  }
  for (const [column, series] of cells) {
    if (series.length === 1 || column === CREATED) continue;
    const best = series.reduce((first, each) => (isBefore(each, first) ? each : first));
    const chosen: CellSeries[] = [];
    for (const [count, each] of series.entries()) {
      if (count % SERIES_OF_STEP === 0) yield;
      if (each.alias.rank !== best.alias.rank) unused[each.index] = "a newer name of the same value counts";
      else if (each.position !== best.position) unused[each.index] = "it repeats the work of a lower rank";
      else chosen.push(each);
    }
    cells.set(column, chosen);
  }
}

function isBefore(a: CellSeries, b: CellSeries): boolean {
  return a.alias.rank < b.alias.rank || (a.alias.rank === b.alias.rank && a.position < b.position);
}

/** The column with the oldest time at which a counter of the row began. */
const CREATED = "created_ms";

/** Returns the columns of a row that have values only as the sums of others. */
function totalsOf({ dialect, cells }: Row): readonly string[] {
  return Object.entries(dialect.totals ?? {}).flatMap(([column, parts]) =>
    parts.some((part) => cells.has(part)) ? [column] : [],
  );
}

function mostFrequent(counts: ReadonlyMap<string, number>): string {
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]?.[0] ?? "";
}
