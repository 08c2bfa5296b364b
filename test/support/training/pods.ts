import type { RunPod } from "../../../domain/training/run-pod.ts";
import type { NodeSignal } from "../../../domain/training/signals.ts";
import type { EndReason } from "../../../domain/workload.ts";

const DAY = Date.UTC(2026, 2, 2);

/** A time of 2 March 2026 in UTC, `08:30` or `08:30:15`, in milliseconds since the epoch. */
export function clock(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(":").map(Number);
  return DAY + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** A pod that was created and bound at a time, started at another, and ended if an end is given. */
export function runPod(
  name: string,
  [bound, started, ended, reason = "failed"]: readonly [
    bound: string,
    started?: string,
    ended?: string,
    reason?: EndReason,
  ],
  more: Partial<RunPod> = {},
): RunPod {
  return {
    uid: `${name}@${bound}`,
    name,
    node: `node-of-${name}`,
    created: clock(bound),
    bound: clock(bound),
    ...(started === undefined ? {} : { started: clock(started) }),
    ...(ended === undefined ? {} : { end: { at: clock(ended), reason } }),
    restarts: [],
    ...more,
  };
}

/** A fault of a node at a time of 2 March; a hardware XID that blocks, unless something else is given. */
export function fault(node: string, at: string, more: Partial<NodeSignal> = {}): NodeSignal {
  return { cluster: "c", node, at: clock(at), kind: "xid", code: "79", gpu: 0, isBlocking: true, ...more };
}
