import type { Scenario } from "../files.ts";
import { devicesOf, groupName } from "./asks.ts";
import { gpuUuid, uuidOf } from "./identity.ts";
import type { PodBody, PodMoment } from "./pod-facts.ts";
import { tenureOf, type ScenarioNode, type Span } from "./tenure.ts";

/** KAI's namespace for pods that hold a GPU for a group of fractions. */
const NAMESPACE = "kai-resource-reservation";

/** A pod that holds a GPU for a group of pods, and nothing for itself. The exporter names it, because the kubelet allocated the GPU to it. */
export interface Reservation extends Span {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: ScenarioNode;
  readonly gpu: number;
  readonly group: string;
}

/** Returns the reservation pods of a scenario: one for each GPU of a group, from its first pod's binding until its last pod's end. */
export function reservationsOf(scenario: Scenario): readonly Reservation[] {
  const found = new Map<string, Reservation>();
  for (const pod of scenario.pods) {
    const tenure = tenureOf(pod, scenario);
    const node = scenario.nodes.find(({ name }) => name === pod.node);
    if (pod.group === undefined || tenure === undefined || node === undefined) continue;
    for (const { gpu } of devicesOf(pod)) {
      const group = groupName(pod.group, gpu);
      const key = JSON.stringify([node.name, group]);
      const { from, until } = found.get(key) ?? tenure;
      found.set(key, {
        namespace: NAMESPACE,
        name: `gpu-reservation-${node.name}-${group}`,
        uid: uuidOf("reservation", node.cluster, node.name, group),
        node,
        gpu,
        group,
        from: Math.min(from, tenure.from),
        until: Math.max(until, tenure.until),
      });
    }
  }
  return [...found.values()];
}

/** Returns the facts of a reservation pod, as a watcher would send them. */
export function reservationMoments({
  namespace,
  name,
  uid,
  node,
  gpu,
  group,
  from,
  until,
}: Reservation): readonly PodMoment[] {
  const body: PodBody = {
    uid,
    namespace,
    name,
    node: node.name,
    owners: [],
    ownersTruncated: false,
    workload: { kind: "Pod", name },
    type: "other",
    phase: "Running",
    times: { created: from, scheduled: from, started: from, ready: from },
    restarts: 0,
    asks: [],
    evidence: [{ by: "reservation", group, uuid: gpuUuid(node, gpu) }],
    labels: {},
    annotations: {},
    nodeSelector: {},
    tolerations: [],
  };
  const running = { atMillis: from, fact: () => body };
  if (until === Infinity) return [running];
  const end = { atMillis: until, inferred: false };
  return [running, { atMillis: until, fact: () => ({ ...body, endReason: "deleted", end }) }];
}
