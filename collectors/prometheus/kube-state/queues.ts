import type { FlavorUsageObject } from "../../kubernetes/projection/cluster-object.ts";
import type { SeenObject } from "../../kubernetes/watcher/seen-object.ts";
import { livesOf } from "./lives.ts";
import type { Played } from "./play.ts";
import type { Presence } from "./presence.ts";
import { labelOf, rowsByObject, type Row } from "./row.ts";
import type { States } from "./states.ts";

const NOMINAL = "kueue_cluster_queue_nominal_quota";
const USAGE = "kueue_cluster_queue_resource_usage";
const PENDING = "kueue_pending_workloads";
const LOCAL_USAGE = "kueue_local_queue_resource_usage";
const LOCAL_PENDING = "kueue_local_queue_pending_workloads";

/**
 * Returns the lives of Kueue's queues (https://kueue.sigs.k8s.io/docs/reference/metrics/). Their UIDs and creation times are not exported, so
 * they end with the import. A LocalQueue's ClusterQueue is not exported. `presence` is that of Kueue's own series.
 */
export function* importedQueues(rows: readonly Row[], presence: Presence): Generator<Played> {
  const cluster = new Set([NOMINAL, USAGE, PENDING]);
  const byName = rowsByObject(rows, (row) =>
    cluster.has(row.metric) ? labelOf(row, "cluster_queue") || undefined : undefined,
  );
  for (const [name, ofQueue] of byName)
    yield* playedOf(ofQueue, presence, { resource: "clusterqueues.kueue.x-k8s.io", name }, (states, at) =>
      clusterQueueAt(states, at),
    );
  const local = new Set([LOCAL_USAGE, LOCAL_PENDING]);
  const byLocalName = rowsByObject(rows, (row) =>
    local.has(row.metric) ? `${labelOf(row, "namespace")}/${labelOf(row, "name")}` : undefined,
  );
  for (const ofQueue of byLocalName.values()) {
    const [namespace, name] = [labelOf(ofQueue[0]!, "namespace"), labelOf(ofQueue[0]!, "name")];
    const queue = { resource: "localqueues.kueue.x-k8s.io", namespace, name };
    yield* playedOf(ofQueue, presence, queue, (states, at) => ({
      kind: "LocalQueue",
      status: {
        pendingWorkloads: pendingAt(states, LOCAL_PENDING, at),
        flavorsUsage: usageAt(states, LOCAL_USAGE, at),
      },
    }));
  }
}

function* playedOf(
  rows: readonly Row[],
  presence: Presence,
  { resource, namespace, name }: { readonly resource: string; readonly namespace?: string; readonly name: string },
  bodyAt: (states: States, atMillis: number) => object,
): Generator<Played> {
  const uid = `imported/${resource}/${namespace ?? ""}/${name}`;
  const metadata = { name, uid, ...(namespace === undefined ? {} : { namespace }) };
  for (const life of livesOf(rows, { info: "", created: "" }, presence)) {
    const objectAt = (atMillis: number): SeenObject => ({
      apiVersion: "kueue.x-k8s.io/v1beta1",
      metadata,
      ...bodyAt(life.states, atMillis),
    });
    yield { resource, uid, life, moments: [], objectAt, endsWithImport: true };
  }
}

function clusterQueueAt(states: States, atMillis: number): object {
  const flavors = usageAt(states, NOMINAL, atMillis);
  const cohort = [NOMINAL, USAGE]
    .flatMap((metric) => states.rows(metric))
    .map((row) => labelOf(row, "cohort"))
    .find((each) => each !== "");
  return {
    kind: "ClusterQueue",
    spec: {
      ...(cohort === undefined ? {} : { cohort }),
      resourceGroups: [
        {
          flavors: flavors.map(({ resources }) => ({
            resources: (resources ?? []).map(({ name, total }) => ({
              ...(name === undefined ? {} : { name }),
              nominalQuota: total,
            })),
          })),
        },
      ],
    },
    status: { pendingWorkloads: pendingAt(states, PENDING, atMillis), flavorsUsage: usageAt(states, USAGE, atMillis) },
  };
}

/**
 * Returns the amounts of each flavor. Above the nominal quota of its flavor, usage is borrowed. Several replicas of Kueue have the same
 * amounts, of which one counts.
 */
function usageAt(states: States, metric: string, atMillis: number): readonly FlavorUsageObject[] {
  const flavors = new Map<string, Map<string, { readonly total: string; readonly borrowed: string }>>();
  for (const row of states.rows(metric)) {
    const labels = { flavor: labelOf(row, "flavor"), resource: labelOf(row, "resource") };
    const total = states.valueAt(metric, atMillis, labels);
    if (total === undefined) continue;
    const nominal = metric === USAGE ? (states.valueAt(NOMINAL, atMillis, labels) ?? total) : total;
    const amounts =
      flavors.get(labels.flavor) ?? new Map<string, { readonly total: string; readonly borrowed: string }>();
    amounts.set(labels.resource, { total: String(total), borrowed: String(Math.max(0, total - nominal)) });
    flavors.set(labels.flavor, amounts);
  }
  return [...flavors].map(([name, amounts]) => ({
    name,
    resources: [...amounts].map(([resource, amount]) => ({ name: resource, ...amount })),
  }));
}

/** Returns the number of waiting workloads: those that wait for quota and those that cannot be admitted. */
function pendingAt(states: States, metric: string, atMillis: number): number {
  const statuses = new Set(states.rows(metric).map((row) => labelOf(row, "status")));
  return [...statuses].reduce((sum, status) => sum + (states.valueAt(metric, atMillis, { status }) ?? 0), 0);
}
