import type { FleetGpu, FleetNode, Slot } from "../fleet/node.ts";
import type { FleetPod } from "../fleet/pod.ts";
import type { Readings } from "../fleet/readings.ts";

/**
 * What the series of one device on a page have in common.
 * - `whole`: a GPU, with its holder where it has one.
 * - `instance`: a MIG instance.
 * - `shared`: a time-sliced GPU whose holders have rows of their own: it has what they have a part of, and nothing else.
 * - `holder`: a pod on a time-sliced GPU: its part, and the GPU's values again.
 */
export interface Row {
  readonly kind: "whole" | "instance" | "shared" | "holder";
  readonly node: FleetNode;
  readonly gpu: FleetGpu;
  readonly slot?: Slot;
  readonly pod?: FleetPod;
  /** The latched XID, which 3.4.2 and later show in labels too. */
  readonly xid: number;
  readonly device: Readings;
  /** The holder's part, where {@link kind} is `holder`. */
  readonly process: Readings;
}

/** One number of a page and the text that stands before it, from the end of the number before. */
export interface Series {
  readonly text: string;
  readonly readings: Readings;
  readonly read: (readings: Readings) => number;
  /** `whole` and `six` as Go's %d and %f; `short` as prometheus/common writes floats. */
  readonly format: "whole" | "six" | "short";
}
