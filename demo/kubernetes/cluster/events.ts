import { hash, hashText, uuidOf } from "../../fleet/hash.ts";
import type { KubernetesObject } from "../server/object.ts";
import type { PodLife } from "./lives.ts";
import { HOUR, SECOND, timestamp } from "./times.ts";

/** How long an API server keeps events by default (`--event-ttl`). */
const KEPT = HOUR;

/** Returns kubelet's event that a pod's image is there, for an hour from then on; `undefined` before and after. */
export function pulledEvent(
  { pod, uid, node, startMillis, endMillis }: PodLife,
  timeMillis: number,
): KubernetesObject | undefined {
  const key = hashText(node.key, `pulled/${uid}`);
  const at = startMillis - (1 + (hash(key, 1) % 4)) * SECOND;
  if (startMillis >= endMillis || timeMillis < at || timeMillis >= at + KEPT) return undefined;
  const seconds = 1 + (hash(key, 2) % 30);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: `${pod.name}.${key.toString(16)}`,
      namespace: pod.namespace,
      uid: uuidOf(key),
      creationTimestamp: timestamp(at),
    },
    involvedObject: { kind: "Pod", namespace: pod.namespace, name: pod.name, uid, apiVersion: "v1" },
    reason: "Pulled",
    message: `Successfully pulled image in ${seconds}s (${seconds}s including waiting)`,
    source: { component: "kubelet", host: node.name },
    firstTimestamp: timestamp(at),
    lastTimestamp: timestamp(at),
    count: 1,
    type: "Normal",
  };
}
