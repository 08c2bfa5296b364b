import type { Device } from "../../../domain/device.ts";
import { METRICS, METRIC_BY_NAME, MOST_OF_UNIT } from "../../../domain/metric.ts";
import type { LineDrop, ScrapeShape } from "../../../domain/scrape.ts";
import { familyOf, number, type Alias, type Reading } from "../../../domain/dialect/dialect.ts";
import { dialectsOf } from "../../../domain/dialect/known.ts";
import type { ExpositionSample, FamilyMeta } from "../exposition/parse.ts";
import type { Cell, Code, Row, Series } from "./page-row.ts";
import { assemble, type Instruction, type Program } from "./program.ts";
import { markRepeats, nameParts, splitProcesses, type Copy } from "./rows-of-gpu.ts";
import { compareDevices, readRowLabels, withFoldedGpus, type RowLabels } from "./row.ts";

/** A line that the plan leaves out, whatever its value. */
export interface PlannedDrop {
  readonly line: number;
  readonly name: string;
  readonly reason: LineDrop;
  readonly why: string;
}

/** What a page's text, without its numbers, comes to. */
export interface PagePlan {
  /** Of all rows, those of each host behind each other. */
  readonly shape: ScrapeShape;
  /** The hosts in the order of their rows; where the page is of one exporter, one without a name. */
  readonly hosts: readonly { readonly name: string; readonly rows: number }[];
  readonly program: Program;
  readonly drops: readonly PlannedDrop[];
  /** Whether any line belongs to a GPU exporter that is known, be it about a device or not. */
  readonly known: boolean;
}

/**
 * Plans a page: which series belong to one row, which column each fills, and what is left out and why. Deterministic,
 * and independent of the order of families and lines except where two series claim one cell (the first has it).
 */
export function planPage(samples: readonly ExpositionSample[], families: ReadonlyMap<string, FamilyMeta>): PagePlan {
  const drops: PlannedDrop[] = [];
  const drop = (sample: ExpositionSample, reason: LineDrop, why: string): void => {
    drops.push({ line: sample.line, name: sample.name, reason, why });
  };
  const exporters = new Map<string, number>();
  const rows = groupRows(samples, exporters, drop);
  for (const row of rows) fillCells(row, drop);
  nameParts(rows);
  const byHost = rowsByHost(rows.filter((row) => row.cells.size > 0 || row.codes.size > 0));
  for (const ofHost of byHost) ofHost.sort((a, b) => compareDevices(a.device, b.device));
  const copies = byHost.flatMap((ofHost) => splitProcesses(ofHost));
  for (const ofHost of byHost) markRepeats(ofHost);
  const filled = byHost.flat();
  const columns = orderColumns(filled, copies);
  return {
    shape: { exporter: mostFrequent(exporters), columns, devices: filled.map((row) => withLabels(row)) },
    hosts: byHost.map((ofHost) => ({ name: ofHost[0]!.host, rows: ofHost.length })),
    program: compile(samples, families, filled, columns, copies),
    drops,
    known: exporters.size > 0,
  };
}

type Drop = (sample: ExpositionSample, reason: LineDrop, why: string) => void;

function groupRows(samples: readonly ExpositionSample[], exporters: Map<string, number>, drop: Drop): Row[] {
  const rows = new Map<string, Row>();
  const dialects = dialectsOf(new Set(samples.map(({ name }) => name)));
  // Equal label blocks of a page share one map, see the parser.
  const apart = new Map<ReadonlyMap<string, string>, RowLabels>();
  for (const { name, labels } of samples) {
    const dialect = dialects.get(name);
    if (dialect !== undefined && !apart.has(labels)) apart.set(labels, readRowLabels(dialect, labels));
  }
  const read = withFoldedGpus(apart);
  const isGathered = isOfSeveralHosts([...read.values()]);
  samples.forEach((sample, index) => {
    const dialect = dialects.get(sample.name);
    if (dialect === undefined) {
      drop(sample, "not-a-gpu", "no GPU exporter that is known gives this metric");
      return;
    }
    exporters.set(dialect.exporter, (exporters.get(dialect.exporter) ?? 0) + (dialect.isCompanion === true ? 0 : 1));
    if (/_created$/i.test(sample.name)) {
      drop(sample, "not-a-value", "it is the time at which a counter began");
      return;
    }
    const labels = read.get(sample.labels)!;
    const { device, key, rest, foreign } = labels;
    if (foreign !== undefined) {
      drop(sample, "not-a-gpu", `it speaks of a ${foreign}`);
      return;
    }
    if (key === "") {
      drop(sample, "no-device", "it names no GPU");
      return;
    }
    const host = isGathered ? labels.host : "";
    if (host === undefined) {
      drop(sample, "no-host", "the page has the rows of several hosts, and this one names none");
      return;
    }
    const alias = dialect.aliases(sample.name).find((candidate) => matches(candidate, sample.labels));
    const place = `${host} ${key}`;
    const row = rows.get(place) ?? {
      host,
      device,
      constant: new Map(rest),
      series: [],
      cells: new Map<string, Cell>(),
      codes: new Map<string, Code[]>(),
    };
    rows.set(place, row);
    const former = row.series.at(-1)?.labels;
    row.series.push({ index, sample, labels, alias });
    if (former === undefined || former === labels) return;
    row.device = mergeDevices(row.device, device);
    for (const [label, value] of row.constant) if (rest.get(label) !== value) row.constant.delete(label);
  });
  return [...rows.values()];
}

/**
 * Whether a page has the rows of several exporters: a Prometheus' `/federate`, a gateway. The rows name several hosts then, or were
 * scraped from several addresses.
 */
