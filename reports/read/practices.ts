import type { ClusterFact } from "../../domain/cluster-fact.ts";
import { amountOf } from "../../domain/exact/units.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import type { Finding } from "../../domain/practice/check.ts";
import { findingsOf } from "../../domain/practice/checks.ts";
import { gatherPractices, type GrantUse, type PracticeRecords } from "../../domain/practice/gather.ts";
import { DAY_MILLIS, MINUTE_MILLIS, hourOf } from "../../domain/time.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";
import type { PracticesConfig } from "../../runtime/config/practices.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { FACT_ORDER, ofNewestFact } from "../../runtime/store/schema/facts.ts";
import { maySeeTeam, seesAll, type Viewer } from "../access/viewer.ts";
import { newestSql, readFacts } from "./newest-facts.ts";

/** The charges of workloads and nodes over the days of the practices. */
export type PracticeSpends = Pick<PracticeRecords, "workloadSpends" | "nodeSpends">;

type Store = Pick<StoreClient, "query">;

/** SQL for pods that have not ended. The narrow columns select them first, because `fact` is long. */
const PODS = newestSql("workload_facts", "cluster, uid", {
  where: `(cluster, uid) IN (
    SELECT cluster, uid FROM workload_facts GROUP BY cluster, uid
    HAVING ${ofNewestFact("ended")} = 0 AND ${ofNewestFact("phase")} NOT IN ('Succeeded', 'Failed'))`,
});
/**
 * SQL for the workloads with pods that have a limit of time and have succeeded since a time: the 500 pods that ended last, each once,
 * because the times of a pod stay the same from its last phase on. The JSON of a fact is read once.
 */
const LIMITED = `
WITH JSONExtract(pods.fact, 'Tuple(deadlineSeconds UInt64, owners Array(Tuple(kind String, uid String)),
  asks Array(Tuple(kind String, count UInt32)))') AS parts
SELECT argMax(pods.fact, (finished_at, ${FACT_ORDER})) AS fact,
  arraySlice(arrayReverseSort(pod -> pod.3, groupUniqArray((
    if(parts.owners[1].kind = 'Job', parts.owners[1].uid, uid),
    toFloat64(toUnixTimestamp64Milli(assumeNotNull(ifNull(scheduled_at, started_at)))),
    toFloat64(toUnixTimestamp64Milli(assumeNotNull(finished_at))),
    toFloat64(parts.deadlineSeconds),
    toFloat64(arraySum(ask -> if(ask.kind = 'gpu', ask.count, 0), parts.asks)),
    uid
  ))), 1, 500) AS succeeded
FROM workload_facts AS pods
WHERE phase = 'Succeeded' AND started_at IS NOT NULL AND finished_at >= fromUnixTimestamp64Milli({from:Int64})
  AND position(pods.fact, '"deadlineSeconds":') > 0
GROUP BY cluster, namespace, workload_kind, workload
ORDER BY max(finished_at) DESC LIMIT 5000`;
const NODES = newestSql("inventory_facts", "cluster, node", {
  having: `${ofNewestFact("ended")} = 0 OR max(at) >= fromUnixTimestamp64Milli({from:Int64})`,
});
const CLUSTER = newestSql("cluster_facts", "cluster, kind, uid", {
  where: "kind IN ('Namespace', 'ResourceQuota', 'LimitRange', 'PriorityClass', 'Queue')",
});

/** SQL for the most of each granted resource that was in use at once since a time, of grants that are older and whose use is known. */
const GRANT_USES = `
SELECT cluster, uid, resource,
  greatest(maxIf(used, at >= fromUnixTimestamp64Milli({from:Int64})), argMaxIf(used, (${FACT_ORDER}), at < fromUnixTimestamp64Milli({from:Int64}))) AS most
FROM (
  SELECT cluster, uid, at, ${FACT_ORDER}, resource,
    JSONExtractFloat(fact, 'body', if(kind = 'Queue', 'admitted', 'used'), resource) AS used
  FROM cluster_facts
  ARRAY JOIN JSONExtractKeys(fact, 'body', if(kind = 'Queue', 'quota', 'hard')) AS resource
  WHERE kind IN ('ResourceQuota', 'Queue') AND NOT ended AND (kind = 'Queue' OR JSONHas(fact, 'body', 'used', resource))
)
GROUP BY cluster, uid, resource
HAVING min(at) < fromUnixTimestamp64Milli({from:Int64})`;

