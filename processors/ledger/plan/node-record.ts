import type { SliceDevice } from "../../../domain/cluster-fact.ts";
import type { Holding } from "../../../domain/holding.ts";
import type { ClaimedDevice } from "../../../domain/holding.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";

/** A time span, milliseconds since the epoch, half-open. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** All known facts of a node around a window: the input for the plan of its hour. */
export interface NodeRecord {
  readonly cluster: string;
  readonly node: string;
  /** The node was never reported by Kubernetes. Only samples exist. */
  readonly isBare: boolean;
  /** The machines that had the node's name within the window, in order of time. */
  readonly machines: readonly Machine[];
  /** The pods that held a part of the node within the window, by UID. */
  readonly pods: ReadonlyMap<string, RecordedPod>;
  /** Returns the devices of the claims that are reserved for a pod. */
  claimed(uid: string): readonly ClaimedDevice[];
  /** The devices that DRA drivers publish for the node. */
  readonly slices: readonly SliceDevice[];
  /** Taints of those devices. */
  readonly taints: readonly DeviceTaintSpell[];
  /** Returns the states of a namespace's labels, in order of time. */
  namespace(name: string): readonly NamespaceState[];
  /** The GPUs that appear in samples. */
  readonly seen: readonly SeenGpu[];
  /** The labels proven at any time by samples, as far as they were found before. */
  readonly proven: readonly ProvenLabel[];
}

/** A taint of a device, for the time that it existed. */
export interface DeviceTaintSpell extends Span {
  readonly device: SliceDevice;
  readonly key: string;
}

/** A pod's name on a device of a slot, in a sample of some time. */
export interface ProvenLabel {
  readonly slot: number;
  readonly part: string;
  readonly namespace: string;
  readonly pod: string;
  /** Empty if the label has none. */
  readonly podUid: string;
  readonly at: number;
}

/** A machine, for the time that it existed. */
export interface Machine extends Span {
  readonly uid: string;
  /**
   * The highest number of GPUs that the strongest evidence of its objects counted, up to the end of the window. Before the machine was
   * seen, the first count.
   */
  readonly most: number;
  /** {@link most} is a guess. */
  readonly isGuess?: true;
  /** The states of the machine's Node, in order of time. */
  readonly states: readonly MachineState[];
}

/** A machine's Node, for the time that it did not change. */
export interface MachineState extends Span {
  readonly fact: InventoryFact;
  /** Since when all fields that prices depend on have been unchanged. */
  readonly describedSince: number;
}

/** A pod that holds devices, or that stands for pods that do. */
export interface RecordedPod {
  readonly fact: WorkloadFact;
  readonly holding: Holding;
  /** When the first container ran; Infinity while none has. */
  readonly startedAt: number;
  /** When all members of the gang were first bound at the same time; -Infinity without a gang. */
  readonly wholeAt: number;
}

/** A namespace's labels and annotations from a time on. */
export interface NamespaceState {
  readonly from: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A GPU as samples showed it. The spans have no ends if nothing changed. */
export interface SeenGpu extends Span {
  readonly gpuKey: string;
  /** The exporter's index of the GPU; this is its slot. */
  readonly index: number;
  readonly uuid?: string;
  readonly pciBusId?: string;
  readonly model?: string;
  readonly memoryMiB?: number;
  /** Instances and partitions. */
  readonly parts: readonly SeenPart[];
  /** Pods that the exporter's labels name. */
  readonly labels: readonly SeenLabel[];
  /** Jobs, and pods without a fact. They hold the devices that they were seen on. */
  readonly strangers: readonly SeenStranger[];
  readonly faults: readonly SeenFault[];
  /** The exporter reported the processes of pods separately. */
  readonly hasProcesses: boolean;
  /** No sample around the window shows the GPU. The record repeats its last known state. */
  readonly isSilent?: true;
}

/** A MIG instance, or a partition of another vendor. */
export interface SeenPart extends Span {
  readonly part: string;
  /** As scraped; empty for a partition. */
  readonly profile: string;
  /** The time of the last sample that shows the part before its span ends. */
  readonly lastAt: number;
}

/** A pod's name on a device, from the first to the last sample with it. */
export interface SeenLabel {
  readonly part: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid?: string;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A holder that appears only in samples, from the first sample that names it to the first that does not. */
export interface SeenStranger extends Span {
  readonly part: string;
  readonly kind: "job" | "pod";
  readonly namespace: string;
  readonly name: string;
}

/** An XID, for the time that samples showed it. */
export interface SeenFault extends Span {
  readonly code: number;
  /** The times of samples with activity during the fault, in order. */
  readonly activeAt: readonly number[];
}
