/** Rows of one device with the same labels: aggregated over a span, or from one moment. */
export interface SampleGroup {
  readonly node: string;
  readonly gpuKey: string;
  readonly part: string;
  readonly profile: string;
  readonly gpu: string;
  readonly pciBusId: string;
  readonly model: string;
  readonly memoryMiB: number;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly hpcJob: string;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly reachMillis: number;
  readonly hasHardwareXid: boolean;
  readonly hasProcesses: boolean;
}

/** A row of one device at one moment, with the fields that identify its holder. */
export interface SampleMoment {
  readonly node: string;
  readonly gpuKey: string;
  readonly at: number;
  readonly reachMillis: number;
  readonly part: string;
  readonly profile: string;
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly hpcJob: string;
  readonly xid: number;
  readonly isActive: boolean;
}

/** One GPU of one node. */
export interface GpuOfNode {
  readonly node: string;
  readonly gpuKey: string;
}
