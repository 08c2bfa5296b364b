import { HARDWARE_XIDS } from "../../../domain/xid/xid.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together, type AnswerAll } from "../../../runtime/store/in-step.ts";
import { AROUND_SPANS, bySpan, IN_SPANS, spanParameters } from "../runs/spans-sql.ts";
import { REACH_SQL } from "../runs/window.ts";
import type { Span } from "../plan/node-record.ts";
import type { GpuOfNode, SampleGroup, SampleMoment } from "../plan/samples.ts";

const AT = "toUnixTimestamp64Milli(scraped_at)";
const FROM = `
FROM gpu_samples
${IN_SPANS}
WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)} AND ${AROUND_SPANS}`;
const MEMORY = "coalesce(fb_total_bytes, fb_used_bytes + fb_free_bytes + ifNull(fb_reserved_bytes, 0))";

const groupsOf = (more: string): string => `
SELECT span, node, gpu_key AS gpuKey, instance AS part, profile,
  any(gpu) AS gpu, any(pci_bus_id) AS pciBusId, any(model) AS model,
  toUInt32(ifNull(intDiv(max(${MEMORY}), 1048576), 0)) AS memoryMiB,
  any(namespace) AS namespace, any(pod) AS pod, pod_uid AS podUid, any(hpc_job) AS hpcJob,
  toFloat64(min(${AT})) AS firstAt, toFloat64(max(${AT})) AS lastAt, toFloat64(max(${REACH_SQL})) AS reachMillis,
  toBool(max(ifNull(xid_code, 0) IN (${HARDWARE_XIDS.join(", ")}))) AS hasHardwareXid,
  toBool(max(process_activity_ppm IS NOT NULL)) AS hasProcesses
${FROM} ${more}
GROUP BY span, node, gpu_key, instance, profile, sharing, pod_uid`;
/** A condition for GPUs that are not known yet. The rows of known GPUs need not be read again. */
const OTHERS = "AND concat(toString(span), ' ', node, ' ', gpu_key) NOT IN {known:Array(String)}";
const OTHER_GROUPS = groupsOf(OTHERS);
const LAST_GROUPS = groupsOf(`${OTHERS} AND (span, node, gpu_key, scraped_at) IN (
  SELECT span, node, gpu_key, max(scraped_at) ${FROM} ${OTHERS} GROUP BY span, node, gpu_key)`);

const MOMENT = `
SELECT DISTINCT span, node, gpu_key AS gpuKey, toFloat64(${AT}) AS at, toFloat64(${REACH_SQL}) AS reachMillis, instance AS part, profile,
  namespace, pod, pod_uid AS podUid, hpc_job AS hpcJob, toUInt32(ifNull(xid_code, 0)) AS xid,
  toBool(ifNull(activity_ppm, 0) > 0) AS isActive
${FROM} AND gpu_key IN {keys:Array(String)}`;

/** The samples of some nodes in a span. */
interface AskedSamples {
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly span: Span;
  /** GPUs that are left out. */
  readonly known?: readonly GpuOfNode[];
  /** The only GPUs. */
  readonly gpus?: readonly GpuOfNode[];
}

/** Returns a function that answers questions by one statement: with its rows of the nodes and GPUs that each has asked for. */
function samplesBy<Row extends GpuOfNode>(sql: string): AnswerAll<AskedSamples, readonly Row[]> {
  return async (store, all) => {
    const rows = await store.query<Row & { readonly span: number }>(sql, {
      cluster: all[0]!.cluster,
      nodes: [...new Set(all.flatMap(({ nodes }) => nodes))],
      keys: [...new Set(all.flatMap(({ gpus = [] }) => gpus.map(({ gpuKey }) => gpuKey)))],
      known: all.flatMap(({ known = [] }, index) => known.map(({ node, gpuKey }) => `${index + 1} ${node} ${gpuKey}`)),
      ...spanParameters(all.map(({ span }) => span)),
    });
    return bySpan<Row>(rows, all).map((ofSpan, index) => {
      const { nodes, gpus } = all[index]!;
      const [asked, wanted] = [new Set(nodes), gpus && new Set(gpus.map(gpuOfNodeKey))];
      // A key that is an index stands for another GPU on every node.
      return ofSpan.filter((row) => asked.has(row.node) && wanted?.has(gpuOfNodeKey(row)) !== false);
    });
  };
}

