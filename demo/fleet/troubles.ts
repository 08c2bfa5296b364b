import { hash, roll } from "./hash.ts";
import { COLLECT_MILLIS, type FleetNode } from "./node.ts";
import { DAY_MILLIS, HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const XID_EVERY_MILLIS = 2 * DAY_MILLIS;
/** XIDs that leave a GPU running: page fault, engine error, contained memory error. */
const MILD_XIDS = [31, 13, 94];

/** Returns true if the node's exporter is away: one of them is away for ten minutes of every hour. */
export function isExporterAway(node: FleetNode, timeMillis: number): boolean {
  if (!node.troubles.has("exporter-away")) return false;
  const into = (((timeMillis - node.collectPhaseMillis) % HOUR_MILLIS) + HOUR_MILLIS) % HOUR_MILLIS;
  return into >= 25 * MINUTE_MILLIS && into < 35 * MINUTE_MILLIS;
}

/** Returns true if the kubelet failed in this collection: one of forty. Its page has no pod label. */
export function isUnlabeled(node: FleetNode, timeMillis: number): boolean {
  return node.troubles.has("kubelet-errors") && roll(node.key, Math.floor(timeMillis / COLLECT_MILLIS), 61) < 1 / 40;
}

/** Returns true if the profiling counters of the node stay at 0 (dcgm-exporter #662). */
export function isProfilingStuck(node: FleetNode): boolean {
  return node.troubles.has("profiling-stuck");
}

/** The state of a GPU that has fallen off the bus. XID 79 shows for a minute and a half, then its series are gone. */
export type BusState = "present" | "failing" | "gone";

/** Returns the bus state of a GPU. One GPU of a node with that trouble is lost for some hours of each day. */
export function busStateAt(node: FleetNode, gpu: number, timeMillis: number): BusState {
  if (!node.troubles.has("gpu-falls-off") || gpu !== Math.min(3, node.gpus.length - 1)) return "present";
  const day = Math.floor(timeMillis / DAY_MILLIS);
  const from = day * DAY_MILLIS + (2 + 14 * roll(node.key, day, 62)) * HOUR_MILLIS;
  const until = from + (2 + 3 * roll(node.key, day, 63)) * HOUR_MILLIS;
  if (timeMillis < from || timeMillis >= until) return "present";
  return timeMillis < from + 90_000 ? "failing" : "gone";
}

/** Returns the XID of a GPU: latched from its occurrence until the node was started again. */
export function xidAt(node: FleetNode, gpu: number, timeMillis: number): number {
  if (busStateAt(node, gpu, timeMillis) === "failing") return 79;
  if (!node.troubles.has("xid") || gpu !== Math.min(2, node.gpus.length - 1)) return 0;
  const turn = Math.floor(timeMillis / XID_EVERY_MILLIS);
  const since = turn * XID_EVERY_MILLIS + 0.6 * XID_EVERY_MILLIS * roll(node.key, turn, 64);
  if (timeMillis >= since) return MILD_XIDS[hash(node.key, turn, 65) % MILD_XIDS.length]!;
  return since - XID_EVERY_MILLIS < bootedAt(node, timeMillis) ? 0 : MILD_XIDS[hash(node.key, turn - 1, 65) % 3]!;
}

/** Returns the degrees that a failing fan adds at full load: to one GPU, for three to five hours of each day. */
export function extraHeatAt(node: FleetNode, gpu: number, timeMillis: number): number {
  if (!node.troubles.has("hot-gpu") || gpu !== Math.min(1, node.gpus.length - 1)) return 0;
  const day = Math.floor(timeMillis / DAY_MILLIS);
  const from = day * DAY_MILLIS + (1 + 16 * roll(node.key, day, 66)) * HOUR_MILLIS;
  const until = from + (3 + 2 * roll(node.key, day, 67)) * HOUR_MILLIS;
  return timeMillis >= from && timeMillis < until ? 20 : 0;
}

/**
 * Returns the time when the driver was last loaded, when the energy counter began at 0. Nodes are patched every 45 to 75 days at different
 * times. One has a driver that needs reloading every five days.
 */
export function bootedAt(node: FleetNode, timeMillis: number): number {
  const days = node.troubles.has("driver-reload") ? 5 : 45 + Math.floor(30 * roll(node.key, 68));
  const period = days * DAY_MILLIS;
  const phase = Math.floor(roll(node.key, 69) * (period / 1000)) * 1000;
  return Math.floor((timeMillis - phase) / period) * period + phase;
}
