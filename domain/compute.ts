/** An amount of CPU and memory: of a node, or of several pods together. */
export interface Compute {
  /** Thousandths of a core. */
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/**
 * The CPU and memory of a whole pod. A request is absent if no container has one. A limit is absent if one of the containers has none,
 * because the pod is then not limited.
 */
export interface PodCompute {
  /** Thousandths of a core. */
  readonly cpuRequestMillicores?: number;
  readonly cpuLimitMillicores?: number;
  readonly memoryRequestBytes?: number;
  readonly memoryLimitBytes?: number;
}

/** Pods without GPUs on a node with GPUs. */
export interface OtherPods {
  readonly pods: number;
  /** `namespace/name` of the pods with the largest requests of CPU, largest first; only a few. */
  readonly names: readonly string[];
  /** The sum of the requests of all these pods. */
  readonly requested: Compute;
}