const groups = samplesBy<SampleGroup>(groupsOf(""));
const otherGroups = samplesBy<SampleGroup>(OTHER_GROUPS);
const lastGroups = samplesBy<SampleGroup>(LAST_GROUPS);
const seenGpus = samplesBy<GpuOfNode>(`SELECT DISTINCT span, node, gpu_key AS gpuKey ${FROM}`);
const moments = samplesBy<SampleMoment>(`${MOMENT} ORDER BY at`);
const [firstMoments, lastMoments] = (["min", "max"] as const).map((edge) =>
  samplesBy<SampleMoment>(`${MOMENT} AND (span, node, gpu_key, scraped_at) IN (
    SELECT span, node, gpu_key, ${edge}(scraped_at) ${FROM} AND gpu_key IN {keys:Array(String)} GROUP BY span, node, gpu_key)`),
) as [AnswerAll<AskedSamples, readonly SampleMoment[]>, AnswerAll<AskedSamples, readonly SampleMoment[]>];

/** Reads the sample groups of each device of some nodes in a span, unordered. */
export function readGroups(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  span: Span,
): Promise<readonly SampleGroup[]> {
  return together(store, groups, { cluster, nodes, span });
}

/** Reads the same of GPUs that are not known yet. With `isLast`, reads only the last moment of each GPU. */
export function readOtherGroups(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  { known, isLast = false, ...span }: Span & { readonly known: readonly GpuOfNode[]; readonly isLast?: boolean },
): Promise<readonly SampleGroup[]> {
  const asked = new Set(nodes);
  const ofNodes = known.filter(({ node }) => asked.has(node));
  return together(store, isLast ? lastGroups : otherGroups, { cluster, nodes, span, known: ofNodes });
}

/** Reads every row of some GPUs within a span, in order of time. */
export function readMoments(
  store: StoreClient,
  cluster: string,
  gpus: readonly GpuOfNode[],
  span: Span,
): Promise<readonly SampleMoment[]> {
  return ofGpus(store, moments, cluster, gpus, span);
}

/** Reads the rows of the last moment of each GPU within a span. */
export function readLastMoments(
  store: StoreClient,
  cluster: string,
  gpus: readonly GpuOfNode[],
  span: Span,
): Promise<readonly SampleMoment[]> {
  return ofGpus(store, lastMoments, cluster, gpus, span);
}

/** Reads the rows of the first moment of each GPU within a span. */
export function readFirstMoments(
  store: StoreClient,
  cluster: string,
  gpus: readonly GpuOfNode[],
  span: Span,
): Promise<readonly SampleMoment[]> {
  return ofGpus(store, firstMoments, cluster, gpus, span);
}

async function ofGpus(
  store: StoreClient,
  answerAll: AnswerAll<AskedSamples, readonly SampleMoment[]>,
  cluster: string,
  gpus: readonly GpuOfNode[],
  span: Span,
): Promise<readonly SampleMoment[]> {
  if (gpus.length === 0) return [];
  return together(store, answerAll, { cluster, nodes: gpus.map(({ node }) => node), span, gpus });
}

/** Returns a map key for one GPU of one node. */
export function gpuOfNodeKey({ node, gpuKey }: GpuOfNode): string {
  return `${node.length} ${node} ${gpuKey}`;
}

/** A GPU of a cluster under an XID at a time. */
interface AskedFault extends GpuOfNode {
  readonly cluster: string;
  readonly code: number;
  readonly before: number;
}

/**
 * Returns since when a GPU has been under an XID, and whether the fault has ended although the XID is still shown: a pod that was bound
 * after the onset was active before the given time. Fails with a `StoreError`.
 */
