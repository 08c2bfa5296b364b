import type { SliceDevice } from "../../../domain/cluster-fact.ts";
import type { Holding } from "../../../domain/holding.ts";
import type { ClaimedDevice } from "../../../domain/holding.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";

/** A time, milliseconds since the epoch, half-open. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** All that is known of a node around a window: what the plan of its hour is made of. */
export interface NodeRecord {
  readonly cluster: string;
  readonly node: string;
  /** No Kubernetes has ever told of it: samples are all that is known. */
  readonly isBare: boolean;
  /** The machines that had the node's name within the window, one after the other. */
  readonly machines: readonly Machine[];
  /** Those that held something of it within the window, by UID. */
  readonly pods: ReadonlyMap<string, RecordedPod>;
  /** The devices that the claims reserved for a pod have got. */
  claimed(uid: string): readonly ClaimedDevice[];
  /** What DRA drivers publish of the node. */
  readonly slices: readonly SliceDevice[];
  /** Taints of those devices. */
  readonly taints: readonly DeviceTaintSpell[];
  /** The labels of a namespace, state by state in the order of time. */
  namespace(name: string): readonly NamespaceState[];
  /** The GPUs that samples told of. */
  readonly seen: readonly SeenGpu[];
  /** What labels have proven at any time, as far as it was found before. */
  readonly proven: readonly ProvenLabel[];
}

/** A taint of a device for as long as it was there. */
export interface DeviceTaintSpell extends Span {
  readonly device: SliceDevice;
  readonly key: string;
}

/** A pod's name at a device of a slot, in a sample of some time. */
export interface ProvenLabel {
  readonly slot: number;
  readonly part: string;
  readonly namespace: string;
  readonly pod: string;
  /** Empty where the label has none. */
  readonly podUid: string;
  readonly at: number;
}

/** A machine for as long as it was there. */
export interface Machine extends Span {
  readonly uid: string;
  /**
   * The highest number of GPUs that the strongest evidence of its objects counted, up to the end of the window; before the machine was
   * seen, what was seen first.
   */
  readonly most: number;
  /** {@link most} is a guess. */
  readonly isGuess?: true;
  /** As its Node was, state by state in the order of time. */
  readonly states: readonly MachineState[];
}

/** A machine's Node for as long as nothing of it changed. */
export interface MachineState extends Span {
  readonly fact: InventoryFact;
  /** Since when all that prices look at has been as it is. */
  readonly placedSince: number;
}

/** A pod that holds, or stands for others that do. */
export interface RecordedPod {
  readonly fact: WorkloadFact;
  readonly holding: Holding;
  /** When its first container ran; Infinity while none has. */
  readonly startedAt: number;
  /** When all members of its gang were bound at the same time; -Infinity without a gang. */
  readonly wholeAt: number;
}

/** A namespace's labels and annotations from a time on. */
export interface NamespaceState {
  readonly from: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A GPU as samples showed it. Where nothing about it changed, its spans have no ends. */
export interface SeenGpu extends Span {
  readonly gpuKey: string;
  /** The exporter's index of it; the slot that it sits in. */
  readonly index: number;
  readonly uuid?: string;
  readonly pciBusId?: string;
  readonly model?: string;
  readonly memoryMiB?: number;
  /** Instances and partitions. */
  readonly parts: readonly SeenPart[];
  /** Pods that the exporter's labels name. */
  readonly labels: readonly SeenLabel[];
  /** Jobs, and pods of which no fact tells: they hold what they were seen on. */
  readonly strangers: readonly SeenStranger[];
  readonly faults: readonly SeenFault[];
  /** The exporter told processes of pods apart. */
  readonly hasProcesses: boolean;
  /** No sample around the window tells of it: it is as it was seen before. */
  readonly isSilent?: true;
}

/** A MIG instance, or another maker's partition. */
export interface SeenPart extends Span {
  readonly part: string;
  /** As scraped; empty for a partition. */
  readonly profile: string;
  /** The last sample that shows it before its span ends. */
  readonly lastAt: number;
}

/** A pod's name at a device, from the first to the last sample that had it. */
export interface SeenLabel {
  readonly part: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid?: string;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Somebody of whom samples alone tell, from the first that names it to the first that does not. */
export interface SeenStranger extends Span {
  readonly part: string;
  readonly kind: "job" | "pod";
  readonly namespace: string;
  readonly name: string;
}

/** An XID for as long as it was shown. */
export interface SeenFault extends Span {
  readonly code: number;
  /** When samples showed activity meanwhile, in order. */
  readonly activeAt: readonly number[];
}
