import type { ClusterFact } from "../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import {
  decodeInventory,
  decodeWorkload,
  encodeClusterFact,
  encodeInventory,
  encodeWorkload,
} from "../../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import type { PlayedMessage } from "../../../scenarios/play/message.ts";
import { uuidOf } from "../../../scenarios/play/identity.ts";
import type { PlacedMessage } from "../play.ts";

/** A change of a fact from a time on: of the pod of a name that exists then, of a node, or of a TrainJob's progress. */
export type FactChange =
  | { readonly at: number; readonly pod: string; readonly change: Changes<WorkloadFact> }
  | { readonly at: number; readonly node: string; readonly change: Partial<InventoryFact> }
  | { readonly at: number; readonly trainJob: string; readonly namespace: string; readonly progress: number };

/** Times that a change lacks stay. */
type Changes<Fact extends { readonly times: object }> = Partial<Omit<Fact, "times">> & {
  readonly times?: Partial<Fact["times"]>;
};

type Changed = { readonly fact: WorkloadFact | InventoryFact; readonly isPod: boolean };

/**
 * Returns the messages of a scenario with the facts that the changes make. A pod and a node keep a change in all later facts. Facts of pods
 * and nodes get new versions, in the order of the messages.
 */
export function withChanges(
  messages: readonly PlayedMessage[],
  changes: readonly FactChange[],
  cluster = "default",
): readonly PlacedMessage[] {
  const waiting = changes.toSorted((a, b) => a.at - b.at);
  const played: PlayedMessage[] = [];
  const newest = new Map<string, Changed>();
  const kept = new Map<string, object>();
  let version = 0;

  function send(key: string, of: WorkloadFact | InventoryFact, isPod: boolean): void {
    const { times, ...change } = (kept.get(key) ?? {}) as Partial<WorkloadFact>;
    const changed = isPod ? { times: { ...(of as WorkloadFact).times, ...times } } : {};
    const resourceVersion = String((version += 1));
    const fact = { ...of, ...change, ...changed, resourceVersion } as WorkloadFact & InventoryFact;
    newest.set(key, { fact, isPod });
    const atMillis = fact.seenAtMillis;
    const message = isPod ? encodeWorkload(fact) : encodeInventory(fact);
    played.push({ topic: isPod ? WORKLOADS_TOPIC : INVENTORY_TOPIC, atMillis, ...message });
  }

  function apply(change: FactChange): void {
    if ("trainJob" in change) return void played.push(trainJobMessage(change, cluster, (version += 1)));
    const [name, isPod] = "pod" in change ? [change.pod, true] : [change.node, false];
    const found = [...newest].findLast(
      ([, { fact, isPod: of }]) => of === isPod && (isPod ? (fact as WorkloadFact).name : fact.node) === name,
    );
    if (found === undefined) throw new Error(`there is no ${name} at ${new Date(change.at).toISOString()}`);
    const [key, { fact }] = found;
    kept.set(key, { ...kept.get(key), ...change.change });
    send(key, { ...fact, seenAtMillis: change.at }, isPod);
  }

  for (const message of messages) {
    while (waiting[0] !== undefined && waiting[0].at < message.atMillis) apply(waiting.shift()!);
    if (message.topic === WORKLOADS_TOPIC) {
      const fact = decodeWorkload(message.value) as WorkloadFact;
      send(fact.uid, fact, true);
    } else if (message.topic === INVENTORY_TOPIC) {
      const fact = decodeInventory(message.value) as InventoryFact;
      send(`node ${fact.node}`, fact, false);
    } else played.push(message);
    while (waiting[0]?.at === message.atMillis && isLastOf(messages, message)) apply(waiting.shift()!);
  }
  waiting.forEach(apply);
  return played.map((message, index) => ({ ...message, offset: index + 1 }));
}

function isLastOf(messages: readonly PlayedMessage[], message: PlayedMessage): boolean {
  return messages[messages.indexOf(message) + 1]?.atMillis !== message.atMillis;
}

function trainJobMessage(
  { at, trainJob: name, namespace, progress }: Extract<FactChange, { readonly trainJob: string }>,
  cluster: string,
  version: number,
): PlayedMessage {
  const fact: ClusterFact = {
    cluster,
    epoch: 1,
    resourceVersion: String(version),
    seenAtMillis: at + 2_000,
    kind: "TrainJob",
    resource: "trainjobs.trainer.kubeflow.org",
    namespace,
    name,
    uid: uuidOf("owner", cluster, namespace, "TrainJob", name),
    body: { progress, since: at },
  };
  return { topic: CLUSTER_TOPIC, atMillis: at + 2_000, ...encodeClusterFact(fact) };
}
