import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import type { BlockedCharge } from "../../domain/training/incident.ts";
import { signalsOfBlocked } from "../../domain/training/incident.ts";
import { goodStatus, type NodeCondition } from "../../domain/inventory.ts";
import { conditionSignal, xidSignal, type NodeSignal } from "../../domain/training/signals.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql, sqlOfLines, type Filter } from "../question/question.ts";
import { amountSums, amountsOfRow } from "./read-charges.ts";

type Store = Pick<StoreClient, "query">;

/** The place and the time of a question about faults. */
export interface FaultScope {
  readonly clusters: readonly string[] | "all";
  readonly nodes: readonly string[] | "all";
  /** The begins of the hours, milliseconds since the epoch, at least one. The hour before the first is read too. */
  readonly hours: readonly number[];
}

/** Signals of faults, and the GPUs that could not be used. */
export interface ReadFaults {
  /** In order of time. */
  readonly signals: readonly NodeSignal[];
  readonly blocked: readonly BlockedCharge[];
}

/** SQL for the GPUs that could not be used. The amounts are those of the lines that the viewer may see. */
const blockedSql = (where: string, amountsIf: string): string => `
SELECT cluster, node, slot, because, toFloat64(toUnixTimestamp64Milli(from_at)) AS \`from\`,
  toFloat64(toUnixTimestamp64Milli(until_at)) AS until, ${amountSums(amountsIf)} AS sums
FROM charges_published
WHERE ${where} AND state = 'unavailable' AND from_at >= ${momentSql("from")} AND from_at < ${momentSql("until")}
GROUP BY cluster, node, slot, because, \`from\`, until`;

/**
 * SQL for the XIDs that GPUs began to show. Exporters show the last XID until the next, so only a change counts. Of all nodes, only GPUs are
 * read whose hours have an XID.
 */
const xidsSql = (where: string, isOfAll: boolean): string => `
SELECT cluster, node, gpu, code, at
FROM (
  SELECT cluster, node, gpu, toFloat64(toUnixTimestamp64Milli(scraped_at)) AS at, toUInt32(ifNull(xid_code, 0)) AS code,
    lagInFrame(toNullable(code)) OVER gpu_samples_of AS before, lagInFrame(at) OVER gpu_samples_of AS before_at
  FROM gpu_samples
  WHERE ${where} AND scraped_at >= ${momentSql("from")} AND scraped_at < ${momentSql("until")} AND NOT repeats_gpu ${
    isOfAll
      ? `AND (cluster, node, gpu_key) IN (
      SELECT cluster, node, gpu_key FROM gpu_hours_published
      WHERE ${where} AND bucket >= ${momentSql("from")} AND bucket < ${momentSql("until")} AND notEmpty(xid_codes))`
      : `AND toStartOfHour(scraped_at, 'UTC') IN {hours:Array(DateTime('UTC'))}`
  }
  WINDOW gpu_samples_of AS (PARTITION BY cluster, node, gpu_key ORDER BY scraped_at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW))
WHERE code > 0 AND before IS NOT NULL AND code != before AND at - before_at < ${HOUR_MILLIS}`;

/** SQL for conditions of Nodes other than Ready. */
const conditionsSql = (where: string): string => `
SELECT DISTINCT cluster, node, JSONExtractRaw(fact, 'conditions') AS conditions
FROM inventory_facts
WHERE ${where} AND NOT ended AND at >= ${momentSql("from")} AND at < ${momentSql("until")}
  AND countSubstrings(fact, '"reason":') > 1`;

type OfNode = Pick<NodeSignal, "cluster" | "node">;

/**
 * Reads the faults of nodes: GPUs that became unavailable (hardware XIDs, nodes that are not ready, unhealthy and tainted devices), other
 * XIDs in samples, and conditions. XIDs of samples are known as long as raw samples are kept. Fails with a `StoreError`.
 */
export async function readFaults(
  store: Store,
  { clusters, nodes, hours }: FaultScope,
  { policy, where: conditions }: { readonly policy: string; readonly where: readonly Filter[] },
): Promise<ReadFaults> {
  const first = hours.reduce((least, hour) => Math.min(least, hour));
  const last = hours.reduce((most, hour) => Math.max(most, hour));
  const seen = sqlOfLines({ policy, where: conditions });
  const parameters = {
    ...seen.parameters,
    clusters: clusters === "all" ? [] : clusters,
    nodes: nodes === "all" ? [] : nodes,
    hours: [...new Set(hours.flatMap((hour) => [hour - HOUR_MILLIS, hour]))].map((hour) => hour / 1000),
    from: first - HOUR_MILLIS,
    until: last + HOUR_MILLIS,
  };
  const where = [
    ...(clusters === "all" ? [] : ["cluster IN {clusters:Array(String)}"]),
    ...(nodes === "all" ? [] : ["node IN {nodes:Array(String)}"]),
    "true",
  ].join(" AND ");
  const ofPolicy = `policy = {policy:String} AND ${where}`;
  const [unavailable, xids, ofNodes] = await Promise.all([
    store.query<OfNode & BlockedRow>(blockedSql(ofPolicy, seen.where), parameters),
    store.query<OfNode & { gpu: string; code: number; at: number }>(xidsSql(where, nodes === "all"), parameters),
    store.query<OfNode & { conditions: string }>(conditionsSql(where), parameters),
  ]);
  const blocked = unavailable.map(({ slot, sums, ...row }): BlockedCharge => ({
    ...row,
    gpu: slot ?? undefined,
    amounts: amountsOfRow(sums),
  }));
  const own = new Set(hours);
  const signals = [
    ...signalsOfBlocked(blocked, first),
    ...xids.map(({ gpu, code, at, ...of }) =>
      xidSignal({ ...of, at }, /^\d+$/.test(gpu) ? Number(gpu) : undefined, code),
    ),
    ...ofNodes.flatMap(({ conditions: json, ...of }) =>
      (JSON.parse(json) as readonly NodeCondition[]).flatMap(({ type, status, since }) =>
        type === "Ready" || status === "Unknown" || status === goodStatus(type)
          ? []
          : [conditionSignal({ ...of, at: since }, type)],
      ),
    ),
  ].filter(({ at }) => own.has(hourOf(at)));
  return {
    signals: signals.toSorted((a, b) => a.at - b.at),
    blocked: blocked.filter(({ from }) => from >= first),
  };
}

interface BlockedRow {
  readonly slot: number | null;
  readonly because: string;
  readonly from: number;
  readonly until: number;
  readonly sums: readonly string[];
}
