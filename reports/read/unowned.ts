import { amountOf, formatAmount, lastUnits, type Quantity } from "../../domain/exact/units.ts";
import type { OwnerRules } from "../../domain/owner/compile.ts";
import { podMarks, UNOWNED, type OwnerSubject } from "../../domain/owner/owner.ts";
import type { Marks } from "../../domain/marks.ts";
import { ownersOf } from "../../domain/owner/owners.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** A workload without an owner. Amounts are decimal texts in the currency and in GPU-hours. */
export interface UnownedWorkload {
  readonly namespace: string;
  readonly workloadKind: string;
  readonly workload: string;
  readonly pods: number;
  readonly gpuHours: string;
  readonly cost: string;
  /** Teams that were named and refused: names that are not in the register, or reserved names. */
  readonly refused: readonly string[];
}

/** The workloads that would be unowned over a time, highest cost first, and the cost of all holders. */
export interface UnownedReport {
  readonly workloads: readonly UnownedWorkload[];
  readonly unownedCost: string;
  readonly heldCost: string;
}

const COSTS = `
SELECT cluster, holder, toString(sum(ifNull(effective_cost, 0))) AS cost, toString(sum(gpu_hours)) AS hours
FROM charges_published
WHERE policy = {policy:String} AND holder != ''
  AND from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
GROUP BY cluster, holder`;

const HOLDERS = `
SELECT cluster, each.1 AS holder, argMax(each.2, from_at) AS claim, argMax(JSONExtractString(place, 'pool'), from_at) AS pool
FROM (
  SELECT cluster, from_at, place, arrayJoin(arrayZip(holders, claims)) AS each
  FROM usage_hours_published
  WHERE from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})
)
GROUP BY cluster, holder`;

interface Claim {
  readonly namespace: string;
  readonly workloadKind: string;
  readonly workload: string;
  readonly queue: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly marks?: { readonly pod: Marks; readonly owners: Marks };
  readonly namespaceLabels: Readonly<Record<string, string>>;
  readonly namespaceAnnotations: Readonly<Record<string, string>>;
}

/**
 * Finds the workloads of a time without a team, with their cost under a policy. Holders are as last metered, and the rules are those at the
 * end of the time. Fails with a `StoreError`.
 */
export async function findUnowned(
  store: StoreClient,
  rules: OwnerRules,
  { policy, from, until }: { readonly policy: string; readonly from: number; readonly until: number },
): Promise<UnownedReport> {
  const parameters = { policy, from, until };
  const [costs, holders] = await Promise.all([
    store.query<{ cluster: string; holder: string; cost: string; hours: string }>(COSTS, parameters),
    store.query<{ cluster: string; holder: string; claim: string; pool: string }>(HOLDERS, parameters),
  ]);
  const claims = new Map(holders.map(({ cluster, holder, claim, pool }) => [`${cluster} ${holder}`, { claim, pool }]));
  const found = new Map<string, { claim: Claim; pods: number; hours: bigint; cost: bigint; refused: Set<string> }>();
  let unowned = 0n;
  let held = 0n;
  for (const { cluster, holder, cost, hours } of costs) {
    const described = claims.get(`${cluster} ${holder}`);
    const amount = amountOf(cost);
    held += amount;
    if (described === undefined) continue;
    const claim = JSON.parse(described.claim) as Claim;
    const { owners, refused } = ownersOf(rules, subjectOf(claim, described.pool), until - 1);
    if (owners.team.value !== UNOWNED) continue;
    unowned += amount;
    const key = JSON.stringify([claim.namespace, claim.workloadKind, claim.workload]);
    const known = found.get(key) ?? { claim, pods: 0, hours: 0n, cost: 0n, refused: new Set<string>() };
    found.set(key, known);
    known.pods += 1;
    known.hours += amountOf(hours);
    known.cost += amount;
    for (const { value } of refused) known.refused.add(value);
  }
  const order = [...found.values()].toSorted((a, b) =>
    a.cost === b.cost ? Number(b.hours - a.hours) : a.cost < b.cost ? 1 : -1,
  );
  return {
    workloads: order.map(({ claim: { namespace, workloadKind, workload }, pods, hours, cost, refused }) => ({
      namespace,
      workloadKind,
      workload,
      pods,
      gpuHours: formatAmount(lastUnits<Quantity>(hours)),
      cost: formatAmount(lastUnits<Quantity>(cost)),
      refused: [...refused].toSorted(),
    })),
    unownedCost: formatAmount(lastUnits<Quantity>(unowned)),
    heldCost: formatAmount(lastUnits<Quantity>(held)),
  };
}

function subjectOf(claim: Claim, pool: string): OwnerSubject {
  const { namespace, workload, queue, namespaceLabels, namespaceAnnotations } = claim;
  return {
    namespace,
    workload,
    queue,
    pool,
    ...podMarks(claim),
    namespaceMarks: { labels: namespaceLabels, annotations: namespaceAnnotations },
  };
}
