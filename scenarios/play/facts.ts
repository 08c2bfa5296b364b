import type { PlayedMessage } from "./message.ts";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { FactOrigin } from "../../domain/fact.ts";
import {
  encodeClusterFact,
  encodeInventory,
  encodeWorkload,
  type FactMessage,
} from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { Scenario } from "../files.ts";
import { gangMoments, namespaceMoments, quotaMoments, type ClusterMoment } from "./cluster-facts.ts";
import { claimMoments, sliceMoments } from "./dra-facts.ts";
import { nodeMoments } from "./node-facts.ts";
import { objectFacts } from "./object-facts.ts";
import { podMoments, type PodMoment } from "./pod-facts.ts";
import { reservationMoments, reservationsOf } from "./reservations.ts";
import { beginOf, clusterOf } from "./tenure.ts";

/** A message that is made on demand, because a scenario has many of them. */
interface Moment {
  readonly atMillis: number;
  readonly cluster: string;
  readonly topic: string;
  readonly encode: (origin: FactOrigin) => FactMessage;
}

/**
 * Yields the facts of a scenario as watchers of its clusters would send them, in the order of time: namespaces, nodes, slices, claims,
 * gangs and pods, including those of its files' objects. They begin at the scenario's first moment, which can be before the period, and end
 * at its last. The same scenario gives the same bytes. `epoch` is the watchers' term: facts of a later term come after those of an earlier
 * one.
 */
export function* factsOf(scenario: Scenario, epoch = beginOf(scenario)): Generator<PlayedMessage> {
  const moments = momentsOf(scenario).toSorted((a, b) => a.atMillis - b.atMillis);
  const ofObjects = scenario.files === undefined ? [] : objectFacts(scenario.files, epoch).messages;
  let version = 0;
  let sent = 0;
  for (const { atMillis, cluster, topic, encode } of moments) {
    for (; sent < ofObjects.length && ofObjects[sent]!.atMillis <= atMillis; sent++) yield ofObjects[sent]!;
    version += 1;
    const message = encode({ cluster, epoch, resourceVersion: String(version), seenAtMillis: atMillis });
    yield { topic, atMillis, ...message };
  }
  yield* ofObjects.slice(sent);
}

/** Returns all moments. At one time, objects come after those on which they depend. */
function momentsOf(scenario: Scenario): readonly Moment[] {
  return [
    ...[...namespaceMoments(scenario), ...quotaMoments(scenario)].map(ofCluster),
    ...scenario.nodes.flatMap((node) =>
      nodeMoments(node, scenario).map(({ atMillis, fact }): Moment => ({
        atMillis,
        cluster: node.cluster,
        topic: INVENTORY_TOPIC,
        encode: (origin) => encodeInventory({ ...origin, ...fact }),
      })),
    ),
    ...[...sliceMoments(scenario), ...claimMoments(scenario), ...gangMoments(scenario)].map(ofCluster),
    ...reservationsOf(scenario).flatMap((reservation) =>
      reservationMoments(reservation).map((moment) => ofPod(reservation.node.cluster, moment)),
    ),
    ...scenario.pods.flatMap((pod) => {
      const cluster = clusterOf(pod, scenario);
      return podMoments(pod, scenario).map((moment) => ofPod(cluster, moment));
    }),
  ];
}

function ofCluster({ atMillis, cluster, fact }: ClusterMoment): Moment {
  const encode = (origin: FactOrigin): FactMessage => encodeClusterFact({ ...origin, ...fact } as ClusterFact);
  return { atMillis, cluster, topic: CLUSTER_TOPIC, encode };
}

function ofPod(cluster: string, { atMillis, fact }: PodMoment): Moment {
  const encode = (origin: FactOrigin): FactMessage => encodeWorkload({ ...origin, ...fact() });
  return { atMillis, cluster, topic: WORKLOADS_TOPIC, encode };
}