/** SQL for the charges of each workload, in rows without a node, and of each node. */
const SPENDS = `
SELECT toBool(grouping(node) = 1) AS isOfWorkload, cluster, node, namespace, workload_kind AS kind, workload AS name,
  toString(sum(ifNull(effective_cost, 0))) AS cost,
  toString(sumIf(ifNull(effective_cost, 0), state = 'idle')) AS idle,
  toString(sumIf(ifNull(effective_cost, 0), state = 'waiting')) AS waiting,
  toString(sumIf(ifNull(effective_cost, 0), state = 'unallocated')) AS unallocated,
  toString(sumIf(ifNull(effective_cost, 0), state = 'stranded')) AS stranded,
  toString(sum(gpu_hours)) AS gpuHours, toString(sumIf(gpu_hours, holder != '')) AS heldGpuHours,
  toString(sumIf(gpu_hours, state = 'unallocated')) AS unallocatedGpuHours
FROM charges_published
WHERE policy = {policy:String} AND ({all:Bool} OR team IN {teams:Array(String)})
  AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
GROUP BY GROUPING SETS ((cluster, node), (cluster, namespace, workload_kind, workload))`;

/** How long samples are read for the counters that an exporter has, and scrapes for whether it has any. */
const SAMPLES_MILLIS = 15 * MINUTE_MILLIS;
const TELEMETRY = `
SELECT cluster, node, toFloat64(max(devices)) AS devices, toFloat64(sum(samples)) AS samples, toFloat64(sum(profiled)) AS profiled
FROM (
  SELECT cluster, node, max(devices) AS devices, 0 AS samples, 0 AS profiled FROM scrapes
  WHERE scraped_at >= fromUnixTimestamp64Milli({day:Int64}) AND failure = '' GROUP BY cluster, node
  UNION ALL
  SELECT cluster, node, 0, count(),
    countIf(gr_engine_active_ratio IS NOT NULL OR sm_active_ratio IS NOT NULL OR dram_active_ratio IS NOT NULL)
  FROM gpu_samples
  WHERE scraped_at >= fromUnixTimestamp64Milli({last:Int64}) AND scraped_at <= fromUnixTimestamp64Milli({now:Int64})
  GROUP BY cluster, node)
GROUP BY cluster, node`;

interface SpendRow {
  readonly isOfWorkload: boolean;
  readonly cluster: string;
  readonly node: string;
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly cost: string;
  readonly idle: string;
  readonly waiting: string;
  readonly unallocated: string;
  readonly stranded: string;
  readonly gpuHours: string;
  readonly heldGpuHours: string;
  readonly unallocatedGpuHours: string;
}

interface LimitedRow {
  readonly fact: string;
  readonly succeeded: readonly (readonly [
    run: string,
    begun: number,
    finished: number,
    limitSeconds: number,
    gpus: number,
  ])[];
}

interface TelemetryRow {
  readonly cluster: string;
  readonly node: string;
  /** The most devices of a scrape, and the numbers of samples and of those with a counter of profiling. */
  readonly devices: number;
  readonly samples: number;
  readonly profiled: number;
}

/**
 * Reads the published charges of whole days under the billing policy, as far as a viewer may see them. A team that had a workload before
 * keeps its charges for itself. Fails with a `StoreError`.
 */
