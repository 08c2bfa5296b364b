import type { WorkloadFact } from "../../../domain/workload.ts";
import type { KubeObject } from "../projection/kube-object.ts";
import { millisOf } from "../projection/time.ts";
import { text } from "../projection/wire.ts";
import type { FactBody } from "./fact-book.ts";

/** When images were there, as kubelet's events of the reason `Pulled` tell; pods do not say it themselves. */
export interface Pulls {
  /** Takes an event; what comes out is the UID of the pod that it speaks of. */
  take(event: KubeObject): string | undefined;
  /** The fact with when its last image was there before it started, as far as that is known. */
  addTo(fact: FactBody<WorkloadFact>): FactBody<WorkloadFact>;
}

/** An Event of `v1`, as far as it is read. kubelet writes the same event again with a later last time. */
interface EventObject extends KubeObject {
  readonly involvedObject?: { readonly uid?: string } | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** Most pods are of no interest, and events are forgotten by the server after an hour. */
const MOST_PODS = 20_000;

/** Nothing is known yet. */
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
      // What a container pulls that starts again comes after the pod's start.
      const before = (pulls.get(fact.uid) ?? []).filter((at) => at <= started);
      if (before.length === 0) return fact;
      const pulled = Math.max(fact.times.pulled ?? 0, ...before);
      return fact.times.pulled === pulled ? fact : { ...fact, times: { ...fact.times, pulled } };
    },
  };
}
