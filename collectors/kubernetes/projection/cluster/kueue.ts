import type { ClusterFactBodies, GpuAmounts } from "../../../../domain/cluster-fact.ts";
import type {
  ClusterQueueObject,
  FlavorUsageObject,
  KueueWorkloadObject,
  LocalQueueObject,
} from "../cluster-object.ts";
import type { Remarks } from "../remark.ts";
import { millisOf } from "../time.ts";
import { given, objects, text, wholeNumber } from "../wire.ts";
import { addAmount } from "./amounts.ts";

/** Reads a ClusterQueue. Its quota and usage are summed over its flavors. Its parent is its cohort. */
export function readClusterQueue(object: ClusterQueueObject, remarks: Remarks): ClusterFactBodies["Queue"] {
  const { spec, status } = object;
  const quota: Record<string, number> = {};
  for (const group of objects(spec?.resourceGroups)) {
    for (const flavor of objects(group.flavors)) {
      for (const { name, nominalQuota } of objects(flavor.resources)) {
        addAmount(quota, "nominalQuota", text(name) ?? "", nominalQuota, remarks);
      }
    }
  }
  return {
    scheduler: "kueue",
    quota,
    ...readUsage(status?.flavorsUsage, remarks),
    pending: wholeNumber(status?.pendingWorkloads) ?? 0,
    ...given({ parent: text(spec?.cohortName) ?? text(spec?.cohort) }),
  };
}

/** Reads a LocalQueue. It has no own quota. Its parent is its ClusterQueue. */
export function readLocalQueue(object: LocalQueueObject, remarks: Remarks): ClusterFactBodies["Queue"] {
  const { spec, status } = object;
  return {
    scheduler: "kueue",
    quota: {},
    ...readUsage(status?.flavorsUsage ?? status?.flavorUsage, remarks),
    pending: wholeNumber(status?.pendingWorkloads) ?? 0,
    ...given({ parent: text(spec?.clusterQueue) }),
  };
}

/** Reads a Workload: queued since its creation, admitted since its condition Admitted is true. */
export function readKueueWorkload(object: KueueWorkloadObject): ClusterFactBodies["Gang"] {
  const { metadata, spec, status } = object;
  const conditions = objects(status?.conditions);
  const sinceWhen = (type: string): number | undefined => {
    const condition = conditions.find((entry) => entry.type === type && entry.status === "True");
    return condition === undefined ? undefined : (millisOf(condition.lastTransitionTime) ?? 0);
  };
  const phase = ["Finished", "Evicted", "Admitted", "QuotaReserved"].find((type) => sinceWhen(type) !== undefined);
  return {
    made: "Workload",
    size: objects(spec?.podSets).reduce((sum, { count }) => sum + (wholeNumber(count) ?? 1), 0),
    phase: phase ?? "Pending",
    ...given({
      queue: text(spec?.queueName),
      queued: millisOf(metadata?.creationTimestamp),
      admitted: sinceWhen("Admitted"),
    }),
  };
}

function readUsage(
  flavors: readonly FlavorUsageObject[] | null | undefined,
  remarks: Remarks,
): { readonly admitted: GpuAmounts; readonly borrowed: GpuAmounts } {
  const admitted: Record<string, number> = {};
  const borrowed: Record<string, number> = {};
  for (const flavor of objects(flavors)) {
    for (const { name, total, borrowed: lent } of objects(flavor.resources)) {
      addAmount(admitted, "flavorsUsage", text(name) ?? "", total ?? 0, remarks);
      addAmount(borrowed, "flavorsUsage", text(name) ?? "", lent ?? 0, remarks);
    }
  }
  return { admitted, borrowed };
}
