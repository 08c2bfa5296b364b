import type { QueueBoard } from "../../processors/live/queue-board.ts";
import { viewQueue, type QueueView } from "../../domain/queue/view.ts";
import type { LeaderJob } from "./jobs.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

/** The interval of updates. Ages are minutes; seconds do not matter. */
const REFRESH_MILLIS = 5_000;

/** Shows the queue of the board, as a view and as metrics. Other processors have the same data, but only the leader reports it. */
export function queueJob(board: QueueBoard, metrics: Metrics): LeaderJob & { view(): QueueView | undefined } {
  let view: QueueView | undefined;
  const gauges = [
    metrics.pendingPods,
    metrics.pendingDevices,
    metrics.pendingOldest,
    metrics.gangsHolding,
    metrics.gangDevices,
    metrics.quotaDevices,
    metrics.queueDevices,
  ];

  function clear(): void {
    view = undefined;
    for (const gauge of gauges) gauge.reset();
  }

  function work(): void {
    clear();
    view = viewQueue(board, Date.now());
    for (const { cluster, team, queue, priorityClass, reason, pods, devices, oldestSeconds } of view.pending) {
      const labels = { cluster, team, queue, priority_class: priorityClass, reason };
      metrics.pendingPods.set(labels, pods);
      metrics.pendingDevices.set(labels, devices);
      metrics.pendingOldest.set(labels, oldestSeconds);
    }
    for (const { cluster, team, heldDevices } of view.gangs) {
      metrics.gangsHolding.inc({ cluster, team });
      metrics.gangDevices.inc({ cluster, team }, heldDevices);
    }
    for (const { cluster, namespace, name: quota, resource, hard, used } of view.quotas) {
      const labels = { cluster, namespace, quota, resource };
      metrics.quotaDevices.set({ ...labels, state: "hard" }, hard);
      metrics.quotaDevices.set({ ...labels, state: "used" }, used);
    }
    for (const { cluster, kind, namespace, name: queue, resource, quota, admitted, borrowed } of view.queues) {
      const labels = { cluster, kind, namespace, queue, resource };
      metrics.queueDevices.set({ ...labels, state: "quota" }, quota);
      metrics.queueDevices.set({ ...labels, state: "admitted" }, admitted);
      metrics.queueDevices.set({ ...labels, state: "borrowed" }, borrowed);
    }
  }

  return { name: "queue", everyMillis: REFRESH_MILLIS, work, clear, view: () => view };
}
