import type { AlertOptions } from "../options.ts";
import { anyOf, durationText, relabel, select, withLabel } from "../promql.ts";
import { namesOf, type NamesOfReading } from "./exporter-names.ts";
import { keysOf, listed, on } from "./keys.ts";

/** How a canonical metric is read from what exporters give. */
export interface ReadOptions {
  /** The labels that stay; of several values the largest counts: what is repeated on instances and pods is so once. */
  readonly by: readonly string[];
  /** A function over a range, instead of the newest value; with a step, over what was seen at its multiples alone. */
  readonly over?: { readonly fn: string; readonly millis: number; readonly stepMillis?: number };
  readonly matchers?: readonly string[];
  /** A comparison of the raw value, such as `> 0`, by which few series are left before they are joined. */
  readonly where?: string;
  /** Whether GPUs count too that have left the page within five minutes: what tells of their loss stays a moment longer. */
  readonly alsoGone?: boolean;
  /** Matchers of the GPUs that are wanted; all are where it is left out. */
  readonly of?: string;
  /** Changes the labels of what was selected, before it is aggregated. */
  readonly relabelled?: (expr: string) => string;
}

/**
 * An expression for a canonical metric in its canonical unit, whatever exporter, version and counter file gives it: one
 * series for each value of the labels asked for. Values that say "not supported" are left out. Where a GPU's exporter gives
 * it under two names, the first counts.
 */
export function read(options: AlertOptions, column: string, how: ReadOptions): string {
  return largest(options, how, anyOfThem(branchesOf(options, namesOf(column), how)));
}

/** The same of several metrics of one unit: the largest of them counts. */
export function readLargest(options: AlertOptions, columns: readonly string[], how: ReadOptions): string {
  // Branches with equal labels would hide each other; a label tells them apart until the largest is taken.
  const labeled = branchesOf(options, namesOf(...columns), how).map((branch, index) =>
    withLabel(branch, "source", String(index)),
  );
  return largest(options, how, `max without (source) ${anyOfThem(labeled)}`);
}

/** Of series of exporters' GPUs the largest for each value of the labels asked for. Joined once, whatever number of branches. */
function largest(options: AlertOptions, how: ReadOptions, series: string): string {
  return `max by (${listed(how.by)}) (${joined(options, how, series)})`;
}

function anyOfThem(branches: readonly string[]): string {
  return branches.length === 1 ? branches[0]! : `(\n  ${branches.join("\n  or\n  ")}\n)`;
}

/** What each reading gives for each GPU of each page, in the canonical unit. */
function branchesOf(options: AlertOptions, readings: readonly NamesOfReading[], how: ReadOptions): readonly string[] {
  return readings.flatMap((reading) =>
    rawBranches(options, reading, how).map(({ raw, factor }) =>
      scaled(ofExporters(options, reading, raw, how), factor),
    ),
  );
}

/** The raw series of a reading, and what makes their values canonical; two where the page decides what they mean. */
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

/** Of raw series the largest for each GPU of each page: pages repeat values on pods. */
function ofExporters(options: AlertOptions, { vendor }: NamesOfReading, raw: string, how: ReadOptions): string {
  const { by, relabelled = (expr) => expr } = how;
  const series = relabelled(vendor === "amd" ? withGpuNumber(raw) : raw);
  return `max by (${listed(ownLabels(options, by))}) (${series})`;
}

/** The labels that must stay until node and UUID are joined on. */
export function ownLabels(options: AlertOptions, by: readonly string[]): readonly string[] {
  const { exporterGpu } = keysOf(options);
  return [...exporterGpu, ...by.filter((label) => !["node", "UUID", ...exporterGpu].includes(label))];
}

/** Series of exporters' GPUs with the node and the UUID by which rules know them. */
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

/** AMD's series with the labels that NVIDIA's have for a GPU's number and for a part of it. */
export function withGpuNumber(series: string): string {
  const numbered = relabel(relabel(series, "gpu", "gpu_id"), "gpu", "GPU_ID");
  return relabel(numbered, "GPU_I_ID", "gpu_partition_id");
}

function scaled(expr: string, factor: number): string {
  if (factor === 1) return expr;
  return factor < 1 ? `${expr} / ${Math.round(1 / factor)}` : `${expr} * ${factor}`;
}