export function readOnset(
  store: StoreClient,
  cluster: string,
  gpu: GpuOfNode,
  fault: Pick<AskedFault, "code" | "before">,
): Promise<FaultOnset> {
  return together(store, readOnsets, { cluster, ...gpu, ...fault });
}

interface FaultOnset {
  readonly onset: number;
  readonly isOver: boolean;
}

/** Repeats a sample for each fault of its GPU that it is not later than, with the column `fault`, which counts from 1. */
const OF_FAULTS = `
ARRAY JOIN arrayFilter(
  (each, ofNode, ofKey, end) -> node = ofNode AND gpu_key = ofKey AND scraped_at <= fromUnixTimestamp64Milli(end),
  arrayEnumerate({nodes:Array(String)}), {nodes:Array(String)}, {keys:Array(String)}, {befores:Array(Int64)}) AS fault
WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)} AND gpu_key IN {keys:Array(String)}`;

/** The first sample of each fault after the last one with another XID or with none. */
const ONSETS = `
SELECT fault, toFloat64(min(${AT})) AS onset FROM (SELECT fault, scraped_at FROM gpu_samples ${OF_FAULTS}) AS samples
INNER JOIN (
  SELECT fault, maxIf(scraped_at, ifNull(xid_code, 0) != {codes:Array(UInt32)}[fault]) AS other FROM gpu_samples ${OF_FAULTS} GROUP BY fault
) AS others USING (fault)
WHERE scraped_at > other
GROUP BY fault`;

/** The active samples after each onset of pods that were bound after it. */
const ACTIVE = `
WITH later AS (
  SELECT arrayJoin(arrayFilter(
      (each, ofNode, onset) -> node = ofNode AND ifNull(scheduled_at, created_at) > fromUnixTimestamp64Milli(onset),
      arrayEnumerate({nodes:Array(String)}), {nodes:Array(String)}, {onsets:Array(Int64)})) AS fault, uid, namespace, pod
  FROM workload_facts WHERE cluster = {cluster:String} AND node IN {nodes:Array(String)}
)
SELECT fault, count() AS active FROM (
  SELECT fault, holder_uid, pod_uid, namespace, pod FROM gpu_samples ${OF_FAULTS}
    AND scraped_at > fromUnixTimestamp64Milli({onsets:Array(Int64)}[fault]) AND activity_ppm > 0
)
WHERE (fault, holder_uid) IN (SELECT fault, uid FROM later) OR (fault, pod_uid) IN (SELECT fault, uid FROM later)
  OR (pod_uid = '' AND (fault, namespace, pod) IN (SELECT fault, namespace, pod FROM later))
GROUP BY fault`;

async function readOnsets(store: StoreClient, faults: readonly AskedFault[]): Promise<readonly FaultOnset[]> {
  const parameters = {
    cluster: faults[0]!.cluster,
    nodes: faults.map(({ node }) => node),
    keys: faults.map(({ gpuKey }) => gpuKey),
    codes: faults.map(({ code }) => code),
    befores: faults.map(({ before }) => before),
  };
  const first = new Map(
    (await store.query<{ fault: number; onset: number }>(ONSETS, parameters)).map(({ fault, onset }) => [fault, onset]),
  );
  const onsets = faults.map(({ before }, index) => first.get(index + 1) ?? before);
  const active = await store.query<{ fault: number }>(ACTIVE, { ...parameters, onsets });
  const over = new Set(active.map(({ fault }) => fault));
  return onsets.map((onset, index) => ({ onset, isOver: over.has(index + 1) }));
}

/** Reads the GPUs of some nodes that appear in samples of a span. Fails with a `StoreError`. */
export async function readSeenGpus(
  store: StoreClient,
  cluster: string,
  nodes: readonly string[],
  span: Span,
): Promise<readonly GpuOfNode[]> {
  if (nodes.length === 0) return [];
  return together(store, seenGpus, { cluster, nodes, span });
}
