import type { Logger } from "pino";
import type { QueueBoard } from "../processors/live/queue-board.ts";
import { viewQueue, type QueueView } from "../domain/queue/view.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

/** The queue in the leader's view. Other processors have the same data, but only the leader reports it. */
export interface QueueReport extends Repeated {
  view(): QueueView | undefined;
}

/** The interval of updates. Ages are minutes; seconds do not matter. */
const REFRESH_MILLIS = 5_000;

/** Reads the board repeatedly while this processor leads, and sets the gauges. */
export function startQueueView(options: {
  readonly board: QueueBoard;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly leads: () => boolean;
}): QueueReport {
  const { board, metrics, logger, leads } = options;
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

  function look(): void {
    view = leads() ? viewQueue(board, Date.now()) : undefined;
    for (const gauge of gauges) gauge.reset();
    if (view === undefined) return;
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

  const onError = (error: unknown): void => logger.error({ err: error }, "the state of the queue cannot be sent");
  return { view: () => view, ...repeat(REFRESH_MILLIS, look, onError) };
}
