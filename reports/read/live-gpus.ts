import type { Evidence } from "../../domain/holder.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import { podMarks } from "../../domain/owner/owner.ts";
import { teamOf } from "../../domain/owner/owners.ts";
import { regimeOfDevice, regimesOf, type Regime } from "../../domain/regime.ts";
import type { WorkloadFact, WorkloadType } from "../../domain/workload.ts";
import { troublesOfGpu } from "../../domain/fleet/trouble.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { newestSql, readFacts, readNamespaceMarks } from "./newest-facts.ts";
import { WHOLE_FLEET, type SampleScope } from "./sample-scope.ts";

/** A GPU, or a part of one, in its last sample, with its holder. */
export interface LiveGpu {
  readonly cluster: string;
  readonly node: string;
  /** The GPU's index on its node, in its exporter's order. */
  readonly gpu: string;
  /** The UUID; without one, the PCI address or the index. */
  readonly device: string;
  /** The number and the profile of a MIG instance or partition. */
  readonly instance: string;
  readonly profile: string;
  readonly model: string;
  readonly regime: Regime;
  /** `undefined` if no holder is known. */
  readonly holder: LiveHolder | undefined;
  /** The measured activity, 0..1; of one pod if the exporter separates the pods of a shared GPU. */
  readonly activityRatio: number | undefined;
  /** A measurement that the sample lacks is null. Memory is of the device. The rest is of the whole GPU. */
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly temperatureCelsius: number | null;
  readonly memoryTemperatureCelsius: number | null;
  readonly powerWatts: number | null;
  readonly powerLimitWatts: number | null;
  /** The last XID, which stays until the driver is loaded again; 0 if there was none. */
  readonly xid: number;
  /** Its current faults in words. */
  readonly troubles: readonly string[];
  readonly scrapedAtMillis: number;
}

/** The holder of a GPU, and its evidence. */
export interface LiveHolder {
  readonly namespace: string;
  /** The pod, or the job without Kubernetes. */
  readonly name: string;
  /** The pod's UID; empty if it is not known. */
  readonly uid: string;
  /** The number of pods that hold it. One of them is named. */
  readonly pods: number;
  readonly evidence: Evidence;
  /** The facts of the pod; absent if only the exporter's label is known. */
  readonly workload?: {
    readonly kind: string;
    readonly name: string;
    readonly type: WorkloadType;
    readonly team: string;
    readonly queue: string;
    /** When the pod was bound to the node, milliseconds since the epoch. */
    readonly sinceMillis: number;
  };
}

/** GPUs of a node without a sample in the last minutes. */
export interface UnobservedGpus {
  readonly cluster: string;
  readonly node: string;
  readonly model: string;
  readonly gpus: number;
}

/** Every GPU of the fleet at a time. */
export interface LiveFleet {
  readonly atMillis: number;
  readonly gpus: readonly LiveGpu[];
  readonly unobserved: readonly UnobservedGpus[];
  /** The nodes of Kubernetes, by their newest facts. */
  readonly nodes: readonly InventoryFact[];
}

/** The age at which samples are no longer current: two and a half of the longest usual intervals. */
const WINDOW_MILLIS = 150_000;

const IN_WINDOW = `
  scraped_at > fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND scraped_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')`;

/** SQL for the memory of a device. Some exporters have only its parts. */
export const MEMORY_TOTAL = "coalesce(fb_total_bytes, fb_used_bytes + fb_free_bytes + ifNull(fb_reserved_bytes, 0))";

const latestSql = (scope: string): string => `
  SELECT
    cluster, node, gpu, gpu_key, instance, sharing, profile, model, vgpu, holder_namespace, holder_pod, holder_uid, holders,
    evidence, coalesce(process_activity_ppm, activity_ppm) AS ppm, toUnixTimestamp64Milli(scraped_at) AS scraped_millis,
    toFloat64(fb_used_bytes) AS memory_used, toFloat64(${MEMORY_TOTAL}) AS memory_total,
    toFloat64(gpu_temperature_celsius) AS temperature, toFloat64(memory_temperature_celsius) AS memory_temperature,
    toFloat64(power_watts) AS power, toFloat64(power_limit_watts) AS power_limit, toUInt32(ifNull(xid_code, 0)) AS xid,
    toUInt32(ifNull(ecc_dbe_volatile_total, 0)) AS double_bit_errors, ifNull(row_remap_failure, 0) > 0 AS is_repair_failed,
    greatest(ifNull(row_remap_pending, 0), ifNull(retired_pages_pending, 0)) > 0 AS is_repair_pending,
    toUInt32(ifNull(clocks_event_reasons, 0) % 65536) AS clock_reasons
  FROM gpu_samples
  WHERE ${IN_WINDOW} AND ${scope}
    AND (cluster, node, gpu_key, scraped_at) IN (
      SELECT cluster, node, gpu_key, max(scraped_at) FROM gpu_samples WHERE ${IN_WINDOW} AND ${scope} GROUP BY cluster, node, gpu_key)
  ORDER BY cluster, node, length(gpu), gpu, gpu_key, length(instance), instance, sharing
  LIMIT 1 BY cluster, node, gpu_key, instance, sharing`;

/** SQL for the pods that were joined to a sample of the window. The store selects them because there can be tens of thousands. */
const isHolderSql = (scope: string): string =>
  `(cluster, uid) IN (SELECT cluster, holder_uid FROM gpu_samples WHERE ${IN_WINDOW} AND ${scope} AND holder_uid != '')`;

