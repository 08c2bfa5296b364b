/**
 * The device of a row of a scrape: a GPU, its MIG instance or partition, or one pod's view of a shared GPU, with the exporter's labels.
 * Unknown fields are absent, never empty strings.
 */
export interface Device {
  /** The exporter's index of the GPU on its node. */
  readonly gpu?: string;
  readonly uuid?: string;
  readonly pciBusId?: string;
  readonly model?: string;
  readonly serial?: string;
  readonly driverVersion?: string;
  /** `GPU_I_ID`: unique within one GPU, and reused after a reconfiguration. */
  readonly instance?: string;
  /** `GPU_I_PROFILE` as scraped. It can differ from the resource's name. */
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
  /** The exporter's own host name. It is not the node's name; see `nodeOf`. */
  readonly hostname?: string;
  /** The message of the latched XID. */
  readonly xidMessage?: string;
  /** Labels that every series of the row has and that have no field above, for example pod labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Another row of the scrape already has the values of scope `gpu`. Sum only rows without this flag. */
  readonly repeatsGpu?: true;
  /** Another row of the scrape already has the values of scope `device`. Sum only rows without this flag. */
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
 * Returns the key of a GPU within its node: its UUID. If the UUID is missing or all zeroes, as on AMD's virtual functions: the PCI address,
 * otherwise the index. Empty if the row names no GPU.
 */
export function gpuKey(device: Device): string {
  if (device.uuid !== undefined && !isZeroUuid(device.uuid)) return device.uuid;
  if (device.pciBusId !== undefined) return `pci:${device.pciBusId}`;
  return device.gpu === undefined ? "" : `index:${device.gpu}`;
}

/** Returns the UUID in a GPU's key; undefined if the key is a PCI address, an index or empty. */
export function uuidInKey(key: string): string | undefined {
  return key === "" || /^(pci|index):/.test(key) ? undefined : key;
}

/** Returns the instance or partition within a GPU; empty for the whole GPU. */
export function instanceKey(device: Device): string {
  return device.instance ?? device.partition ?? "";
}

/** Returns the exporter's sharing labels as scraped, in one string; empty if the exporter named no holder. */
export function sharingKey(device: Device): string {
  const parts = [device.namespace, device.pod, device.container, device.vgpu, device.hpcJob, device.claim?.name];
  return parts.every((part) => part === undefined) ? "" : parts.map((part) => part ?? "").join("/");
}

/**
 * Returns whether an exporter's host name can be a node's name: not "localhost", and not the exporter's own pod. Pods of a DaemonSet end in
 * five letters of Kubernetes' own alphabet. The names of exporters contain the word "exporter".
 */
export function namesNode(hostname: string): boolean {
  const isPod = hostname.includes("exporter") && /^-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(hostname.slice(-6));
  return hostname !== "localhost" && !isPod;
}

/** Returns whether a UUID belongs to no GPU: AMD's virtual functions have only zeroes. */
export function isZeroUuid(uuid: string): boolean {
  return /^(GPU-)?[0-]*$/.test(uuid);
}
