import type { Device } from "../../../domain/device.ts";
import { METRICS, METRIC_BY_NAME, MOST_OF_UNIT } from "../../../domain/metric.ts";
import type { LineDrop, ScrapeShape } from "../../../domain/scrape.ts";
import { number, type Alias, type Reading } from "../../../domain/dialect/dialect.ts";
import { dialectsOf } from "../../../domain/dialect/known.ts";
import type { Steps } from "../../../runtime/steps.ts";
import type { ExpositionSample, FamilyMeta } from "../exposition/parse.ts";
import { PageError } from "../http/page-error.ts";
import type { Cell, Code, Row, Series } from "./page-row.ts";
import { compile, ROWS_OF_STEP } from "./compile.ts";
import type { Program } from "./program.ts";
import { markRepeats, nameParts, splitProcesses, type Copy } from "./rows-of-gpu.ts";
import { inOrder, readRowLabels, withFoldedGpus, type RowLabels } from "./row.ts";

/** A line that the plan drops, whatever its value. */
export interface PlannedDrop {
  readonly line: number;
  readonly name: string;
  readonly reason: LineDrop;
  readonly why: string;
}

/** The plan of a page: everything that follows from its text without its numbers. */
export interface PagePlan {
  /** The shape of all rows; the rows of each host are adjacent. */
  readonly shape: ScrapeShape;
  /** The hosts in the order of their rows. If the page is of one exporter, there is one host without a name. */
  readonly hosts: readonly { readonly name: string; readonly rows: number }[];
  readonly program: Program;
  readonly drops: readonly PlannedDrop[];
  /** True if any line belongs to a known GPU exporter, whether it is about a device or not. */
  readonly known: boolean;
}

/** The limits of a plan. */
export interface PlanLimits {
  /** The most rows: GPUs, instances, and holders of shared ones. */
  readonly devices: number;
}

/** The most cells of all rows and columns. A page whose every series has its own column would fill the memory. */
export const MOST_CELLS = 4_000_000;
const MOST_COLUMNS = 10_000;
const SERIES_OF_STEP = 64;

/**
 * Plans a page: which series belong to one row, which column each fills, and what is dropped and why. The plan is deterministic and
 * independent of the order of families and lines, except if two series claim one cell (the first gets it). The time is linear in series and
 * rows. Throws a {@link PageError} `too-many-devices` beyond the limits.
 */
export function* planSteps(
  samples: readonly ExpositionSample[],
  families: ReadonlyMap<string, FamilyMeta>,
  limits: PlanLimits,
): Steps<PagePlan> {
  const drops: PlannedDrop[] = [];
  const drop = (sample: ExpositionSample, reason: LineDrop, why: string): void => {
    drops.push({ line: sample.line, name: sample.name, reason, why });
  };
  const exporters = new Map<string, number>();
  const rows = yield* groupRows(samples, exporters, limits, drop);
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_OF_STEP === 0) yield;
    yield* fillCells(row, drop);
  }
  nameParts(rows);
  yield;
  const byHost = rowsByHost(rows.filter((row) => row.cells.size > 0 || row.codes.size > 0)).map(inOrder);
  yield;
  const copies = byHost.flatMap((ofHost) => splitProcesses(ofHost));
  yield;
  for (const ofHost of byHost) markRepeats(ofHost);
  yield;
  const filled = byHost.flat();
  const columns = orderColumns(filled, copies);
  if (filled.length * columns.length > MOST_CELLS)
    throw new PageError("too-many-series", `${filled.length} devices with ${columns.length} columns of values`);
  yield;
  return {
    shape: { exporter: mostFrequent(exporters), columns, devices: filled.map((row) => withLabels(row)) },
    hosts: byHost.map((ofHost) => ({ name: ofHost[0]!.host, rows: ofHost.length })),
    program: yield* compile(samples, families, filled, columns, copies),
    drops,
    known: exporters.size > 0,
  };
}

function checkColumns(columns: number): void {
  if (columns > MOST_COLUMNS) throw new PageError("too-many-series", `more metrics of one device than ${MOST_COLUMNS}`);
}

