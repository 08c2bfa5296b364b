import type { WorkloadFact } from "../../../domain/workload.ts";
import type { KubeObject } from "../projection/kube-object.ts";
import { millisOf } from "../projection/time.ts";
import { text } from "../projection/wire.ts";
import type { FactBody } from "./fact-registry.ts";

/** The times of image pulls, from the kubelet's events with the reason `Pulled`. Pods themselves do not contain them. */
export interface Pulls {
  /** Takes an event. Returns the UID of its pod. */
  take(event: KubeObject): string | undefined;
  /** Returns the fact with the time of its last image pull before its start, if known. */
  addTo(fact: FactBody<WorkloadFact>): FactBody<WorkloadFact>;
}

/** The fields of an Event (`v1`) that are read. The kubelet writes the same event again with a later last time. */
interface EventObject extends KubeObject {
  readonly involvedObject?: { readonly uid?: string } | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** The most pods that are remembered. Most pods are not relevant, and the server drops events after one hour. */
const MOST_PODS = 20_000;

/** Creates an empty set of pulls. */
export function createPulls(): Pulls {
  const pulls = new Map<string, readonly number[]>();
  return {
    take(event: EventObject) {
      const uid = text(event.involvedObject?.uid);
      const at = millisOf(event.firstTimestamp) ?? millisOf(event.eventTime) ?? millisOf(event.lastTimestamp);
      if (uid === undefined || at === undefined) return undefined;
      const known = pulls.get(uid) ?? [];
      pulls.delete(uid);
      if (pulls.size >= MOST_PODS) pulls.delete(pulls.keys().next().value!);
      pulls.set(uid, known.includes(at) ? known : [...known, at]);
      return uid;
    },
    addTo(fact) {
      const { started = Infinity } = fact.times;
      // A pull for a container that restarts comes after the pod's start.
      const before = (pulls.get(fact.uid) ?? []).filter((at) => at <= started);
      if (before.length === 0) return fact;
      const pulled = Math.max(fact.times.pulled ?? 0, ...before);
      return fact.times.pulled === pulled ? fact : { ...fact, times: { ...fact.times, pulled } };
    },
  };
}
