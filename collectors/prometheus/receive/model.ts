import type { ScrapeOrigin } from "../../../domain/scrape.ts";
import type { FamilyMeta } from "../../exporters/exposition/parse.ts";
import type { NodeOfPod } from "../target-series.ts";
import type { IntervalEstimate } from "./interval.ts";
import type { Layout } from "./layout.ts";
import type { ReplicaElection } from "./replica-election.ts";
import type { SeriesRole } from "./roles.ts";

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

/** The nodes of pods, from `kube_pod_info`. */
export interface Pods {
  readonly nodeOf: NodeOfPod;
  /** True if any pod was ever known. */
  readonly isKnown: boolean;
  set(pod: Omit<PlacedPod, "pods">): void;
  /** Removes a pod that has ended, unless another pod took its name or address. */
  remove(pod: Omit<PlacedPod, "pods">): void;
  /** Returns the nodes that were asked for and found. */
  asked(): readonly (readonly [pod: string, node: string])[];
}

/** The reason why samples were not used. */
export type SampleDrop =
  | "other-series"
  | "series-limit"
  | "labels"
  | "time"
  | "replica"
  | "too-late"
  | "too-often"
  | "not-a-gpu-target";

/**
 * The samples of one request that are kept, and counts of the others. It is reused for the next request. Its fields are plain and mutable:
 * numbers between calls would be objects on the heap, one for each sample.
 */
export interface Batch {
  /** The number of series of the request, also of those that are not kept. */
  series: number;
  /** The number of kept samples. */
  size: number;
  /** The number of all samples. */
  samples: number;
  readonly places: SeriesPlace[];
  /** Milliseconds since the epoch. */
  times: Float64Array;
  /** NaN if the sample ends its series. */
  values: Float64Array;
  families: (readonly [name: string, meta: FamilyMeta])[];
  dropped: Partial<Record<SampleDrop, number>>;
}

/** The samples of one target with the same time: one scrape. */
export interface Moment {
  readonly target: PushedTarget;
  readonly atMillis: number;
  readonly layout: Layout;
  /** The values by slot of the layout; NaN for a series without a value. */
  values: Float64Array;
  /** 1 for each slot whose sample has arrived, also if it ends the series. */
  seen: Uint8Array;
  /** The number of samples, with `up`. */
  count: number;
  /** The value of `up`; NaN if the target has ended; undefined if the sample has not arrived. */
  up: number | undefined;
  /** The first segment of the write-ahead log with a sample of the moment. */
  readonly segment: number;
  /** When the last new sample arrived. */
  arrivedMillis: number;
  /** True if a sample has arrived that was not sent. */
  isChanged: boolean;
  isSending: boolean;
  /** The interval of the first sending, so that a repeated message is equal; undefined before. */
  intervalMillis: number | undefined;
  sentAtMillis: number;
  /** True if a former moment of the target had more series. Such a moment is kept longer, because more samples may come. */
  lacksSeries: boolean;
}

/** The part of a target that outlives a process. */
export interface SavedTarget {
  /** The time of the newest moment that is no longer in memory, milliseconds since the epoch. */
  readonly forgottenMillis: number;
  readonly replica: string | undefined;
  readonly intervalMillis: number;
  /** The nodes of the last messages. */
  readonly nodes: readonly string[];
}

/** A target of a Prometheus that sends its samples to us. */
export interface PushedTarget {
  /** Unique among the targets of all senders. */
  readonly key: string;
  readonly cluster: string;
  /** The external labels of the Prometheus. */
  readonly sender: string;
  readonly job: string;
  readonly instance: string;
  readonly pods: Pods;
  readonly layout: Layout;
  readonly interval: IntervalEstimate;
  readonly election: ReplicaElection;
  /** The labels of `up` without those of the sender; undefined before the first sample of it. */
  upLabels: ReadonlyMap<string, string> | undefined;
  /** The origins of the last messages. */
  origins: readonly ScrapeOrigin[];
  /** The nodes that an earlier process found. */
  readonly savedNodes: readonly string[];
  /** The samples of the last complete moment, with `up`; 0 before. */
  expected: number;
  /** The newest moment, milliseconds since the epoch. */
  readonly newestMillis: number;
  readonly arrivedMillis: number;
  /** When a series of the target was placed or a sample came, also of a target without GPUs. */
  seenMillis: number;
  /** The last message, for the state of the target. */
  lastMessage: Uint8Array | undefined;
  failure: string | undefined;
  /**
   * Takes the samples of a batch from an index, up to the first one of another target or time. Returns the index of that one. Samples that do
   * not count are counted in the batch.
   */
  take(batch: Batch, from: number, arrival: Arrival): number;
  /** Replaces the layout: the places of all series are found again. */
  replaceLayout(): void;
  forget(moment: Moment): void;
  save(): SavedTarget;
}

/** When a sample arrived, and the segment of the write-ahead log with its request. */
export interface Arrival {
  readonly nowMillis: number;
  readonly segment: number;
}
