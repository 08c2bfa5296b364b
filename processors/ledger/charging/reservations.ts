import type { Charge } from "../../../domain/charge/charge.ts";
import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { NO_WORKLOAD } from "../../../domain/owner/owner.ts";
import type { Marks } from "../../../domain/marks.ts";
import { ownersOf } from "../../../domain/owner/owners.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { Reservation } from "../../../domain/policy/reservation.ts";
import { isWholeGpu } from "../../../domain/vendor.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import { FACT_ORDER } from "../../../runtime/store/schema/facts.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { bySpan, spanParameters } from "../runs/spans-sql.ts";
import { spreadCharges, spreadChargesBy, weightsByQuota, type SpreadCharges } from "../charge/spread-charges.ts";
import { FLEET } from "../../../domain/charge/fleet.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** Selects for each hour the last fact of each object before it, and those within. A ResourceQuota has a fact for each pod that comes or goes. */
const FACTS = `
WITH 'Namespace' AS namespaces, 'ResourceQuota' AS quotas,
  arrayMap(begin -> fromUnixTimestamp64Milli(begin), {begins:Array(Int64)}) AS begins,
  arrayMap(end -> fromUnixTimestamp64Milli(end), {ends:Array(Int64)}) AS ends
SELECT span, fact, toUnixTimestamp64Milli(max(at) OVER (
  PARTITION BY span, kind, uid, epoch ORDER BY version, ended, seen_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS valid_from
FROM cluster_facts FINAL
ARRAY JOIN arrayFilter((each, end) -> at < end, arrayEnumerate(ends), ends) AS span
WHERE cluster = {cluster:String} AND kind IN (namespaces, quotas) AND (at >= begins[span] OR (span, uid, (epoch, version, ended)) IN (
  SELECT span, uid, max((epoch, version, ended))
  FROM cluster_facts
  ARRAY JOIN arrayFilter((each, begin) -> at < begin, arrayEnumerate(begins), begins) AS span
  WHERE cluster = {cluster:String} AND kind IN (namespaces, quotas) GROUP BY span, uid))
ORDER BY ${FACT_ORDER}, uid`;

/** A value from a time on, until the next state. */
interface State<Value> {
  readonly from: number;
  readonly value: Value;
}

/** Spreads the charges of an hour of a cluster by a policy whose spread window is the hour. Fails with a `StoreError`. */
export async function spreadHour(
  store: StoreClient,
  window: WindowOfCluster,
  {
    charges,
    policy,
    owners,
  }: {
    readonly charges: readonly Charge[];
    readonly policy: Policy;
    readonly owners: OwnerRules;
  },
): Promise<SpreadCharges> {
  const { spread } = policy;
  if (spread.by !== "quota" || charges.every(({ payer }) => payer !== "spread")) return spreadCharges(charges, spread);
  return spreadChargesBy(
    charges,
    spread,
    weightsByQuota(charges, spread, await readReservations(store, window, owners)),
  );
}

/**
 * Reads what quotas reserve in an hour of a cluster, by namespace. At each moment it is the smallest number of GPUs among the namespace's
 * ResourceQuotas that limit GPUs, for the namespace's owner at that moment. A unit of an extended resource counts as one GPU. Fails with a
 * `StoreError`.
 */
export async function readReservations(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  owners: OwnerRules,
): Promise<readonly Reservation[]> {
  if (cluster === FLEET) return [];
  const until = windowStart + HOUR_MILLIS;
  const rows = await together(store, readFacts, { cluster, windowStart });
  const quotas = new Map<string, Map<string, State<number | undefined>[]>>();
  const marks = new Map<string, State<Marks>[]>();
  for (const { fact: text, valid_from } of rows) {
    const fact = JSON.parse(text) as ClusterFact;
    const from = Number(valid_from);
    if (fact.kind === "ResourceQuota") {
      const ofNamespace = quotas.get(fact.namespace) ?? new Map<string, State<number | undefined>[]>();
      quotas.set(fact.namespace, ofNamespace);
      const value = fact.end === undefined ? gpusOf(fact.body.hard) : undefined;
      ofNamespace.set(fact.uid, withState(ofNamespace.get(fact.uid), { from, value }));
    } else if (fact.kind === "Namespace" && fact.end === undefined) {
      marks.set(fact.name, withState(marks.get(fact.name), { from, value: fact.body }));
    }
  }
  return [...quotas].map(([namespace, byQuota]): Reservation => {
    const states = [...byQuota.values()];
    const named = marks.get(namespace) ?? [];
    const changes = [...[...states.flat(), ...named].map(({ from }) => from), ...owners.changes];
    const begins = [...new Set([windowStart, ...changes.filter((at) => windowStart < at && at < until)])];
    const pieces = begins
      .toSorted((a, b) => a - b)
      .map((from, index, all) => {
        const gpus = Math.min(...states.flatMap((ofQuota) => valueAt(ofQuota, from) ?? []));
        const namespaceMarks = valueAt(named, from) ?? named[0]?.value;
        const { team, costCenter } = ownersOf(
          owners,
          { ...NO_WORKLOAD, pool: "", namespace, namespaceMarks },
          from,
        ).owners;
        const millis = Number.isFinite(gpus) ? gpus * ((all[index + 1] ?? until) - from) : 0;
        return { team: team.value, costCenter: costCenter.value, millis };
      });
    return { namespace, pieces: pieces.filter(({ millis }) => millis > 0) };
  });
}

interface FactRow {
  readonly fact: string;
  readonly valid_from: string;
}

async function readFacts(
  store: StoreClient,
  windows: readonly WindowOfCluster[],
): Promise<readonly (readonly FactRow[])[]> {
  const hours = windows.map(({ windowStart }) => ({ from: windowStart, until: windowStart + HOUR_MILLIS }));
  const parameters = { cluster: windows[0]!.cluster, ...spanParameters(hours) };
  return bySpan<FactRow>(await store.query(FACTS, parameters), windows);
}

/** Returns the GPUs of a quota; undefined if it limits no GPUs. */
function gpusOf(hard: Readonly<Record<string, number>>): number | undefined {
  const counts = Object.entries(hard).flatMap(([resource, count]) => (isWholeGpu(resource) ? [count] : []));
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

/** Adds a state. A state of a later watcher replaces earlier watchers' states of the same or later times. */
function withState<Value>(states: readonly State<Value>[] = [], state: State<Value>): State<Value>[] {
  return [...states.filter(({ from }) => from < state.from), state];
}

function valueAt<Value>(states: readonly State<Value>[], at: number): Value | undefined {
  return states.findLast(({ from }) => from <= at)?.value;
}
