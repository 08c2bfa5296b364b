import { ownerKinds } from "../../../collectors/kubernetes/owners/kinds.ts";
import { createFactRegistries } from "../../../collectors/kubernetes/watcher/fact-registries.ts";
import { createProjector } from "../../../collectors/kubernetes/watcher/projector.ts";
import type { ProjectionOptions } from "../../../collectors/kubernetes/watcher/projector-state.ts";
import type { SeenObject } from "../../../collectors/kubernetes/watcher/seen-object.ts";
import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import { decodeClusterFact, decodeInventory, decodeWorkload } from "../../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import { CREATED } from "../kube-objects.ts";

/** The time at which objects are seen: an hour after their creation. */
export const NOW = Date.parse(CREATED) + 3_600_000;

/** Creates a projector, with the facts that it has sent. */
export function projecting(given: Partial<ProjectionOptions> = {}) {
  const workloads: WorkloadFact[] = [];
  const nodes: InventoryFact[] = [];
  const others: ClusterFact[] = [];
  const send = (topic: string, { value }: { readonly value: Uint8Array | null }): void => {
    if (topic === WORKLOADS_TOPIC) workloads.push(decodeWorkload(value!) as WorkloadFact);
    if (topic === CLUSTER_TOPIC) others.push(decodeClusterFact(value!) as ClusterFact);
    if (topic === INVENTORY_TOPIC) nodes.push(decodeInventory(value!) as InventoryFact);
  };
  const projector = createProjector({
    registries: createFactRegistries("test", { epoch: () => 1, renew: () => {} }, send),
    owners: { lookup: () => undefined, isUnknown: () => false, fetch: () => Promise.resolve() },
    projection: { pods: { kinds: ownerKinds() }, nodes: {}, ...given },
    onRemarks: () => {},
    signal: new AbortController().signal,
  });
  let version = 100;
  const take = (resource: string, object: object, atMillis = NOW): Promise<void> =>
    Promise.resolve(
      projector.take(resource, object as SeenObject, { resourceVersion: String((version += 1)), atMillis }),
    );
  return { projector, workloads, nodes, others, take };
}
