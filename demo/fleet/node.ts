import type { ExporterMake, MakeName } from "./makes.ts";
import type { GpuModel, MigInstance } from "./models.ts";
import type { Residency } from "./residency.ts";
import type { WorkloadType } from "./teams.ts";

/** The troubles of a node. */
export type Trouble =
  | "gpu-falls-off"
  | "exporter-away"
  | "profiling-stuck"
  | "kubelet-errors"
  | "hot-gpu"
  | "xid"
  | "driver-reload";

/** The unit of one exclusive holder: a GPU, a MIG instance, or one replica of a time-sliced GPU. */
export interface Slot {
  /** A key that depends on the seed and the slot. */
  readonly key: number;
  readonly node: FleetNode;
  readonly gpu: number;
  readonly instance?: MigInstance;
  /** The replica's number if the GPU is time-sliced. */
  readonly replica?: number;
  /** The part of the GPU's power at this slot's full load. */
  readonly weight: number;
  readonly memoryMib: number;
  /** Nobody holds a spare slot. */
  readonly use: WorkloadType | "spare";
  /** The workload that always holds the slot; absent where the holders change. */
  readonly resident?: Residency;
}

/** A GPU of a node. */
export interface FleetGpu {
  readonly index: number;
  readonly key: number;
  /** With NVIDIA's prefix for NVIDIA GPUs. */
  readonly uuid: string;
  readonly serial: string;
  readonly pciBusId: string;
  /** True if MIG is on, even without instances. */
  readonly hasMig: boolean;
  readonly slots: readonly Slot[];
}

/** Training nodes that share their jobs. A gang can span them. */
export interface TrainingGroup {
  readonly key: number;
  readonly nodes: readonly string[];
  readonly gpusOfEach: readonly number[];
}

/** A node of the fleet, with its constant properties. */
export interface FleetNode {
  readonly name: string;
  readonly uid: string;
  /** The seed of the fleet. */
  readonly seed: number;
  readonly key: number;
  readonly cluster: string;
  readonly region: string;
  readonly zone: string;
  readonly pool: string;
  readonly instanceType: string;
  readonly capacityType: "on-demand" | "reserved" | "spot";
  readonly model: GpuModel;
  readonly makeName: MakeName;
  readonly make: ExporterMake;
  readonly exporterPod: string;
  readonly sharing: "exclusive" | "mig" | "time-slicing";
  readonly gpus: readonly FleetGpu[];
  readonly group: TrainingGroup;
  /** The node's number in its group. */
  readonly rank: number;
  readonly troubles: ReadonlySet<Trouble>;
  /** The time in each half minute when the exporter collects, milliseconds. */
  readonly collectPhaseMillis: number;
}

/** The default interval of dcgm-exporter's collections, 30 s. More frequent scrapes return repeated values. */
export const COLLECT_MILLIS = 30_000;

/** Returns the collection time of the page that is served at a time. Both times are milliseconds since the epoch. */
export function collectedAt({ collectPhaseMillis }: FleetNode, timeMillis: number): number {
  return Math.floor((timeMillis - collectPhaseMillis) / COLLECT_MILLIS) * COLLECT_MILLIS + collectPhaseMillis;
}