function isOfSeveralHosts(read: readonly RowLabels[]): boolean {
  const several = (names: readonly (string | undefined)[]): boolean =>
    new Set(names.filter((name) => name !== undefined)).size > 1;
  return several(read.map(({ host }) => host)) || several(read.map(({ scrapedFrom }) => scrapedFrom));
}

/** The rows of each host, hosts in the order of their names. */
function rowsByHost(rows: readonly Row[]): readonly Row[][] {
  const byHost = new Map<string, Row[]>();
  for (const row of rows) byHost.set(row.host, [...(byHost.get(row.host) ?? []), row]);
  return [...byHost].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ofHost]) => ofHost);
}

/** The fields of both; where they differ the smaller text, so that the order of lines decides nothing. */
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

/** Gives each column of a row its series; of two names for one column the preferred one, the other keeps its own name. */
function fillCells(row: Row, drop: Drop): void {
  for (const series of row.series) {
    const { sample, alias } = series;
    if (isInfo(sample)) continue;
    if (alias?.codeLabel !== undefined) {
      addCode(row, series, alias, drop);
      continue;
    }
    const column = alias?.column ?? ownName(series, row);
    const cell: Cell = { series, reading: bounded(alias?.reading ?? UNKNOWN, column), rank: alias?.rank ?? 0 };
    const holder = row.cells.get(column);
    if (holder === undefined) {
      row.cells.set(column, cell);
    } else if (holder.rank === cell.rank) {
      drop(sample, "duplicate-series", `line ${holder.series.sample.line} speaks for this already`);
    } else {
      const [kept, other] = holder.rank < cell.rank ? [holder, cell] : [cell, holder];
      row.cells.set(column, kept);
      row.cells.set(ownName(other.series, row), { ...other, reading: UNKNOWN });
    }
  }
}

function addCode({ codes }: Row, { index, sample }: Series, { column, codeLabel = "" }: Alias, drop: Drop): void {
  const code = Number(sample.labels.get(codeLabel));
  if (Number.isSafeInteger(code)) codes.set(column, [...(codes.get(column) ?? []), { index, code }]);
  else drop(sample, "not-a-value", `its label ${codeLabel} is no code`);
}

/** A reading that also keeps to what its unit allows at most. */
function bounded(reading: Reading, column: string): Reading {
  const unit = METRIC_BY_NAME.get(column)?.unit;
  return unit === undefined || reading.most <= MOST_OF_UNIT[unit] ? reading : { ...reading, most: MOST_OF_UNIT[unit] };
}

/** What is not known is only carried along: any finite number, as it was given. */
const UNKNOWN: Reading = { ...number(), least: -Number.MAX_VALUE };

/** A series that carries labels alone, such as `nvidia_smi_gpu_info`. */
function isInfo(sample: ExpositionSample): boolean {
  return sample.name.endsWith("_info") && sample.value === 1;
}

/** The exporter's own name, with the labels that tell its series of one row apart. */
function ownName({ sample, labels }: Series, row: Row): string {
  const telling = [...labels.rest]
    .filter(([label]) => !row.constant.has(label))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return telling.length === 0 ? sample.name : `${sample.name}{${telling.join(",")}}`;
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

function compile(
  samples: readonly ExpositionSample[],
  families: ReadonlyMap<string, FamilyMeta>,
  rows: readonly Row[],
  columns: readonly string[],
  copies: readonly Copy[],
): Program {
  const instructions: (Instruction | undefined)[] = samples.map(() => undefined);
  const columnOf = new Map(columns.map((column, index) => [column, index]));
  const ambiguous = new Map<string, { numbers: number[]; hint: number }>();
  rows.forEach((row, rowIndex) => {
    for (const [column, { series, reading }] of row.cells) {
      const { index, sample } = series;
      const help = (families.get(sample.name) ?? families.get(familyOf(sample.name)))?.help ?? "";
      const cell = rowIndex * columns.length + columnOf.get(column)!;
      instructions[index] = {
        cell,
        reading,
        factor: reading.timeByHelp === true ? secondsPerUnit(help) : reading.factor,
      };
      if (reading.percentOrRatio !== true) continue;
      const group = ambiguous.get(sample.name) ?? { numbers: [], hint: unitHint(help, samples) };
      group.numbers.push(index);
      ambiguous.set(sample.name, group);
    }
  });
  const cellOf = (row: Row, column: string): number => rows.indexOf(row) * columns.length + columnOf.get(column)!;
  return assemble(
    rows.length * columns.length,
    instructions,
    [...ambiguous.values()].map(({ numbers, hint }) => ({ numbers: Int32Array.from(numbers).sort(), hint })),
    copies.map(({ column, from, to }) => ({ from: cellOf(from, column), to: cellOf(to, column) })),
    rows.flatMap((row) =>
      [...row.codes].map(([column, codes]) => ({
        cell: cellOf(row, column),
        numbers: codes.map(({ index }) => index),
        codes: codes.map(({ code }) => code),
      })),
    ),
  );
}

function secondsPerUnit(help: string): number {
  if (/\bns\b|nanosecond/i.test(help)) return 1e-9;
  if (/\bms\b|millisecond/i.test(help)) return 1e-3;
  return 1e-6;
}

/** Base units among the page's other names tell DCGM 4.7, whose utilisation is a ratio; else HELP; else a percent. */
function unitHint(help: string, samples: readonly ExpositionSample[]): number {
  if (samples.some(({ name }) => /^DCGM_FI_DEV_.*_(HERTZ|BYTES|JOULES_TOTAL)$/i.test(name))) return 1;
  return /ratio|0\.0|0-1\b/i.test(help) && !/%|percent/i.test(help) ? 1 : 0.01;
}

function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best = "";
  for (const [name, count] of counts) {
    const most = counts.get(best) ?? -1;
    if (count > most || (count === most && name < best)) best = name;
  }
  return best;
}
