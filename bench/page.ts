import { hash } from "node:crypto";

/** How a metric changes from one collection to the next. The number of `digits` stays equal, so that pages change in place. */
interface Motion {
  readonly family: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  /** The text of the value at a collection, always of the same length. */
  readonly text: (gpu: number, tick: number, noise: () => number) => string;
}

const constant =
  (text: string): Motion["text"] =>
  () =>
    text;
const integer =
  (least: number, most: number): Motion["text"] =>
  (_, __, noise) =>
    String(least + Math.floor(noise() * (most - least + 1)));
const ratio: Motion["text"] = (_, __, noise) => (0.1 + noise() * 0.89).toFixed(6);

/**
 * The 25 default families of dcgm-exporter with the noise of genuine pages of busy GPUs: profiling ratios, power
 * and throughput differ in all digits at each collection, utilization by whole percents, temperatures by a degree at
 * times. The energy counter grows by power × time in millijoules. Clocks move between a few steps. Memory is constant while
 * a model is loaded. Error counters do not change.
 */
const MOTIONS: readonly Motion[] = [
  { family: "DCGM_FI_DEV_SM_CLOCK", type: "gauge", help: "SM clock frequency (in MHz).", text: integer(1965, 1980) },
  { family: "DCGM_FI_DEV_MEM_CLOCK", type: "gauge", help: "Memory clock frequency (in MHz).", text: constant("2619") },
  { family: "DCGM_FI_DEV_MEMORY_TEMP", type: "gauge", help: "Memory temperature (in C).", text: slow(62, 3) },
  { family: "DCGM_FI_DEV_GPU_TEMP", type: "gauge", help: "GPU temperature (in C).", text: slow(54, 4) },
  { family: "DCGM_FI_DEV_POWER_USAGE", type: "gauge", help: "Power draw (in W).", text: watts },
  {
    family: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    type: "counter",
    help: "Total energy consumption since boot (in mJ).",
    text: (gpu, tick, noise) =>
      String(400_000_000_000 + gpu * 7_000_000 + tick * 16_500_000 + Math.floor(noise() * 900_000)),
  },
  {
    family: "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    type: "counter",
    help: "Total number of PCIe retries.",
    text: constant("0"),
  },
  { family: "DCGM_FI_DEV_GPU_UTIL", type: "gauge", help: "GPU utilization (in %).", text: integer(80, 99) },
  { family: "DCGM_FI_DEV_MEM_COPY_UTIL", type: "gauge", help: "Memory utilization (in %).", text: integer(30, 60) },
  { family: "DCGM_FI_DEV_ENC_UTIL", type: "gauge", help: "Encoder utilization (in %).", text: constant("0") },
  { family: "DCGM_FI_DEV_DEC_UTIL", type: "gauge", help: "Decoder utilization (in %).", text: constant("0") },
  {
    family: "DCGM_FI_DEV_XID_ERRORS",
    type: "gauge",
    help: "Value of the last XID error encountered.",
    text: constant("0"),
  },
  { family: "DCGM_FI_DEV_FB_FREE", type: "gauge", help: "Framebuffer memory free (in MiB).", text: constant("12288") },
  { family: "DCGM_FI_DEV_FB_USED", type: "gauge", help: "Framebuffer memory used (in MiB).", text: constant("68812") },
  {
    family: "DCGM_FI_DEV_FB_RESERVED",
    type: "gauge",
    help: "Framebuffer memory reserved (in MiB).",
    text: constant("459"),
  },
  {
    family: "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    type: "gauge",
    help: "Total number of NVLink bandwidth counters for all lanes.",
    text: integer(100_000, 999_999),
  },
  { family: "DCGM_FI_DEV_VGPU_LICENSE_STATUS", type: "gauge", help: "vGPU License status", text: constant("0") },
  {
    family: "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    type: "counter",
    help: "Number of remapped rows for uncorrectable errors",
    text: constant("0"),
  },
  {
    family: "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    type: "counter",
    help: "Number of remapped rows for correctable errors",
    text: constant("0"),
  },
  {
    family: "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    type: "gauge",
    help: "Whether remapping of rows has failed",
    text: constant("0"),
  },
  {
    family: "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    type: "gauge",
    help: "Ratio of time the graphics engine is active.",
    text: ratio,
  },
  {
    family: "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    type: "gauge",
    help: "Ratio of cycles the tensor (HMMA) pipe is active.",
    text: ratio,
  },
  {
    family: "DCGM_FI_PROF_DRAM_ACTIVE",
    type: "gauge",
    help: "Ratio of cycles the device memory interface is active sending or receiving data.",
    text: ratio,
  },
  {
    family: "DCGM_FI_PROF_PCIE_TX_BYTES",
    type: "gauge",
    help: "The rate of data transmitted over the PCIe bus.",
    text: integer(1_000_000_000, 9_999_999_999),
  },
  {
    family: "DCGM_FI_PROF_PCIE_RX_BYTES",
    type: "gauge",
    help: "The rate of data received over the PCIe bus.",
    text: integer(1_000_000_000, 9_999_999_999),
  },
];

