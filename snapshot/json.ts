import { formatAmount, type GpuHours, type Money } from "../domain/exact/units.ts";
import { findingJson } from "../domain/practice/finding-json.ts";
import { monthOf } from "./month.ts";
import type { Snapshot } from "./snapshot.ts";

/** Returns a snapshot as JSON. Amounts are exact decimal texts; times are RFC 3339. `prices` is the source of the prices. */
export function snapshotJson(snapshot: Snapshot, prices: string): object {
  const { cluster, atMillis, currency, fleet, total, teams, holders, wastes, practices, unseen, remarks } = snapshot;
  const spend = <Of extends { readonly gpus: GpuHours; readonly cost: Money }>({ gpus, cost, ...rest }: Of) => ({
    ...rest,
    gpus: formatAmount(gpus),
    costPerHour: formatAmount(cost),
    costPerMonth: formatAmount(monthOf(cost)),
  });
  return {
    cluster,
    at: new Date(atMillis).toISOString(),
    currency,
    prices,
    total: { ...spend(total), unpricedGpus: formatAmount(total.unpricedGpus) },
    fleet,
    teams: teams.map(spend),
    workloads: holders.map(({ activity, ...holder }) => ({ ...spend(holder), activity: activity ?? null })),
    wastes: wastes.map(({ activity, ...waste }) => ({ ...spend(waste), activity: activity ?? null })),
    practices: practices.map(findingJson),
    unseen,
    remarks,
  };
}
