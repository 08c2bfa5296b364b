/**
 * What a row of a scrape speaks of: a GPU, a MIG instance or partition of one, or one pod's view of a shared one, with
 * the labels that the exporter gave it. Unknown parts are absent, never empty strings.
 */
export interface Device {
  /** The exporter's index of the GPU on its node. */
  readonly gpu?: string;
  readonly uuid?: string;
  readonly pciBusId?: string;
  readonly model?: string;
  readonly serial?: string;
  readonly driverVersion?: string;
  /** `GPU_I_ID`, unique within one GPU and reused after a reconfiguration. */
  readonly instance?: string;
  /** `GPU_I_PROFILE` as scraped: it can differ from the resource's name. */
  readonly profile?: string;
  /** AMD's partition of a GPU, or Intel's tile. */
  readonly partition?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly podUid?: string;
  readonly container?: string;
  /** The replica of a time-sliced or MPS GPU. */
  readonly vgpu?: string;
  /** A Slurm-style job. */
  readonly hpcJob?: string;
  readonly claim?: DeviceClaim;
  /** What the exporter says of its host; not the node's name, see `nodeOf`. */
  readonly hostname?: string;
  /** The message that stands beside the latched XID. */
  readonly xidMessage?: string;
  /** Labels that every series of the row carries and that have no field above: pod labels, for one. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Another row of the scrape already gives the values of scope `gpu`: sum them where this is absent only. */
  readonly repeatsGpu?: true;
  /** Another row of the scrape already gives the values of scope `device`: sum them where this is absent only. */
  readonly repeatsDevice?: true;
}

/** The DRA labels of dcgm-exporter 4.4.0 and later (`--kubernetes-enable-dra`). */
export interface DeviceClaim {
  readonly name?: string;
  readonly namespace?: string;
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
  readonly migProfile?: string;
  readonly migUuid?: string;
}

/**
 * What tells one GPU of a node from another: its UUID; where that is empty or all zeroes, as on AMD's virtual
 * functions, the PCI address; else the index. Empty where the row names no GPU at all.
 */
export function gpuKey(device: Device): string {
  if (device.uuid !== undefined && !isZeroUuid(device.uuid)) return device.uuid;
  if (device.pciBusId !== undefined) return `pci:${device.pciBusId}`;
  return device.gpu === undefined ? "" : `index:${device.gpu}`;
}

/** The UUID in a GPU's key; undefined where something else tells it from others. */
export function uuidInKey(key: string): string | undefined {
  return key === "" || /^(pci|index):/.test(key) ? undefined : key;
}

/** The instance or partition within a GPU; empty for the whole GPU. */
export function instanceKey(device: Device): string {
  return device.instance ?? device.partition ?? "";
}

/** The exporter's own sharing labels as scraped, in one string; empty where it named no holder. */
export function sharingKey(device: Device): string {
  const parts = [device.namespace, device.pod, device.container, device.vgpu, device.hpcJob, device.claim?.name];
  return parts.every((part) => part === undefined) ? "" : parts.map((part) => part ?? "").join("/");
}

/**
 * Whether what an exporter has for its host can be a node's name: not "localhost", nor the exporter's own pod. Pods of a DaemonSet
 * end in five letters of Kubernetes' own alphabet; the names of exporters contain the word.
 */
export function namesNode(hostname: string): boolean {
  const isPod = hostname.includes("exporter") && /-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(hostname);
  return hostname !== "localhost" && !isPod;
}

/** Whether a UUID is that of no GPU: AMD's virtual functions have zeroes there. */
export function isZeroUuid(uuid: string): boolean {
  return /^(GPU-)?[0-]*$/.test(uuid);
}
