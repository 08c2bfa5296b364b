import type { SeriesRole } from "./roles.ts";
import type { Layout } from "./layout.ts";
import type { PushedTarget } from "./pushed-target.ts";
import type { Pods } from "./pods.ts";

/** The place of a series: its target, and its slot in the values of the target's moments. */
export interface SeriesPlace {
  readonly role: SeriesRole;
  readonly target: PushedTarget;
  /** The layout that has the slot. A place of a former layout is not valid any longer. */
  readonly layout: Layout;
  readonly slot: number;
  /** The Prometheus that sent the series, if it is one of several with the same targets; "" if it is alone. */
  readonly replica: string;
  /** Set for a pod. */
  readonly pod: PlacedPod | undefined;
}

/** A pod with its node, and the pods of the same sender. */
export interface PlacedPod {
  readonly pods: Pods;
  readonly namespace: string;
  readonly name: string;
  readonly ip: string;
  readonly node: string;
}

/** Finds the place of a new series. Returns undefined if there is no room for it. */
export type PlaceSeries = (role: SeriesRole, labels: ReadonlyMap<string, string>) => SeriesPlace | undefined;
