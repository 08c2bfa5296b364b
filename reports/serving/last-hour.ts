import { amountOf } from "../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import type { SplitRule } from "../../domain/serving/split-rule.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** A model of a service in its last charged hour. Costs are in last units. */
export interface ServedModel {
  readonly cluster: string;
  readonly namespace: string;
  readonly workload: string;
  readonly model: string;
  readonly team: string;
  readonly cost: bigint;
  /** The cost of prefill, decode and inference. */
  readonly busyCost: bigint;
  /** Computed and generated tokens. */
  readonly tokens: bigint;
}

/** The engines of a workload in its last metered hour. */
export interface ServedWorkload {
  readonly cluster: string;
  readonly namespace: string;
  readonly workload: string;
  /** The team that pays most of its cost; empty if nothing of it is charged. */
  readonly team: string;
  /** Pages of engines. */
  readonly engines: number;
  /** Engines that were idle for at least 90 % of their covered time. */
  readonly idleEngines: number;
  /** The idle part of the covered time of all engines, from 0 to 1; null if no page was read. */
  readonly idleRatio: number | null;
  /** The average number of waiting requests of all engines. */
  readonly waiting: number;
}

const MODELS = `
SELECT cluster, namespace, workload, model, team, toString(sum(ifNull(effective_cost, 0))) AS cost,
  toString(sumIf(ifNull(effective_cost, 0), phase IN ('prefill', 'decode', 'inference'))) AS busyCost,
  toString(sum(computed_tokens + generated_tokens)) AS tokens
FROM serving_charges_published
WHERE policy = {policy:String} AND rule = {rule:String} AND hour = fromUnixTimestamp64Milli({hour:Int64})
GROUP BY cluster, namespace, workload, model, team
ORDER BY cluster, namespace, workload, model, team`;

const WORKLOADS = `
SELECT cluster, namespace, workload, any(team) AS team, toFloat64(count()) AS engines,
  toFloat64(countIf(covered_ms > 0 AND idle_ms >= 0.9 * covered_ms)) AS idleEngines,
  if(sum(covered_ms) = 0, NULL, sum(idle_ms) / sum(covered_ms)) AS idleRatio,
  sum(if(covered_ms = 0, 0, waiting_ms / covered_ms)) AS waiting
FROM serving_hours_published
LEFT JOIN (
  SELECT cluster, namespace, workload, argMax(team, cost) AS team FROM (
    SELECT cluster, namespace, workload, team, sum(ifNull(effective_cost, 0)) AS cost FROM serving_charges_published
    WHERE policy = {policy:String} AND rule = {rule:String} AND hour = fromUnixTimestamp64Milli({hour:Int64})
    GROUP BY cluster, namespace, workload, team
  )
  GROUP BY cluster, namespace, workload
) AS payers USING (cluster, namespace, workload)
WHERE kind = 'page' AND workload != '' AND hour = fromUnixTimestamp64Milli({hour:Int64})
GROUP BY cluster, namespace, workload
ORDER BY cluster, namespace, workload`;

/** Reads the services of the hour that ended last before a time. Fails with a `StoreError`. */
export async function readLastHour(
  store: Pick<StoreClient, "query">,
  { policy, rule, now }: { readonly policy: string; readonly rule: SplitRule; readonly now: number },
): Promise<{ readonly models: readonly ServedModel[]; readonly workloads: readonly ServedWorkload[] }> {
  const hour = Math.floor(now / HOUR_MILLIS) * HOUR_MILLIS - HOUR_MILLIS;
  const [models, workloads] = await Promise.all([
    store.query<Record<"cost" | "busyCost" | "tokens", string> & Omit<ServedModel, "cost" | "busyCost" | "tokens">>(
      MODELS,
      { policy, rule, hour },
    ),
    store.query<ServedWorkload>(WORKLOADS, { policy, rule, hour }),
  ]);
  return {
    models: models.map(({ cost, busyCost, tokens, ...of }) => ({
      ...of,
      cost: amountOf(cost),
      busyCost: amountOf(busyCost),
      tokens: BigInt(tokens),
    })),
    workloads,
  };
}
