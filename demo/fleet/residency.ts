import type { Load } from "./load.ts";
import type { WorkloadType } from "./teams.ts";

/** A workload that holds the same GPUs for years. Each one but chat-235b wastes GPU-time in another way, so that the demo has advice of each kind. */
export interface Resident {
  readonly name: string;
  readonly team: string;
  readonly type: WorkloadType;
  readonly gpusOfPod: number;
  /** The GPUs of a pod that the pod uses. The others have an empty context. */
  readonly usedGpus: number;
  /** The load of a pod with a key. */
  readonly load: (key: number) => Load;
  /** The used part of the memory, and the parts of the load on the tensor pipes and on memory. */
  readonly memoryRatio: number;
  readonly tensorRatio: number;
  readonly dramRatio: number;
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Absent for one run without an end. A gang runs again and again, and each of its pods waits for the next one. A gang of a service has one
   * pod on each node of a group of nodes; all other gangs are on one node.
   */
  readonly gang?: { readonly size: number; readonly everyMillis: number; readonly waitMillis: number };
}

/** The place of a resident on one GPU. */
export interface Residency {
  readonly plan: Resident;
  /** The number of the pod among the resident's pods on the node. */
  readonly pod: number;
  readonly isUsed: boolean;
}