type Drop = (sample: ExpositionSample, reason: LineDrop, why: string) => void;

function* groupRows(
  samples: readonly ExpositionSample[],
  exporters: Map<string, number>,
  limits: PlanLimits,
  drop: Drop,
): Steps<readonly Row[]> {
  const rows = new Map<string, Row>();
  const names = new Set(samples.map(({ name }) => name));
  checkColumns(names.size);
  const dialects = dialectsOf(names);
  // Equal label blocks of a page share one map; see the parser.
  const apart = new Map<ReadonlyMap<string, string>, RowLabels>();
  const keys = new Set<string>();
  yield;
  for (const [index, { name, labels }] of samples.entries()) {
    if (index % SERIES_OF_STEP === 0) yield;
    const dialect = dialects.get(name);
    if (dialect === undefined || apart.has(labels)) continue;
    const ofRow = readRowLabels(dialect, labels);
    apart.set(labels, ofRow);
    keys.add(`${ofRow.host ?? ""} ${ofRow.key}`);
    if (keys.size > limits.devices)
      throw new PageError("too-many-devices", `more GPUs, instances and holders than ${limits.devices}`);
  }
  const read = withFoldedGpus(apart);
  yield;
  const isGathered = isOfSeveralHosts([...read.values()]);
  for (const [index, sample] of samples.entries()) {
    if (index % SERIES_OF_STEP === 0) yield;
    const dialect = dialects.get(sample.name);
    if (dialect === undefined) {
      drop(sample, "not-a-gpu", "no GPU exporter that is known gives this metric");
      continue;
    }
    exporters.set(dialect.exporter, (exporters.get(dialect.exporter) ?? 0) + (dialect.isCompanion === true ? 0 : 1));
    if (/_created$/i.test(sample.name)) {
      drop(sample, "not-a-value", "it is the time at which a counter began");
      continue;
    }
    const labels = read.get(sample.labels)!;
    const { device, key, rest, foreign } = labels;
    if (foreign !== undefined) {
      drop(sample, "not-a-gpu", `it is a series of a ${foreign}`);
      continue;
    }
    if (key === "") {
      drop(sample, "no-device", "it names no GPU");
      continue;
    }
    const host = isGathered ? labels.host : "";
    if (host === undefined) {
      drop(sample, "no-host", "the page has the rows of several hosts, and this one names none");
      continue;
    }
    const alias = dialect.aliases(sample.name).find((candidate) => matches(candidate, sample.labels));
    const rowKey = `${host} ${key}`;
    const row = rows.get(rowKey) ?? {
      host,
      device,
      constant: new Map(rest),
      series: [],
      cells: new Map<string, Cell>(),
      codes: new Map<string, Code[]>(),
    };
    rows.set(rowKey, row);
    const former = row.series.at(-1)?.labels;
    row.series.push({ index, sample, labels, alias });
    if (former === undefined || former === labels) continue;
    row.device = mergeDevices(row.device, device);
    for (const [label, value] of row.constant) if (rest.get(label) !== value) row.constant.delete(label);
  }
  return [...rows.values()];
}

/**
 * Returns whether a page has the rows of several exporters: a Prometheus `/federate` page, or a gateway. The rows then name several hosts,
 * or were scraped from several addresses.
 */
function isOfSeveralHosts(read: readonly RowLabels[]): boolean {
  const several = (names: readonly (string | undefined)[]): boolean => {
    const first = names.find((name) => name !== undefined);
    return names.some((name) => name !== undefined && name !== first);
  };
  return several(read.map(({ host }) => host)) || several(read.map(({ scrapedFrom }) => scrapedFrom));
}

/** Groups rows by host, with the hosts sorted by name. */
function rowsByHost(rows: readonly Row[]): readonly Row[][] {
  const byHost = new Map<string, Row[]>();
  for (const row of rows) {
    const ofHost = byHost.get(row.host);
    if (ofHost === undefined) byHost.set(row.host, [row]);
    else ofHost.push(row);
  }
  return [...byHost].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ofHost]) => ofHost);
}

