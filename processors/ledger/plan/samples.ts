/** Rows of one device with the same labels, over a span: from aggregation, or one moment of it. */
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

/** A row of one device at one moment, as far as it tells who has what. */
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
export interface GpuPlace {
  readonly node: string;
  readonly gpuKey: string;
}
