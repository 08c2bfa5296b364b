import type { StoreClient } from "../../../runtime/store/client.ts";
import { inStep } from "../../../runtime/store/in-step.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";
import { reopenedBy } from "./reopened.ts";
import type { Findings } from "../metering/findings.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/** The most that is computed at once, by the memory that it takes: hours, nodes in hours, samples of GPUs, and scrapes of engines. */
const MOST_HOURS = 48;
const MOST_NODE_HOURS = 1_000;
const MOST_SAMPLES = 1_000_000;
const MOST_ENGINE_SCRAPES = 100_000;

/** The longest time between the starts of two hours of a portion. A statement reads the samples between them, too. */
const LONGEST_GAP_MILLIS = 3 * HOUR_MILLIS;

const WITHIN = `cluster = {cluster:String}
  AND scraped_at >= fromUnixTimestamp64Milli({from:Int64}) AND scraped_at < fromUnixTimestamp64Milli({until:Int64})`;

const SIZES = `
SELECT toFloat64(toUnixTimestamp(hour)) * 1000 AS start, sum(samples) AS samples, sum(engines) AS engines FROM (
  SELECT toStartOfHour(scraped_at) AS hour, devices AS samples, 0 AS engines FROM scrapes WHERE ${WITHIN}
  UNION ALL
  SELECT toStartOfHour(scraped_at) AS hour, 0 AS samples, 1 AS engines FROM serving_scrapes WHERE ${WITHIN}
) GROUP BY hour`;

const NODES = `
SELECT uniqExact(node) AS nodes FROM (
  SELECT node FROM inventory_facts WHERE cluster = {cluster:String}
  UNION ALL
  SELECT node FROM scrapes WHERE ${WITHIN}
)`;

/**
 * Returns as many of the first windows as fit into memory together; at least one. They are of one cluster and in order of time, and the
 * portion ends before a gap. Fails with a `StoreError`.
 */
export async function portionOf<Window extends WindowOfCluster>(
  store: StoreClient,
  given: readonly Window[],
): Promise<readonly Window[]> {
  const isFar = ({ windowStart }: WindowOfCluster, index: number): boolean =>
    index > 0 && Math.abs(windowStart - given[index - 1]!.windowStart) > LONGEST_GAP_MILLIS;
  const far = given.findIndex(isFar);
  const windows = far === -1 ? given : given.slice(0, far);
  const [first, second] = windows;
  if (second === undefined) return windows;
  const { cluster, windowStart } = first!;
  const hour = { cluster, from: windowStart, until: windowStart + HOUR_MILLIS };
  const [found] = await store.query<{ nodes: string }>(NODES, hour);
  const most = Math.min(MOST_HOURS, Math.max(1, Math.floor(MOST_NODE_HOURS / Number(found!.nodes))));
  if (most === 1) return [first!];
  const starts = windows.slice(0, most).map((window) => window.windowStart);
  const span = { cluster, from: Math.min(...starts), until: Math.max(...starts) + HOUR_MILLIS };
  const rows = await store.query<{ start: number; samples: string; engines: string }>(SIZES, span);
  const sizes = new Map(rows.map(({ start, ...size }) => [start, size]));
  let [hours, samples, engines] = [0, 0, 0];
  for (const start of starts) {
    samples += Number(sizes.get(start)?.samples ?? 0);
    engines += Number(sizes.get(start)?.engines ?? 0);
    if (hours > 0 && (samples > MOST_SAMPLES || engines > MOST_ENGINE_SCRAPES)) break;
    hours += 1;
  }
  return windows.slice(0, hours);
}

/** The results of hours that were computed together. */
export interface ComputedHours<Result> {
  /** In the order of the windows. */
  readonly outcomes: readonly PromiseSettledResult<Result>[];
  /** Other hours, or hours among them, to compute again. */
  readonly reopened: readonly WindowOfCluster[];
}

/**
 * Computes hours of one cluster in step, each as if it were alone. The results are the same, whatever the hours that are computed together.
 * Fails with a `StoreError` if the hours to compute again cannot be read.
 */
export async function computeHours<Result extends Findings>(
  store: StoreClient,
  windows: readonly WindowOfCluster[],
  compute: (window: WindowOfCluster, store: StoreClient) => Promise<Result>,
): Promise<ComputedHours<Result>> {
  const outcomes = await inStep(store, windows, compute);
  const found = outcomes.flatMap((outcome, index) =>
    outcome.status === "fulfilled" ? [{ ...windows[index]!, ...outcome.value }] : [],
  );
  return { outcomes, reopened: await reopenedBy(store, found) };
}
