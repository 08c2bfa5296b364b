import { setImmediate } from "node:timers/promises";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import { namesOf } from "../../../runtime/store/schema/table.ts";
import { USAGE_COLUMNS } from "../../../runtime/store/schema/usage.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { StoreError } from "../../../runtime/store/store-error.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { inTurns, slicesBySize, slicesOf } from "../../../runtime/in-turns.ts";
import { failedNode, type Breach } from "../charge/breach.ts";
import { keepBreaches } from "../runs/breaches.ts";
import { LONGEST_REACH_MILLIS, REACH_SQL } from "../runs/window.ts";
import { digestOf } from "../runs/digest.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { announceRun, publishRun, type Run, type RunContent } from "../runs/runs.ts";
import type { Measurement } from "../plan/measurement.ts";
import { integrate } from "./integrate.ts";
import { askFor, usageHourOf, type MeasuredSegment } from "../plan/measure.ts";
import type { KnownDates } from "../plan/known-dates.ts";
import { planNode } from "../plan/plan.ts";
import type { Discovery, Findings } from "./findings.ts";
import { readCluster } from "./read-cluster.ts";
import { readFacts, type FactsOfNodes } from "./read-facts.ts";
import { readNodeNames, readRecords, type NamedNode } from "./read-records.ts";
import { spansOfNewGpus } from "./read-silent.ts";
import { insertUsage } from "./usage-rows.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/**
 * The number of nodes whose facts are read at once: the store sorts facts of pods by UID and those of nodes in granules of thousands, so a read
 * for a few nodes reads the data of many.
 */
const NODES_PER_READ = 2_500;
/** The most nodes that are metered together, and the most claims of them: their records and plans are in memory, 3 kB for a claim. */
const NODES_PER_SLICE = 500;
const CLAIMS_PER_SLICE = 100_000;
/** The number of slices in progress. While the store works on one, another is planned. */
const SLICES_AT_ONCE = 3;
/** The most nodes that an hour can lack because they cannot be metered. More are not the fault of the nodes. */
const MOST_FAILING = 100;
/** The number of planned nodes after which other work of the event loop gets its turn. */
const NODES_AT_A_STRETCH = 32;

/** Selects the longest time that samples around each window cover. */
const REACH = `
SELECT span, toFloat64(max(${REACH_SQL})) AS reach FROM scrapes
${IN_SPANS}
WHERE cluster = {cluster:String} AND ${AROUND_SPANS}
GROUP BY span`;

const digest = digestOf("usage_hours", namesOf(USAGE_COLUMNS), "from_at");

/** The options of metering a window. */
export interface MeterOptions {
  readonly dates: KnownDates;
  /** The end of metering for the running hour, milliseconds since the epoch. */
  readonly asOf: number;
  /** Without Kubernetes, a slot ends if it has no sample for this many milliseconds. */
  readonly absentAfterMillis: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets rows as they are stored: all rows of some nodes, sorted by node, slot and time, as they are read back. */
  readonly onUsage?: ((rows: readonly UsageHour[]) => Promise<void>) | undefined;
  /** Leaves out nodes that cannot be metered. Without it, the hour fails. */
  readonly mayLackNodes?: boolean;
}

/** The rows of some nodes while they are being inserted. */
interface MeteredSlice {
  readonly rows: readonly UsageHour[];
  readonly stored: Promise<unknown>;
}

/** The result of metering a window. */
export interface MeteredWindow extends RunContent, Findings {
  /** The nodes that were left out. */
  readonly breaches: readonly Breach[];
}

/**
 * Meters one UTC hour of one cluster. It reads the records of the nodes, plans their slots, lets the store integrate the samples, and
 * publishes the rows of `usage_hours` as one run. The running hour is metered up to `asOf`. The same facts, samples and dates give the same
 * rows and hash. A crash leaves rows without a published run, which are dropped later. Fails with a `StoreError`, or with the error of a node.
 */
