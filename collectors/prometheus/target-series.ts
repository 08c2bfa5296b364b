import { namesNode, type Device } from "../../domain/device.ts";
import { encodeScrape, type ScrapeMoment } from "../../domain/messages/scrape-message.ts";
import type { LineDrop, ScrapeOrigin, ScrapeShape } from "../../domain/scrape.ts";
import { atOnce } from "../../runtime/steps.ts";
import type { ExpositionSample, FamilyMeta } from "../exporters/exposition/parse.ts";
import { planSteps } from "../exporters/fold/plan.ts";
import { run, type Program } from "../exporters/fold/program.ts";
import { NODE_LABELS } from "../exporters/fold/row.ts";
import { hostsOf } from "../exporters/page/gpu-pages.ts";
import { createTally } from "../exporters/page/full.ts";
import { PAGE_LIMITS, type PageLimits } from "../exporters/page/kind.ts";
import type { Template } from "../exporters/page/templates.ts";

/** A series as a Prometheus has it: the labels of the exporter, with the labels that Prometheus added for the target. */
export interface Series {
  readonly name: string;
  /** Without `__name__`. */
  readonly labels: ReadonlyMap<string, string>;
}

/** The message of one host, with its origin. */
export interface HostMessage {
  readonly origin: ScrapeOrigin;
  readonly message: Uint8Array;
}

/** The series of one target that a Prometheus scraped. They become the messages that a collector's own scrape would have made. */
export interface TargetSeries {
  /** Adds a series. Returns its index in the values of a moment. */
  add(series: Series): number;
  /** The number of series. */
  readonly size: number;
  /** The origins of the last messages; empty before the first. */
  readonly origins: readonly ScrapeOrigin[];
  /**
   * Returns the messages of one moment, one for each host. `values` has a value for each added series, NaN for a series without a sample at
   * this moment. A moment without any series of a GPU has no message. Throws a `PageError` if the series are beyond the limits.
   */
  messagesAt(moment: Omit<ScrapeMoment, "dropped">, values: Float64Array): readonly HostMessage[];
}

/** The parts of a target that its messages need. */
export interface TargetSeriesOptions {
  readonly cluster: string;
  readonly collector: string;
  /** The labels of the target itself, if the series `up` of the target is known. */
  readonly targetLabels: ReadonlyMap<string, string> | undefined;
  /** True if `pod` is known to be the exporter's own, though `up` is not: another series of the job has `exported_pod`. */
  readonly isExported?: boolean;
  /** Returns the node of a pod, by the pod's name and namespace or by its IP address. */
  readonly nodeOfPod: NodeOfPod;
  /** The metadata of metric families, by name. */
  readonly families: ReadonlyMap<string, FamilyMeta>;
  readonly limits?: Partial<PageLimits>;
}

/** Returns the node of an exporter's pod; undefined if it is unknown. */
export type NodeOfPod = (
  pod: { readonly namespace: string; readonly name: string } | { readonly ip: string },
) => string | undefined;

/** A plan for the series that have samples at one moment. */
interface SeriesPlan {
  readonly program: Program;
  readonly hosts: Template["hosts"];
  readonly dropped: Readonly<Partial<Record<LineDrop, number>>>;
  /** The series of each number of the program. */
  readonly series: Int32Array;
  /** The row of each series; -1 if the series fills none, -2 if it is not part of the plan. */
  readonly rows: Int32Array;
  readonly rowCount: number;
}

/** The most plans of one target that are kept. Targets have few, because series come and go with pods. */
const MOST_PLANS = 8;
const OUTSIDE = -2;

/** Creates the series of one target, without a series. */
export function createTargetSeries(options: TargetSeriesOptions): TargetSeries {
  const { families, targetLabels } = options;
  const limits = { ...PAGE_LIMITS, ...options.limits };
  const all: Series[] = [];
  let isExported = options.isExported ?? false;
  let plans: SeriesPlan[] = [];
  let raw = new Float64Array(64);
  let cells = new Float64Array(64);
  let origins: readonly ScrapeOrigin[] = [];

  function planOf(values: Float64Array): SeriesPlan {
    const series = Int32Array.from(all.keys()).filter((index) => !Number.isNaN(values[index]!));
    // Equal labels are one map, as on a page that was parsed.
    const blocks = new Map<string, ReadonlyMap<string, string>>();
    const samples = [...series].map((index, line) => {
      const { name, labels } = all[index]!;
      const own = withoutTarget(labels, targetLabels, isExported);
      const key = JSON.stringify([...own]);
      const block = blocks.get(key) ?? own;
      blocks.set(key, block);
      return sampleOf({ name, labels: block }, values[index]!, line);
    });
    const page = atOnce(planSteps(samples, families, limits));
    const source = {
      key: "",
      origin: (shape: ScrapeShape, host: string) => originOf(options, all[series[0]!]!, shape, host),
    };
    const hosts = page.known ? atOnce(hostsOf(page, source, limits.messageBytes)) : [];
    const rows = new Int32Array(all.length).fill(OUTSIDE);
    const width = page.shape.columns.length;
    for (const [number, index] of series.entries()) {
      const cell = page.program.cells[number]!;
      rows[index] = cell < 0 ? -1 : Math.floor(cell / width);
    }
    for (const { cell, numbers } of page.program.latest)
      for (const number of numbers) rows[series[number]!] = Math.floor(cell / width);
    const tally = createTally({});
    for (const { reason } of page.drops) tally.add(reason);
    return { program: page.program, hosts, dropped: tally.total(), series, rows, rowCount: page.shape.devices.length };
  }

  function findPlan(values: Float64Array): SeriesPlan {
    const [last] = plans;
    if (last !== undefined && (isOfAll(last, values) || fits(last, values))) return last;
    const found = plans.find((plan) => fits(plan, values)) ?? planOf(values);
    plans = [found, ...plans.filter((plan) => plan !== found)].slice(0, MOST_PLANS);
    return found;
  }

  return {
    get size() {
      return all.length;
    },
    get origins() {
      return origins;
    },
    add(added) {
      if (!isExported && hasExported(added)) {
        isExported = true;
        plans = [];
      }
      return all.push(added) - 1;
    },
    messagesAt(moment, values) {
      const { program, hosts, series, dropped: planned } = findPlan(values);
      if (hosts.length === 0) return [];
      if (raw.length < series.length) raw = new Float64Array(series.length * 2);
      if (cells.length < program.allCells) cells = new Float64Array(program.allCells * 2);
      for (let number = 0; number < series.length; number++) raw[number] = values[series[number]!]!;
      const dropped = createTally(planned);
      run(program, raw, cells, (number, reason) => {
        if (!Number.isNaN(raw[number]!)) dropped.count(number, reason);
      });
      origins = hosts.map(({ origin }) => origin);
      return hosts.map(({ origin, stable, from, until }, index) => ({
        origin,
        message: encodeScrape(
          stable,
          { ...moment, dropped: index === 0 ? dropped.total() : {} },
          cells.subarray(from, until),
        ),
      }));
    },
  };
}