export async function readPracticeSpends(
  store: Store,
  { policies }: Ledger,
  { teams }: Viewer,
  { now, days }: { readonly now: number; readonly days: number },
): Promise<PracticeSpends> {
  const until = hourOf(now);
  const rows = await store.query<SpendRow>(SPENDS, {
    policy: policies[0].name,
    all: teams === "all",
    teams: teams === "all" ? [] : teams,
    from: until - days * DAY_MILLIS,
    until,
  });
  const spends = rows.map((row) => ({
    ...row,
    cost: amountOf<"currency">(row.cost),
    idle: amountOf<"currency">(row.idle),
    waiting: amountOf<"currency">(row.waiting),
    unallocated: amountOf<"currency">(row.unallocated),
    stranded: amountOf<"currency">(row.stranded),
    gpuHours: amountOf<"gpu-hour">(row.gpuHours),
    heldGpuHours: amountOf<"gpu-hour">(row.heldGpuHours),
    unallocatedGpuHours: amountOf<"gpu-hour">(row.unallocatedGpuHours),
  }));
  return {
    workloadSpends: spends.filter(({ isOfWorkload, name }) => isOfWorkload && name !== ""),
    nodeSpends: spends.filter(({ isOfWorkload, node }) => !isOfWorkload && node !== ""),
  };
}

/**
 * Checks the practices of all clusters at a time on the newest facts, as far as a viewer may see the findings: those of the own teams, or
 * all. Fails with a `StoreError`.
 */
export async function readPractices(
  store: Store,
  of: {
    readonly ledger: Ledger;
    readonly practices: PracticesConfig;
    readonly viewer: Viewer;
    /** Milliseconds since the epoch. */
    readonly now: number;
    readonly spends: PracticeSpends;
  },
): Promise<readonly Finding[]> {
  const { ledger, practices, viewer, now, spends } = of;
  const { days, off } = practices;
  const from = now - days * DAY_MILLIS;
  const migMeasure = ledger.policies[0].migShare;
  const [pods, limited, nodes, cluster, grantUses, telemetry] = await Promise.all([
    readFacts<WorkloadFact>(store, PODS),
    store.query<LimitedRow>(LIMITED, { from }),
    readFacts<InventoryFact>(store, NODES, { from }),
    readFacts<ClusterFact>(store, CLUSTER),
    store.query<GrantUse>(GRANT_USES, { from }),
    store.query<TelemetryRow>(TELEMETRY, { day: now - DAY_MILLIS, last: now - SAMPLES_MILLIS, now }),
  ]);
  const measured = telemetry.map(({ devices, samples, profiled, ...row }) => ({
    ...row,
    hasSamples: devices > 0,
    hasProfiling: samples === 0 ? undefined : profiled > 0,
  }));
  const facts = gatherPractices(
    {
      now,
      days,
      migMeasure,
      pods,
      limited: limited.map(limitedOf),
      nodes,
      cluster,
      grantUses,
      telemetry: measured,
      ...spends,
    },
    ledger.owners,
  );
  return findingsOf(facts, off).filter(
    ({ team }) => seesAll(viewer) || (team !== undefined && maySeeTeam(viewer, team)),
  );
}

function limitedOf({ fact, succeeded }: LimitedRow): PracticeRecords["limited"][number] {
  return {
    newest: JSON.parse(fact) as WorkloadFact,
    ended: succeeded.map(([run, begun, finished, limitSeconds, gpus]) => ({
      run,
      begun,
      finished,
      limitSeconds,
      gpus,
    })),
  };
}

/** The conditions on findings; an absent one is met by all. */
export interface FindingFilter {
  readonly check?: string | undefined;
  readonly severity?: string | undefined;
  readonly team?: string | undefined;
}

/** Returns the findings that meet all conditions. */
export function filteredFindings(
  findings: readonly Finding[],
  { check, severity, team }: FindingFilter,
): readonly Finding[] {
  return findings.filter(
    (finding) =>
      (check === undefined || finding.check === check) &&
      (severity === undefined || finding.severity === severity) &&
      (team === undefined || finding.team === team),
  );
}
