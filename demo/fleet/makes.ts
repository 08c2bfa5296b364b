/** One build of an exporter, with the properties that its pages show. Versions are the exporter's own, without DCGM's. */
export interface ExporterMake {
  readonly exporter: "dcgm-exporter" | "device-metrics-exporter" | "nvidia_gpu_exporter";
  readonly version: string;
  readonly driver: string;
  /** The list of counters of its configuration. */
  readonly counters: "oldest" | "stock" | "reserved" | "extended" | "base-units" | "amd" | "smi";
  readonly hasModelName: boolean;
  readonly hasPciBusId: boolean;
  readonly hasDriverLabel: boolean;
  readonly hostLabel: "Hostname" | "hostname" | "none";
  /** Before 3.1.3, and later without NODE_NAME, the host is the exporter's own pod (#129, #736). */
  readonly hostIsPod: boolean;
  /** The labels of a GPU without a pod: empty strings until 3.4.0, absent since 3.4.1. */
  readonly idleLabels: "empty" | "absent";
  /** 4.5.0 to 4.8.1 emit an empty one if the option is off. */
  readonly podUid: "absent" | "empty" | "filled";
  readonly hasPodLabels: boolean;
  /** True since 3.4.2: the XID series has `err_code` and `err_msg`. */
  readonly hasXidLabels: boolean;
  /** True since 4.8.3, which renders with prometheus/common: families sorted by name, short floats. */
  readonly isSorted: boolean;
  /** PROF_PCIE_TX/RX_BYTES are gauges since 4.0.0. */
  readonly pcieType: "counter" | "gauge";
}

const BASE: ExporterMake = {
  exporter: "dcgm-exporter",
  version: "3.4.2",
  driver: "535.183.01",
  counters: "stock",
  hasModelName: true,
  hasPciBusId: true,
  hasDriverLabel: true,
  hostLabel: "Hostname",
  hostIsPod: false,
  idleLabels: "absent",
  podUid: "absent",
  hasPodLabels: false,
  hasXidLabels: true,
  isSorted: false,
  pcieType: "counter",
};

const FOUR: ExporterMake = { ...BASE, version: "4.4.0", driver: "570.133.20", counters: "reserved", pcieType: "gauge" };

/** Every make in the demo fleet: the dialects of real fleets. */
export const EXPORTER_MAKES = {
  "dcgm-2": {
    ...BASE,
    version: "2.1.2",
    driver: "450.142.00",
    counters: "oldest",
    hasModelName: false,
    hasPciBusId: false,
    hasDriverLabel: false,
    hostLabel: "none",
    idleLabels: "empty",
    hasXidLabels: false,
  },
  "dcgm-3.1": {
    ...BASE,
    version: "3.1.2",
    driver: "520.61.05",
    hasPciBusId: false,
    hostIsPod: true,
    idleLabels: "empty",
    hasXidLabels: false,
  },
  "dcgm-3.4.0": { ...BASE, version: "3.4.0", driver: "535.161.08", idleLabels: "empty", hasXidLabels: false },
  "dcgm-3.4.2": BASE,
  "dcgm-4.2": {
    ...FOUR,
    version: "4.2.0",
    driver: "550.163.01",
    counters: "extended",
    hasPodLabels: true,
  },
  "dcgm-4.4": FOUR,
  "dcgm-4.5": { ...FOUR, version: "4.5.1", driver: "580.65.06", podUid: "empty" },
  "dcgm-4.8.1": { ...FOUR, version: "4.8.1", driver: "580.95.05", podUid: "empty" },
  "dcgm-4.8.2": { ...FOUR, version: "4.8.2", driver: "580.105.08", podUid: "filled" },
  "dcgm-4.8.3": {
    ...FOUR,
    version: "4.8.3",
    driver: "580.126.09",
    hostLabel: "hostname",
    podUid: "filled",
    isSorted: true,
  },
  "dcgm-4.9": {
    ...FOUR,
    version: "4.9.0",
    driver: "590.48.01",
    counters: "base-units",
    hostLabel: "hostname",
    podUid: "filled",
    isSorted: true,
  },
  amd: { ...FOUR, exporter: "device-metrics-exporter", version: "1.3.0", driver: "6.12.12", counters: "amd" },
  smi: { ...FOUR, exporter: "nvidia_gpu_exporter", version: "1.3.2", driver: "575.57.08", counters: "smi" },
} as const satisfies Readonly<Record<string, ExporterMake>>;

/** The name of a make. */
export type MakeName = keyof typeof EXPORTER_MAKES;