/** Returns whether exactly the series of a plan have values: the usual case, and quick to see. */
function isOfAll({ series }: SeriesPlan, values: Float64Array): boolean {
  let present = 0;
  for (let index = 0; index < values.length; index++) if (!Number.isNaN(values[index]!)) present += 1;
  if (present !== series.length) return false;
  for (let number = 0; number < series.length; number++) if (Number.isNaN(values[series[number]!]!)) return false;
  return true;
}

/**
 * Returns whether a plan is right for the series with values: no series is outside of the plan, and each of the plan's rows has a value. A
 * row of a device that is gone would be a device that still exists.
 */
function fits({ rows, rowCount }: SeriesPlan, values: Float64Array): boolean {
  const seen = new Uint8Array(rowCount);
  let rowsSeen = 0;
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(values[index]!)) continue;
    const row = index < rows.length ? rows[index]! : OUTSIDE;
    if (row === OUTSIDE) return false;
    if (row < 0 || seen[row] === 1) continue;
    seen[row] = 1;
    rowsSeen += 1;
  }
  return rowsSeen === rowCount;
}

function sampleOf({ name, labels }: Series, value: number, line: number): ExpositionSample {
  const nowhere = { line: line + 1, start: 0, nameEnd: 0, valueStart: 0, valueEnd: 0, end: 0 };
  return { name, labels, value, valueText: "", ...nowhere };
}

const HOLDER_LABELS = ["pod", "namespace", "container"];

/** Returns whether a series has the holder of a GPU beside the pod of its target, because Prometheus renamed the labels of the exporter. */
function hasExported({ labels }: Series): boolean {
  return labels.has("exported_pod");
}

/**
 * Returns the labels of a series that the exporter gave. The labels of the target are left out. With `honor_labels`, Prometheus adds the pod
 * of the exporter to each series without a pod of its own, and an idle GPU looks as if the exporter held it. Without the labels of the target,
 * the pod is the target's if any of its series has `exported_pod`.
 */
function withoutTarget(
  labels: ReadonlyMap<string, string>,
  target: ReadonlyMap<string, string> | undefined,
  isExported: boolean,
): ReadonlyMap<string, string> {
  if (target === undefined)
    return isExported ? new Map([...labels].filter(([label]) => !HOLDER_LABELS.includes(label))) : labels;
  const isOfExporter = ["pod", "namespace"].every((label) => labels.get(label) === target.get(label));
  return new Map(
    [...labels].filter(([label, value]) =>
      HOLDER_LABELS.includes(label) ? !isOfExporter : target.get(label) !== value,
    ),
  );
}

function originOf(
  { cluster, collector, targetLabels, nodeOfPod }: TargetSeriesOptions,
  { labels }: Series,
  { devices }: ScrapeShape,
  host: string,
): ScrapeOrigin {
  const instance = targetLabels?.get("instance") ?? labels.get("instance") ?? "";
  const node = host === "" ? nodeOf(targetLabels ?? labels, instance, devices, nodeOfPod) : host;
  return { cluster, node, target: targetOf(instance), collector };
}

/**
 * Returns the node of a target: the node in the labels of the target; otherwise the node of the exporter's pod, by its name or by its
 * address; otherwise the host name on the page, unless that is the exporter's own pod; otherwise the address.
 */
function nodeOf(
  labels: ReadonlyMap<string, string>,
  instance: string,
  devices: readonly Device[],
  nodeOfPod: NodeOfPod,
): string {
  for (const label of NODE_LABELS) if ((labels.get(label) ?? "") !== "") return labels.get(label)!;
  const [namespace, name] = [labels.get("namespace"), labels.get("pod")];
  const byPod = namespace === undefined || name === undefined ? undefined : nodeOfPod({ namespace, name });
  if (byPod !== undefined) return byPod;
  const ip = instance.replace(/:\d+$/, "");
  const byAddress = nodeOfPod({ ip });
  if (byAddress !== undefined) return byAddress;
  const hostname = devices.find((device) => device.hostname !== undefined)?.hostname;
  return hostname !== undefined && namesNode(hostname) ? hostname : instance;
}

/** Returns the address of a target as a URL, as a collector would have scraped it. */
function targetOf(instance: string): string {
  return /^https?:\/\//.test(instance) ? instance : `http://${instance}/metrics`;
}