export async function meterWindow(
  store: StoreClient,
  run: Run,
  { dates, asOf, absentAfterMillis, signal, onUsage, mayLackNodes = false }: MeterOptions,
): Promise<MeteredWindow> {
  const { cluster, windowStart: start, runId } = run;
  await announceRun(store, run);
  const reachMillis = await together(store, readReaches, run);
  const window = { from: start, until: Math.min(start + HOUR_MILLIS, asOf), reachMillis, asOf, absentAfterMillis };
  const [nodes, ofCluster] = await Promise.all([
    readNodeNames(store, cluster, window),
    readCluster(store, cluster, window),
  ]);
  const discovered: Discovery[] = [];
  const proofs = new Set<string>();
  const breaches: Breach[] = [];
  const looked = { from: start - reachMillis, until: window.until };

  async function meter(slice: readonly NamedNode[], facts: FactsOfNodes): Promise<MeteredSlice> {
    signal?.throwIfAborted();
    const read = await readRecords(store, cluster, slice, { window, looked, ofCluster, facts });
    const { records } = read;
    for (const proof of read.proofs) proofs.add(proof);
    discovered.push(...read.discovered, ...(await spansOfNewGpus(store, cluster, records, window)));
    const measurements: Measurement[] = [];
    const segments: MeasuredSegment[] = [];
    for (const [planned, record] of records.entries()) {
      for (const segment of planNode(record, window, reachMillis, dates))
        segments.push(askFor(record, segment, measurements));
      if (planned % NODES_AT_A_STRETCH === 0) await setImmediate();
    }
    const sums = await integrate(store, { cluster, start, reachMillis, measurements });
    const rows = segments.map((segment) => usageHourOf(segment, sums));
    return { rows, stored: inBackground(insertUsage(store, runId, rows)) };
  }

  /** Meters a slice. If that fails, meters its halves, down to the nodes that fail alone. */
  async function meterOrLeaveOut(slice: readonly NamedNode[], facts: FactsOfNodes): Promise<MeteredSlice> {
    try {
      return await meter(slice, facts);
    } catch (error) {
      const isOfNode = !(error instanceof StoreError) && signal?.aborted !== true;
      const most = Math.min(MOST_FAILING, nodes.length / 2);
      if (!mayLackNodes || !isOfNode || breaches.length + 1 > most) throw error;
      if (slice.length === 1) {
        breaches.push(failedNode("usage", slice[0]!.node, error));
        return { rows: [], stored: Promise.resolve() };
      }
      const halves: MeteredSlice[] = [];
      for (const half of slicesOf(slice, Math.ceil(slice.length / 2))) halves.push(await meterOrLeaveOut(half, facts));
      const stored = Promise.all(halves.map((half) => half.stored));
      return { rows: halves.flatMap(({ rows }) => rows), stored: inBackground(stored) };
    }
  }

  /** Slices are metered in any order, and passed on in the order of their nodes. */
  async function handOn(metered: Promise<MeteredSlice>, before: Promise<void>): Promise<void> {
    await Promise.allSettled([metered, before]);
    await before;
    const { rows, stored } = await metered;
    await onUsage?.(rows);
    await stored;
  }

  let handed: Promise<void> = Promise.resolve();
  for await (const { read, facts } of readAhead(nodes, (names) => readFacts(store, cluster, names, looked)))
    await inTurns(
      slicesBySize(read, ({ node }) => claimsOf(node, facts), { most: NODES_PER_SLICE, size: CLAIMS_PER_SLICE }),
      SLICES_AT_ONCE,
      (slice) => (handed = handOn(meterOrLeaveOut(slice, facts), handed)),
    );
  const content = { scrapes: 0, ...(await digest(store, run)) };
  signal?.throwIfAborted();
  await keepBreaches(store, run, breaches);
  await publishRun(store, "usage", run, content);
  return { ...content, discovered, proofs, breaches };
}

/** Yields nodes with their facts. While the caller works on some nodes, the facts of the next ones are read. */
async function* readAhead(
  nodes: readonly NamedNode[],
  factsOf: (names: readonly string[]) => Promise<FactsOfNodes>,
): AsyncGenerator<{ readonly read: readonly NamedNode[]; readonly facts: FactsOfNodes }> {
  const portions = slicesOf(nodes, NODES_PER_READ);
  const readOf = (portion: readonly NamedNode[] = []) => inBackground(factsOf(portion.map(({ node }) => node)));
  let ahead = readOf(portions[0]);
  for (const [index, read] of portions.entries()) {
    const facts = await ahead;
    if (index + 1 < portions.length) ahead = readOf(portions[index + 1]);
    yield { read, facts };
  }
}

/** Returns the most claims of a node: where nothing shows the GPUs of pods, each pod may have a claim on each GPU. */
function claimsOf(node: string, { machines, pods }: FactsOfNodes): number {
  const gpus = Math.max(1, ...(machines.get(node) ?? []).map(({ most }) => most));
  return gpus * (pods.get(node)?.size ?? 0);
}

async function readReaches(store: StoreClient, windows: readonly WindowOfCluster[]): Promise<readonly number[]> {
  const around = windows.map(({ windowStart }) => ({
    from: windowStart - LONGEST_REACH_MILLIS,
    until: windowStart + HOUR_MILLIS,
  }));
  const parameters = { cluster: windows[0]!.cluster, ...spanParameters(around) };
  const rows = await store.query<{ span: number; reach: number }>(REACH, parameters);
  return bySpan(rows, windows).map(([found]) => found?.reach ?? 0);
}

/** Returns work that is awaited later. If the caller stops before that, its failure is ignored. */
function inBackground<Made>(work: Promise<Made>): Promise<Made> {
  work.catch(() => {});
  return work;
}
