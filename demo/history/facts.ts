import type { OwnerCache } from "../../collectors/kubernetes/owners/cache.ts";
import { createFactRegistries } from "../../collectors/kubernetes/watcher/fact-registries.ts";
import { createProjector, type Projector } from "../../collectors/kubernetes/watcher/projector.ts";
import type { ProjectionOptions } from "../../collectors/kubernetes/watcher/projector-state.ts";
import type { Sight } from "../../collectors/kubernetes/watcher/fact-registry.ts";
import { FACT_SCHEMA_VERSION } from "../../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { OutgoingMessage } from "../../runtime/bus/bus.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { pulledEvent } from "../kubernetes/cluster/events.ts";
import { livesBetween, type PodLife } from "../kubernetes/cluster/lives.ts";
import { nodeObject } from "../kubernetes/cluster/nodes.ts";
import { machineAt, outagesBetween } from "../kubernetes/cluster/outages.ts";
import { ownerObjects } from "../kubernetes/cluster/owner-objects.ts";
import { podObject } from "../kubernetes/cluster/pods.ts";
import { queueObjects } from "../kubernetes/cluster/queues.ts";
import { MINUTE, SECOND } from "../kubernetes/cluster/times.ts";
import type { KubernetesObject } from "../kubernetes/server/object.ts";
import { pastMessage } from "./messages.ts";
import type { Range } from "./ranges.ts";

/** The term of past facts. It is before every watcher's, so that a watcher's own facts of a pod are preferred. */
const PAST_EPOCH = 0;

/** The kinds with information about gangs and times in queues, by their watched resource. */
const GANG_RESOURCES: Readonly<Record<string, string>> = {
  Workload: "workloads.kueue.x-k8s.io",
  PodGroup: "podgroups.scheduling.volcano.sh",
  JobSet: "jobsets.jobset.x-k8s.io",
  LeaderWorkerSet: "leaderworkersets.leaderworkerset.x-k8s.io",
};

/**
 * Yields the facts that a watcher would have sent for pods that lived in a stretch of the past and ended in it, newest first: each step
 * from a pod's creation to its end, pod by pod. They depend only on the fleet and the pods' own times, so that a repeated fact is
 * identical. Pods that still exist are left to the watcher.
 */
export async function* pastFacts(
  fleet: Fleet,
  [fromMillis, untilMillis]: Range,
  projection: ProjectionOptions,
): AsyncGenerator<readonly OutgoingMessage[]> {
  const lives = livesBetween(fleet, fromMillis, untilMillis)
    .filter(({ goneMillis }) => goneMillis <= untilMillis)
    .toSorted((a, b) => b.goneMillis - a.goneMillis);
  const owners = ownerObjects(fleet, lives, untilMillis);
  // The leader of a group owns the others.
  const leaders = lives.filter(({ pod }) => pod.gang?.leader === pod.uid);
  const leading = leaders.map((life) => podObject(life, life.startMillis, fleet.nodes.length));
  const { projector, taken } = createPastProjector(fleet, WORKLOADS_TOPIC, projection, [...owners, ...leading]);
  for (const object of [...queueObjects(fleet, lives, [], untilMillis), ...owners]) {
    const resource = GANG_RESOURCES[object.kind];
    if (resource !== undefined) await projector.take(resource, object, sightAt(untilMillis));
  }
  for (const life of lives) {
    await tellLife(projector, life, fleet.nodes.length);
    yield taken();
  }
}

/**
 * Returns the facts that a watcher would have sent for machines that were nodes in a stretch of the past and left in it: of spot nodes whose
 * machine was taken away. Machines that are still there are left to the watcher.
 */
export async function pastNodes(
  fleet: Fleet,
  [fromMillis, untilMillis]: Range,
  projection: ProjectionOptions,
): Promise<readonly OutgoingMessage[]> {
  const { projector, taken } = createPastProjector(fleet, INVENTORY_TOPIC, projection, []);
  for (const node of fleet.nodes)
    for (const outage of outagesBetween(node, fromMillis, untilMillis)) {
      const goneMillis = outage.nodeGoneMillis;
      const machine = machineAt(node, goneMillis - SECOND);
      if (machine === undefined || goneMillis > untilMillis) continue;
      for (const at of [Math.max(machine.joinedMillis + MINUTE, fromMillis), outage.fromMillis])
        await projector.take("nodes", nodeObject(node, at)!, sightAt(at));
      projector.gone("nodes", machine.uid, { atMillis: goneMillis, inferred: false }, sightAt(goneMillis));
    }
  return taken();
}

/** Creates a projector whose facts of a topic are those of the past. `taken` returns the facts since it was called last. */
function createPastProjector(
  { cluster }: Fleet,
  topic: string,
  projection: ProjectionOptions,
  owners: readonly KubernetesObject[],
): { readonly projector: Projector; taken(): readonly OutgoingMessage[] } {
  let messages: OutgoingMessage[] = [];
  const registries = createFactRegistries(cluster, { epoch: () => PAST_EPOCH, renew: () => {} }, (of, message) => {
    if (of === topic) messages.push(pastMessage(message.key, message.value, FACT_SCHEMA_VERSION));
  });
  const projector = createProjector({
    registries,
    owners: ownersIn(owners),
    projection,
    onRemarks: () => {},
    signal: new AbortController().signal,
  });
  return {
    projector,
    taken() {
      const all = messages;
      messages = [];
      return all;
    },
  };
}

/** Projects a pod at every moment of a change, and its end. */
async function tellLife(projector: Projector, life: PodLife, nodes: number): Promise<void> {
  const { createdMillis, boundMillis, startMillis, askedToEndMillis, endMillis, goneMillis } = life;
  const moments = [createdMillis, boundMillis, startMillis, askedToEndMillis, endMillis];
  for (const at of moments.filter((each) => each < goneMillis).toSorted((a, b) => a - b)) {
    const pulled = pulledEvent(life, at);
    if (pulled !== undefined) await projector.take("events", pulled, sightAt(at));
    await projector.take("pods", podObject(life, at, nodes), sightAt(at));
  }
  projector.gone("pods", life.uid, { atMillis: goneMillis, inferred: false }, sightAt(goneMillis));
}

function sightAt(atMillis: number): Sight {
  return { resourceVersion: String(atMillis), atMillis };
}

function ownersIn(objects: readonly KubernetesObject[]): OwnerCache {
  const byUid = new Map(objects.map(({ metadata }) => [metadata.uid, metadata]));
  return {
    lookup: ({ uid }) => byUid.get(uid),
    isUnknown: () => false,
    fetch: () => Promise.resolve(),
  };
}