/** Merges the fields of two devices. If they differ, the smaller text counts, so that the order of lines has no effect. */
function mergeDevices(a: Device, b: Device): Device {
  const merged: Record<string, unknown> = { ...b, ...a };
  for (const [field, value] of Object.entries(b)) {
    const other = merged[field];
    if (typeof value === "string" && typeof other === "string" && value < other) merged[field] = value;
  }
  return merged as Device;
}

function matches(alias: Alias, labels: ReadonlyMap<string, string>): boolean {
  return Object.entries(alias.when ?? {}).every(([label, value]) => labels.get(label) === value);
}

/** Assigns each column of a row its series. If a column has two names, the preferred one counts, and the other keeps its own name. */
function* fillCells(row: Row, drop: Drop): Steps<void> {
  for (const [index, series] of row.series.entries()) {
    if (index % SERIES_OF_STEP === SERIES_OF_STEP - 1) yield;
    checkColumns(row.cells.size);
    const { sample, alias } = series;
    if (isInfo(sample)) continue;
    if (alias?.codeLabel !== undefined) {
      addCode(row, series, alias, drop);
      continue;
    }
    const column = alias?.column ?? ownName(series, row);
    const cell: Cell = { series, reading: bounded(alias?.reading ?? UNKNOWN, column), rank: alias?.rank ?? 0 };
    const earlier = row.cells.get(column);
    if (earlier === undefined) {
      row.cells.set(column, cell);
    } else if (earlier.rank === cell.rank) {
      drop(sample, "duplicate-series", `line ${earlier.series.sample.line} already has this value`);
    } else {
      const [kept, other] = earlier.rank < cell.rank ? [earlier, cell] : [cell, earlier];
      row.cells.set(column, kept);
      row.cells.set(ownName(other.series, row), { ...other, reading: UNKNOWN });
    }
  }
}

function addCode({ codes }: Row, { index, sample }: Series, { column, codeLabel = "" }: Alias, drop: Drop): void {
  const code = Number(sample.labels.get(codeLabel));
  const ofColumn = codes.get(column) ?? [];
  if (Number.isSafeInteger(code)) {
    ofColumn.push({ index, code });
    codes.set(column, ofColumn);
  } else drop(sample, "not-a-value", `its label ${codeLabel} is not a code`);
}

/** Returns a reading that is also limited to the largest value of its unit. */
function bounded(reading: Reading, column: string): Reading {
  const unit = METRIC_BY_NAME.get(column)?.unit;
  return unit === undefined || reading.most <= MOST_OF_UNIT[unit] ? reading : { ...reading, most: MOST_OF_UNIT[unit] };
}

/** The reading of unknown metrics: any finite number, unchanged. */
const UNKNOWN: Reading = { ...number(), least: -Number.MAX_VALUE };

/** Returns whether a series only carries labels, such as `nvidia_smi_gpu_info`. */
function isInfo(sample: ExpositionSample): boolean {
  return sample.name.endsWith("_info") && sample.value === 1;
}

/** Returns the exporter's own name, with the labels that distinguish its series within a row. */
function ownName({ sample, labels }: Series, row: Row): string {
  const labelTexts = [...labels.rest]
    .filter(([label]) => !row.constant.has(label))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? sample.name : `${sample.name}{${labelTexts.join(",")}}`;
}

function withLabels(row: Row): Device {
  if (row.constant.size === 0) return row.device;
  return { ...row.device, labels: Object.fromEntries([...row.constant].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function orderColumns(rows: readonly Row[], copies: readonly Copy[]): string[] {
  const present = new Set([
    ...rows.flatMap((row) => [...row.cells.keys(), ...row.codes.keys()]),
    ...copies.map((copy) => copy.column),
  ]);
  const canonical = METRICS.map((metric) => metric.name).filter((name) => present.has(name));
  return [...canonical, ...[...present].filter((name) => !METRIC_BY_NAME.has(name)).sort()];
}

function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best = "";
  for (const [name, count] of counts) {
    const most = counts.get(best) ?? -1;
    if (count > most || (count === most && name < best)) best = name;
  }
  return best;
}
