/** An instance of a GPU in MIG mode. */
export interface MigInstance {
  /** `GPU_I_ID`, unique on its GPU. Several compute instances of one GPU instance count as one. */
  readonly id: string;
  /** As scraped or as in the resource's name; absent if neither has it. */
  readonly profile?: string;
  /** The number of replicas that the instance is shared as; absent if it is not shared. */
  readonly replicas?: number;
}

/** The division of one GPU at a moment. */
export type GpuLayout =
  | { readonly kind: "whole" }
  /** In MIG mode, with the created instances. */
  | { readonly kind: "mig"; readonly instances: readonly MigInstance[] }
  /** Shared by time-slicing or MPS. */
  | { readonly kind: "shared"; readonly replicas: number }
  /** AMD's partitions. */
  | { readonly kind: "partitions"; readonly count: number };

/** One physical GPU at a moment. */
export interface GpuAt {
  readonly model?: string;
  /** In MiB, as measured or from the node's labels; absent if only the model's name gives it. */
  readonly memoryMiB?: number;
  readonly layout: GpuLayout;
}