/** SQL for the nodes of a scope. */
function nodesSql({ nodes, samples }: SampleScope): string {
  return nodes ?? `(cluster, node) IN (SELECT cluster, node FROM gpu_samples WHERE ${IN_WINDOW} AND ${samples})`;
}

interface SampleRow {
  readonly cluster: string;
  readonly node: string;
  readonly gpu: string;
  readonly gpu_key: string;
  readonly instance: string;
  readonly sharing: string;
  readonly profile: string;
  readonly model: string;
  readonly vgpu: string;
  readonly holder_namespace: string;
  readonly holder_pod: string;
  readonly holder_uid: string;
  readonly holders: number;
  readonly evidence: Evidence;
  readonly ppm: number | null;
  readonly scraped_millis: string;
  readonly memory_used: number | null;
  readonly memory_total: number | null;
  readonly temperature: number | null;
  readonly memory_temperature: number | null;
  readonly power: number | null;
  readonly power_limit: number | null;
  readonly xid: number;
  readonly double_bit_errors: number;
  readonly is_repair_failed: boolean;
  readonly is_repair_pending: boolean;
  readonly clock_reasons: number;
}

/** Reads the fleet, or a part of it, at a time from the last samples before it and the newest facts. Fails with a `StoreError`. */
export async function readLiveFleet(
  store: Pick<StoreClient, "query">,
  owners: OwnerRules,
  atMillis: number,
  scope: SampleScope = WHOLE_FLEET,
): Promise<LiveFleet> {
  const window = { from: atMillis - WINDOW_MILLIS, until: atMillis, ...scope.parameters };
  const rows = await store.query<SampleRow>(latestSql(scope.samples), window);
  // A pod that held at a time in the past can be gone now.
  const holders = newestSql("workload_facts", "cluster, uid", { where: isHolderSql(scope.samples), having: "1" });
  const [pods, nodes, marksOf] = await Promise.all([
    readFacts<WorkloadFact>(store, holders, window),
    readFacts<InventoryFact>(store, newestSql("inventory_facts", "cluster, node", { where: nodesSql(scope) }), window),
    readNamespaceMarks(store),
  ]);
  const podOf = new Map(pods.map((pod) => [keyOf(pod.cluster, pod.uid), pod]));
  const nodeOf = new Map(nodes.map((node) => [keyOf(node.cluster, node.node), node]));

  function holderOf(row: SampleRow, pod: WorkloadFact | undefined): LiveHolder | undefined {
    if (row.holders === 0) return undefined;
    const holder = {
      namespace: row.holder_namespace,
      name: row.holder_pod,
      uid: row.holder_uid,
      pods: row.holders,
      evidence: row.evidence,
    };
    if (pod === undefined) return holder;
    return {
      ...holder,
      workload: {
        kind: pod.workload.kind,
        name: pod.workload.name,
        type: pod.type,
        team: teamIn(pod),
        queue: pod.queue ?? "",
        sinceMillis: pod.times.scheduled ?? pod.times.created,
      },
    };
  }

  function teamIn(pod: WorkloadFact): string {
    const { cluster, namespace, workload, queue = "", node } = pod;
    const pool = nodeOf.get(keyOf(cluster, node))?.pool ?? "";
    const namespaceMarks = marksOf.get(keyOf(cluster, namespace));
    const subject = { namespace, workload: workload.name, queue, pool, ...podMarks(pod), namespaceMarks };
    return teamOf(owners, subject, atMillis).value;
  }

  function liveGpu(row: SampleRow): LiveGpu {
    const { cluster, node, gpu, gpu_key: device, instance, profile, model } = row;
    const sharing = nodeOf.get(keyOf(cluster, node))?.gpus[0]?.sharing ?? (row.vgpu === "" ? "none" : "time-slicing");
    const pod = podOf.get(keyOf(cluster, row.holder_uid));
    const isInstance = instance !== "" && profile !== "";
    const own = regimeOfDevice({ isInstance, isPartition: instance !== "" && profile === "" }, sharing);
    return {
      cluster,
      node,
      gpu,
      device,
      instance,
      profile,
      model,
      regime: pod === undefined ? own : (regimesOf(pod.asks, sharing)[0] ?? own),
      holder: holderOf(row, pod),
      activityRatio: row.ppm === null ? undefined : row.ppm / 1e6,
      memoryUsedBytes: row.memory_used,
      memoryTotalBytes: row.memory_total,
      temperatureCelsius: row.temperature,
      memoryTemperatureCelsius: row.memory_temperature,
      powerWatts: row.power,
      powerLimitWatts: row.power_limit,
      xid: row.xid,
      troubles: troublesOfGpu({
        xid: row.xid,
        doubleBitErrors: row.double_bit_errors,
        isRepairFailed: row.is_repair_failed,
        isRepairPending: row.is_repair_pending,
        clockReasons: row.clock_reasons,
      }),
      scrapedAtMillis: Number(row.scraped_millis),
    };
  }

  const seen = new Map<string, Set<string>>();
  for (const { cluster, node, gpu_key } of rows) {
    const key = keyOf(cluster, node);
    seen.set(key, (seen.get(key) ?? new Set()).add(gpu_key));
  }
  return {
    atMillis,
    gpus: rows.map(liveGpu),
    unobserved: nodes.flatMap(({ cluster, node, gpus }) => {
      const missing = gpus.reduce((sum, { count }) => sum + count, 0) - (seen.get(keyOf(cluster, node))?.size ?? 0);
      const model = gpus.find((each) => each.model !== undefined)?.model ?? "";
      return missing > 0 ? [{ cluster, node, model, gpus: missing }] : [];
    }),
    nodes,
  };
}

function keyOf(cluster: string, name: string): string {
  return `${cluster}/${name}`;
}
