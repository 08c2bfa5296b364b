import type { FleetGpu, FleetNode, Slot } from "../fleet/node.ts";
import type { FleetPod } from "../fleet/pod.ts";
import type { Readings } from "../fleet/readings.ts";

/**
 * The common data of the series of one device on a page.
 * - `whole`: a GPU, with its holder if there is one.
 * - `instance`: a MIG instance.
 * - `shared`: a time-sliced GPU whose holders have rows of their own. It has only the values that the holders share.
 * - `holder`: a pod on a time-sliced GPU: its part, and the GPU's values again.
 */
export interface Row {
  readonly kind: "whole" | "instance" | "shared" | "holder";
  readonly node: FleetNode;
  readonly gpu: FleetGpu;
  readonly slot?: Slot;
  readonly pod?: FleetPod;
  /** The latched XID. 3.4.2 and later show it in labels too. */
  readonly xid: number;
  readonly device: Readings;
  /** The holder's part if {@link kind} is `holder`. */
  readonly process: Readings;
}

/** One number of a page and the text before it, from the end of the number before. */
export interface Series {
  readonly text: string;
  readonly readings: Readings;
  readonly read: (readings: Readings) => number;
  /** `whole` and `six` are Go's %d and %f; `short` is the form of prometheus/common. */
  readonly format: "whole" | "six" | "short";
}
