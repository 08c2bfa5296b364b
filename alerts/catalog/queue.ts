import { state } from "../series/state.ts";
import { keysOf } from "../series/keys.ts";
import { PACE_MILLIS } from "../paces.ts";
import { type AlertDefinition } from "./definition.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";

export const QUEUE_ALERTS: readonly AlertDefinition[] = [
  {
    group: "queue",
    everyMillis: PACE_MILLIS.twoMinutes,
    name: "GPUPodsPending",
    sources: ["kube-state-metrics"],
    subject: "pod",
    severity: "info",
    notify: "none",
    forMillis: 30 * MINUTE_MILLIS,
    expr: (options) => `pod:gpu_requests:count
and on (${keysOf(options).pod.join(", ")}) (${state(options, "kube_pod_status_phase", 'phase="Pending"')} == 1)`,
    summary: "A pod waits for GPUs.",
    description:
      "Pod {{ $labels.namespace }}/{{ $labels.pod }} has waited for {{ $value }} GPUs, or parts of them, for more than half an hour.",
  },
];