/** The metrics that rules read beside the default families, of healthy GPUs. */
const RULES_MOTIONS: readonly Motion[] = [
  ["DCGM_FI_PROF_SM_ACTIVE", "gauge", ratio],
  ["DCGM_FI_DEV_SLOWDOWN_TEMP", "gauge", constant("90")],
  ["DCGM_FI_DEV_GPU_MAX_OP_TEMP", "gauge", constant("87")],
  ["DCGM_FI_DEV_MEM_MAX_OP_TEMP", "gauge", constant("95")],
  ["DCGM_FI_DEV_GPU_TEMP_LIMIT", "gauge", slow(33, 4)],
  ["DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "gauge", constant("0")],
  ["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "counter", constant("0")],
  ["DCGM_FI_DEV_ROW_REMAP_PENDING", "gauge", constant("0")],
  ["DCGM_FI_DEV_RETIRED_PENDING", "gauge", constant("0")],
  ["DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "counter", constant("0")],
  ["DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "counter", constant("0")],
  ["DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "counter", constant("0")],
  ["DCGM_EXP_GPU_HEALTH_STATUS", "gauge", constant("0")],
].map(([family, type, text]) => ({ family, type, text, help: "Read by rules." }) as Motion);

/** Returns the default families of an exporter, or those of the counters that are generated for the rules. */
export type Families = "stock" | "rules";

const MOTIONS_OF: Readonly<Record<Families, readonly Motion[]>> = {
  stock: MOTIONS,
  rules: [...MOTIONS, ...RULES_MOTIONS],
};

function slow(base: number, spread: number): Motion["text"] {
  return (gpu, tick) => String(base + (Math.floor(tick / 7 + gpu) % spread));
}

function watts(_: number, __: number, noise: () => number): string {
  return (500 + noise() * 199).toFixed(3);
}

/** Returns the number of values of a page of `gpus` GPUs. */
export const valuesOfPage = (gpus: number): number => MOTIONS.length * gpus;

/** A page with numbers that change in place at each collection, as fast as in a real exporter. */
export interface MovingPage {
  readonly bytes: Buffer;
  /** Writes the numbers of the next collection into `bytes`. */
  collect(): void;
}

/** The pod, in the namespace research, that holds a GPU. */
export function podOf(node: string, gpu: number): string {
  return `train-${node}-${gpu}`;
}

/** The UID of the pod that holds a GPU. */
export function uidOf(node: string, gpu: number): string {
  const hex = hash("sha256", `${node}/${gpu}`);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** Returns the page of one node. Equal nodes have equal pages at each collection. */
export function createMovingPage(node: string, gpus: number, families: Families = "stock"): MovingPage {
  const noise = createNoise(node);
  const parts: string[] = [];
  const patches: { readonly at: number; readonly gpu: number; readonly motion: Motion }[] = [];
  let length = 0;
  const push = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  for (const motion of MOTIONS_OF[families]) {
    const { family, type, help, text } = motion;
    push(`# HELP ${family} ${help}\n# TYPE ${family} ${type}\n`);
    for (let gpu = 0; gpu < gpus; gpu++) {
      const uuid = `GPU-${node.slice(-8).padStart(8, "0")}-1111-4222-8333-${String(gpu).padStart(12, "0")}`;
      push(
        `${family}{gpu="${gpu}",UUID="${uuid}",pci_bus_id="00000000:${(16 + gpu).toString(16).toUpperCase()}:00.0",device="nvidia${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="${node}",DCGM_FI_DRIVER_VERSION="550.144.03",container="main",namespace="research",pod="${podOf(node, gpu)}",pod_uid="${uidOf(node, gpu)}"} `,
      );
      patches.push({ at: length, gpu, motion });
      push(text(gpu, 0, noise));
      push("\n");
    }
  }
  const bytes = Buffer.from(parts.join(""), "latin1");
  let tick = 0;
  return {
    bytes,
    collect() {
      tick += 1;
      for (const { at, gpu, motion } of patches) bytes.write(motion.text(gpu, tick, noise), at, "latin1");
    },
  };
}

function createNoise(seed: string): () => number {
  let state = [...Buffer.from(seed)].reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5);
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
