import type { ExporterMake, MakeName } from "./makes.ts";
import type { GpuModel, MigInstance } from "./models.ts";
import type { WorkloadType } from "./teams.ts";

/** What goes wrong on a node, now and then. */
export type Trouble =
  | "gpu-falls-off"
  | "exporter-away"
  | "profiling-stuck"
  | "kubelet-errors"
  | "hot-gpu"
  | "xid"
  | "driver-reload";

/** What one exclusive holder can have: a GPU, a MIG instance, or one replica of a time-sliced GPU. */
export interface Slot {
  /** Depends on the seed and on what the slot is. */
  readonly key: number;
  readonly node: FleetNode;
  readonly gpu: number;
  readonly instance?: MigInstance;
  /** The replica's number where the GPU is time-sliced. */
  readonly replica?: number;
  /** The part of the GPU's power that this slot's full load takes. */
  readonly weight: number;
  readonly memoryMib: number;
  readonly use: WorkloadType;
  /** Whose notebook was forgotten: it holds its GPU for weeks and does nothing. */
  readonly isForgotten: boolean;
}

/** A GPU of a node. */
export interface FleetGpu {
  readonly index: number;
  readonly key: number;
  /** With NVIDIA's prefix where it is NVIDIA's. */
  readonly uuid: string;
  readonly serial: string;
  readonly pciBusId: string;
  /** Whether MIG is switched on; there need not be an instance. */
  readonly hasMig: boolean;
  readonly slots: readonly Slot[];
}

/** Training nodes that share their jobs: a gang can span them. */
export interface TrainingGroup {
  readonly key: number;
  readonly nodes: readonly string[];
  readonly gpusOfEach: readonly number[];
}

/** A node of the fleet, with all that is constant about it. */
export interface FleetNode {
  readonly name: string;
  readonly uid: string;
  /** The fleet's. */
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
  /** The node's place in its group. */
  readonly rank: number;
  readonly troubles: ReadonlySet<Trouble>;
  /** When the exporter collects within each half minute, milliseconds. */
  readonly collectPhaseMillis: number;
}

/** dcgm-exporter collects every 30 s by default; whoever scrapes more often gets repeats. */
export const COLLECT_MILLIS = 30_000;

/** When the page that is served at a time was collected. */
export function collectedAt({ collectPhaseMillis }: FleetNode, timeMillis: number): number {
  return Math.floor((timeMillis - collectPhaseMillis) / COLLECT_MILLIS) * COLLECT_MILLIS + collectPhaseMillis;
}
