/** An instance of a GPU in MIG mode. */
export interface MigInstance {
  /** `GPU_I_ID`, unique on its GPU. Several compute instances of one are one. */
  readonly id: string;
  /** As scraped or as in the resource's name; absent where neither tells. */
  readonly profile?: string;
  /** Replicas that the instance is shared as; absent where it is not shared. */
  readonly replicas?: number;
}

/** How one GPU is cut or shared at a moment. */
export type GpuLayout =
  | { readonly kind: "whole" }
  /** In MIG mode, with the instances that are created. */
  | { readonly kind: "mig"; readonly instances: readonly MigInstance[] }
  /** By time-slicing or MPS. */
  | { readonly kind: "shared"; readonly replicas: number }
  /** AMD's. */
  | { readonly kind: "partitions"; readonly count: number };

/** One physical GPU as it is at a moment. */
export interface GpuAt {
  readonly model?: string;
  /** In MiB, as measured or as the node's labels have it; absent where nothing but the model's name tells. */
  readonly memoryMiB?: number;
  readonly layout: GpuLayout;
}
