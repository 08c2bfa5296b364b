import type { AlertOptions } from "../options.ts";
import { anyOf, durationText, relabel, select, withLabel } from "../promql.ts";
import { namesOf, type NamesOfReading } from "./exporter-names.ts";
import { keysOf, listed, on } from "./keys.ts";

/** The options for reading a canonical metric from exporters. */
export interface ReadOptions {
  /** The labels that stay. The largest of several values is used, so that values repeated on instances and pods count once. */
  readonly by: readonly string[];
  /** A function over a range, instead of the newest value. With a step, only over the values at multiples of the step. */
  readonly over?: { readonly fn: string; readonly millis: number; readonly stepMillis?: number };
  readonly matchers?: readonly string[];
  /** A comparison of the raw value, such as `> 0`, which leaves few series before the join. */
  readonly where?: string;
  /** True if GPUs that left the page within 5 minutes are included, so that the report of their loss stays a moment longer. */
  readonly alsoGone?: boolean;
  /** Matchers of the GPUs to read; all if absent. */
  readonly of?: string;
  /** Changes the labels of the selected series before the aggregation. */
  readonly relabeled?: (expr: string) => string;
}

/**
 * Returns an expression for a canonical metric in its canonical unit, for dcgm-exporter 1.x to 4.9 and AMD's exporter with any counter
 * file: one series for each value of the requested labels. Values that mean "not supported" are left out. If a GPU's exporter has the
 * metric under two names, the first is used.
 */
export function read(options: AlertOptions, column: string, how: ReadOptions): string {
  return largest(options, how, anyOfThem(branchesOf(options, namesOf(column), how)));
}

/** Returns the same for several metrics of one unit: the largest of them. */
export function readLargest(options: AlertOptions, columns: readonly string[], how: ReadOptions): string {
  // Branches with equal labels would hide each other, so a label separates them until the largest is selected.
  const labeled = branchesOf(options, namesOf(...columns), how).map((branch, index) =>
    withLabel(branch, "source", String(index)),
  );
  return largest(options, how, `max without (source) ${anyOfThem(labeled)}`);
}

/** Returns the largest series of exporters' GPUs for each value of the requested labels. There is one join for all branches. */
function largest(options: AlertOptions, how: ReadOptions, series: string): string {
  return `max by (${listed(how.by)}) (${joined(options, how, series)})`;
}

function anyOfThem(branches: readonly string[]): string {
  return branches.length === 1 ? branches[0]! : `(\n  ${branches.join("\n  or\n  ")}\n)`;
}

/** Returns the value of each reading for each GPU of each page, in the canonical unit. */
function branchesOf(options: AlertOptions, readings: readonly NamesOfReading[], how: ReadOptions): readonly string[] {
  return readings.flatMap((reading) =>
    rawBranches(options, reading, how).map(({ raw, factor }) =>
      scaled(ofExporters(options, reading, raw, how), factor),
    ),
  );
}

/** Returns the raw series of a reading with their conversion to the canonical unit; two if the page decides their meaning. */
function rawBranches(
  options: AlertOptions,
  reading: NamesOfReading,
  how: ReadOptions,
): readonly { readonly raw: string; readonly factor: number }[] {
  const raw = rawOf(options, reading, how);
  if (!reading.isPercentOrRatio) return [{ raw, factor: reading.factor }];
  const isRatio = `on (${options.clusterLabel}, instance) exporter:base_units:info`;
  return [
    { raw: `(${raw} <= 1.01 and ${isRatio})`, factor: 1 },
    { raw: `(${raw} <= 101 unless ${isRatio})`, factor: 0.01 },
  ];
}

function rawOf(
  { selectors }: AlertOptions,
  { names, most, isPercentOrRatio }: NamesOfReading,
  how: ReadOptions,
): string {
  const { over, matchers = [], where } = how;
  const name = names.length === 1 ? names[0]! : "";
  const selector = select(name, name === "" ? anyOf("__name__", names) : "", ...matchers, selectors.series);
  const raw = over === undefined ? selector : `${over.fn}(${selector}[${rangeText(over)}])`;
  const bounded = isPercentOrRatio || over?.fn === "changes" ? raw : `${raw} <= ${most}`;
  return where === undefined ? bounded : `${bounded} ${where}`;
}

function rangeText({ millis, stepMillis }: NonNullable<ReadOptions["over"]>): string {
  return stepMillis === undefined ? durationText(millis) : `${durationText(millis)}:${durationText(stepMillis)}`;
}

/** Returns the largest raw series for each GPU of each page, because pages repeat values on pods. */
function ofExporters(options: AlertOptions, { vendor }: NamesOfReading, raw: string, how: ReadOptions): string {
  const { by, relabeled = (expr) => expr } = how;
  const series = relabeled(vendor === "amd" ? withGpuNumber(raw) : raw);
  return `max by (${listed(ownLabels(options, by))}) (${series})`;
}

/** The labels that must stay until node and UUID are joined. */
export function ownLabels(options: AlertOptions, by: readonly string[]): readonly string[] {
  const { exporterGpu } = keysOf(options);
  return [...exporterGpu, ...by.filter((label) => !["node", "UUID", ...exporterGpu].includes(label))];
}

/** Returns series of exporters' GPUs with the node and UUID that the rules use. */
export function joined(
  options: AlertOptions,
  { alsoGone = false, of = "" }: Pick<ReadOptions, "alsoGone" | "of">,
  series: string,
): string {
  const { exporterGpu } = keysOf(options);
  const gpus = select("gpu:exporter_gpu:info", of);
  const known = alsoGone ? `topk by (${listed(exporterGpu)}) (1, last_over_time(${gpus}[5m]))` : gpus;
  return `${series} * ${on(exporterGpu)} group_left (node, UUID) ${known}`;
}

/** Returns AMD's series with NVIDIA's labels for the number of a GPU and for a part of it. */
export function withGpuNumber(series: string): string {
  const numbered = relabel(relabel(series, "gpu", "gpu_id"), "gpu", "GPU_ID");
  return relabel(numbered, "GPU_I_ID", "gpu_partition_id");
}

function scaled(expr: string, factor: number): string {
  if (factor === 1) return expr;
  return factor < 1 ? `${expr} / ${Math.round(1 / factor)}` : `${expr} * ${factor}`;
}
