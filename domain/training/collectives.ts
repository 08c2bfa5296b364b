import { groupedBy } from "../grouped.ts";
import { LEAST_HOURS, medianOf, slowIn } from "./outliers.ts";

/** The means of a GPU's operations of one kind over an hour, as NCCL Inspector measures them. A value is undefined if there is none. */
export interface CollectiveHour {
  /** The begin of the hour, milliseconds since the epoch. */
  readonly hour: number;
  readonly node: string;
  /** The pod; empty if its host is the node. */
  readonly pod: string;
  /** The GPU as NCCL names it: `GPU0` is the first one of its pod, or of the node. */
  readonly gpu: string;
  /** The collective (`AllReduce`) or the point-to-point operation (`Send`). */
  readonly operation: string;
  /** The range of the messages' sizes: `134-135MB`. */
  readonly size: string;
  /** The nodes and the ranks of the communicator. */
  readonly nodes: number;
  readonly ranks: number;
  /** The bus bandwidth in GB/s, and the time of one operation in microseconds. */
  readonly gbs: number | undefined;
  readonly micros: number | undefined;
}

/** The collectives of one kind of a run. */
export interface Collective extends Pick<CollectiveHour, "operation" | "size" | "nodes" | "ranks"> {
  /** The GPUs with a value. */
  readonly gpus: number;
  /** The median over all hours of the median bus bandwidth of the GPUs, GB/s. */
  readonly gbs: number;
  /** The hour with the lowest median. */
  readonly lowest: { readonly hour: number; readonly gbs: number };
  /** The GPUs that the others wait for, the least time first. */
  readonly late: readonly LateGpu[];
}

/**
 * A GPU that spends far less time in a collective than the others. All GPUs leave a collective together, so the one that comes last has the
 * least time in it, and the others wait for it.
 */
export interface LateGpu extends Pick<CollectiveHour, "node" | "pod" | "gpu"> {
  /** The mean of its time divided by the median of the gang, over the hours in which it was late. */
  readonly ofMedian: number;
  readonly lateHours: number;
  readonly hours: number;
}

/** The kinds of collectives of a report: those with the longest operations. */
const MOST = 8;

/** Returns the collectives of a run, the longest operations first. Kinds without a bandwidth are left out. */
export function collectivesOf(hours: readonly CollectiveHour[]): readonly Collective[] {
  const kinds = groupedBy(hours, ({ operation, size, nodes, ranks }) =>
    JSON.stringify([operation, size, nodes, ranks]),
  );
  return [...kinds.values()]
    .flatMap((kind) => {
      const collective = collectiveOf(kind);
      return collective === undefined ? [] : [{ collective, micros: medianOf(given(kind, "micros")) ?? 0 }];
    })
    .toSorted((a, b) => b.micros - a.micros || compare(a.collective.operation, b.collective.operation))
    .slice(0, MOST)
    .map(({ collective }) => collective);
}

function collectiveOf(kind: readonly CollectiveHour[]): Collective | undefined {
  const byHour = [...groupedBy(kind, ({ hour }) => String(hour)).values()];
  const medians = byHour.flatMap((all) => {
    const gbs = medianOf(given(all, "gbs"));
    return gbs === undefined ? [] : [{ hour: all[0]!.hour, gbs }];
  });
  const [lowest] = medians.toSorted((a, b) => a.gbs - b.gbs || a.hour - b.hour);
  if (lowest === undefined) return undefined;
  const { operation, size, nodes, ranks } = kind[0]!;
  return {
    operation,
    size,
    nodes,
    ranks,
    gpus: new Set(kind.map(gpuOf)).size,
    gbs: medianOf(medians.map(({ gbs }) => gbs))!,
    lowest,
    late: lateOf(kind, byHour),
  };
}

function lateOf(kind: readonly CollectiveHour[], byHour: readonly (readonly CollectiveHour[])[]): readonly LateGpu[] {
  const late = groupedBy(
    byHour.flatMap((all) => slowIn(all, ({ micros }) => micros)),
    ({ of }) => gpuOf(of),
  );
  const seen = groupedBy(
    kind.filter(({ micros }) => micros !== undefined),
    gpuOf,
  );
  return [...late]
    .flatMap(([key, own]): readonly LateGpu[] => {
      const hours = seen.get(key)!.length;
      if (own.length < Math.max(LEAST_HOURS, hours / 2)) return [];
      const { node, pod, gpu } = own[0]!.of;
      const ofMedian = own.reduce((sum, { ratio }) => sum + ratio, 0) / own.length;
      return [{ node, pod, gpu, ofMedian, lateHours: own.length, hours }];
    })
    .toSorted((a, b) => a.ofMedian - b.ofMedian);
}

function given(all: readonly CollectiveHour[], value: "gbs" | "micros"): readonly number[] {
  return all.flatMap((each) => each[value] ?? []);
}

function gpuOf({ node, pod, gpu }: CollectiveHour): string {
  return JSON.stringify([node, pod, gpu]);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
