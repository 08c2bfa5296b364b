import { hash } from "node:crypto";
import { messagesOf, type PageReader } from "../collectors/exporters/page/reader.ts";
import type { PageSource } from "../collectors/exporters/page/gpu-pages.ts";

/** The text of a value at a collection. All texts of a value have the same length, so that pages change in place. */
type Text = (gpu: number, tick: number, noise: () => number) => string;

/** A family of the page. */
interface Motion {
  readonly family: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly text: Text;
}

const dev = (name: string, help: string, text: Text, type: Motion["type"] = "gauge"): Motion => ({
  family: `DCGM_FI_DEV_${name}`,
  type,
  help,
  text,
});
const prof = (name: string, help: string, text: Text): Motion => ({
  ...dev(name, help, text),
  family: `DCGM_FI_PROF_${name}`,
});
const constant =
  (text: string): Text =>
  () =>
    text;
const zero = constant("0");
const integer =
  (least: number, most: number): Text =>
  (_, __, noise) =>
    String(least + Math.floor(noise() * (most - least + 1)));
const ratio: Text = (_, __, noise) => (0.1 + noise() * 0.89).toFixed(6);
const watts: Text = (_, __, noise) => (500 + noise() * 199).toFixed(3);
const slow =
  (base: number, spread: number): Text =>
  (gpu, tick) =>
    String(base + (Math.floor(tick / 7 + gpu) % spread));
const millijoules: Text = (gpu, tick, noise) =>
  String(400_000_000_000 + gpu * 7_000_000 + tick * 16_500_000 + Math.floor(noise() * 900_000));

/**
 * The 25 default families of dcgm-exporter with the noise of genuine pages of busy GPUs: profiling ratios, power
 * and throughput differ in all digits at each collection, utilization by whole percents, temperatures by a degree at
 * times. The energy counter grows by power × time in millijoules. Clocks move between a few steps. Memory is constant while
 * a model is loaded. Error counters do not change.
 */
const MOTIONS: readonly Motion[] = [
  dev("SM_CLOCK", "SM clock frequency (in MHz).", integer(1965, 1980)),
  dev("MEM_CLOCK", "Memory clock frequency (in MHz).", constant("2619")),
  dev("MEMORY_TEMP", "Memory temperature (in C).", slow(62, 3)),
  dev("GPU_TEMP", "GPU temperature (in C).", slow(54, 4)),
  dev("POWER_USAGE", "Power draw (in W).", watts),
  dev("TOTAL_ENERGY_CONSUMPTION", "Total energy consumption since boot (in mJ).", millijoules, "counter"),
  dev("PCIE_REPLAY_COUNTER", "Total number of PCIe retries.", zero, "counter"),
  dev("GPU_UTIL", "GPU utilization (in %).", integer(80, 99)),
  dev("MEM_COPY_UTIL", "Memory utilization (in %).", integer(30, 60)),
  dev("ENC_UTIL", "Encoder utilization (in %).", zero),
  dev("DEC_UTIL", "Decoder utilization (in %).", zero),
  dev("XID_ERRORS", "Value of the last XID error encountered.", zero),
  dev("FB_FREE", "Framebuffer memory free (in MiB).", constant("12288")),
  dev("FB_USED", "Framebuffer memory used (in MiB).", constant("68812")),
  dev("FB_RESERVED", "Framebuffer memory reserved (in MiB).", constant("459")),
  dev("NVLINK_BANDWIDTH_TOTAL", "Total number of NVLink bandwidth counters for all lanes.", integer(100_000, 999_999)),
  dev("VGPU_LICENSE_STATUS", "vGPU License status", zero),
  dev("UNCORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for uncorrectable errors", zero, "counter"),
  dev("CORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for correctable errors", zero, "counter"),
  dev("ROW_REMAP_FAILURE", "Whether remapping of rows has failed", zero),
  prof("GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", ratio),
  prof("PIPE_TENSOR_ACTIVE", "Ratio of cycles the tensor (HMMA) pipe is active.", ratio),
  prof("DRAM_ACTIVE", "Ratio of cycles the device memory interface is active sending or receiving data.", ratio),
  prof("PCIE_TX_BYTES", "The rate of data transmitted over the PCIe bus.", integer(1_000_000_000, 9_999_999_999)),
  prof("PCIE_RX_BYTES", "The rate of data received over the PCIe bus.", integer(1_000_000_000, 9_999_999_999)),
];

/** The metrics that rules read beside the default families, of healthy GPUs. */
const RULES_MOTIONS: readonly Motion[] = [
  prof("SM_ACTIVE", "Read by rules.", ratio),
  dev("SLOWDOWN_TEMP", "Read by rules.", constant("90")),
  dev("GPU_MAX_OP_TEMP", "Read by rules.", constant("87")),
  dev("MEM_MAX_OP_TEMP", "Read by rules.", constant("95")),
  dev("GPU_TEMP_LIMIT", "Read by rules.", slow(33, 4)),
  dev("CLOCKS_EVENT_REASONS", "Read by rules.", zero),
  dev("ECC_DBE_VOL_TOTAL", "Read by rules.", zero, "counter"),
  dev("ROW_REMAP_PENDING", "Read by rules.", zero),
  dev("RETIRED_PENDING", "Read by rules.", zero),
  ...["FLIT", "DATA"].map((of) => dev(`NVLINK_CRC_${of}_ERROR_COUNT_TOTAL`, "Read by rules.", zero, "counter")),
  dev("NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "Read by rules.", zero, "counter"),
  { family: "DCGM_EXP_GPU_HEALTH_STATUS", type: "gauge", help: "Read by rules.", text: zero },
];

/** The default families of an exporter, or with those of the counters that are generated for the rules. */
export type Families = "stock" | "rules";

/** Returns the number of values of a page of `gpus` GPUs. */
export const valuesOfPage = (gpus: number): number => MOTIONS.length * gpus;

/** A page with numbers that change in place at each collection, as fast as in a real exporter. */
export interface MovingPage {
  readonly bytes: Buffer;
  /** Writes the numbers of the next collection into `bytes`. */
  collect(): void;
}

/** Lays a page out of texts and numbers. The text of a number has the same length at each collection. */
export function layPage(
  lay: (put: (text: string) => void, number: (text: (tick: number) => string) => void) => void,
): MovingPage {
  const parts: string[] = [];
  const numbers: { readonly at: number; readonly text: (tick: number) => string }[] = [];
  let length = 0;
  const put = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  lay(put, (text) => {
    numbers.push({ at: length, text });
    put(`${text(0)}\n`);
  });
  const bytes = Buffer.from(parts.join(""), "latin1");
  let tick = 0;
  return {
    bytes,
    collect() {
      tick += 1;
      for (const { at, text } of numbers) bytes.write(text(tick), at, "latin1");
    },
  };
}

/** The name of a node. */
export const nameOf = (number: number): string => `node-${String(number).padStart(6, "0")}`;

/** The pod, in the namespace research, that holds a GPU. */
export const podOf = (node: string, gpu: number): string => `train-${node}-${gpu}`;

/** The UID of the pod that holds a GPU. */
export function uidOf(node: string, gpu: number): string {
  const hex = hash("sha256", `${node}/${gpu}`);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** The UUID of a GPU. */
export function uuidOf(node: string, gpu: number): string {
  return `GPU-${node.slice(-8).padStart(8, "0")}-1111-4222-8333-${String(gpu).padStart(12, "0")}`;
}

/** Returns the page of one node. Equal nodes have equal pages at each collection. */
export function createMovingPage(node: string, gpus: number, families: Families = "stock"): MovingPage {
  const noise = createNoise(node);
  return layPage((put, number) => {
    for (const { family, type, help, text } of families === "rules" ? [...MOTIONS, ...RULES_MOTIONS] : MOTIONS) {
      put(`# HELP ${family} ${help}\n# TYPE ${family} ${type}\n`);
      for (let gpu = 0; gpu < gpus; gpu++) {
        put(
          `${family}{gpu="${gpu}",UUID="${uuidOf(node, gpu)}",pci_bus_id="00000000:${(16 + gpu).toString(16).toUpperCase()}:00.0",device="nvidia${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="${node}",DCGM_FI_DRIVER_VERSION="550.144.03",container="main",namespace="research",pod="${podOf(node, gpu)}",pod_uid="${uidOf(node, gpu)}"} `,
        );
        number((tick) => text(gpu, tick, noise));
      }
    }
  });
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

/** Returns the source of a page, as a collector has it. */
export function sourceOf(node: string): PageSource {
  const origin = { cluster: "test", node, target: `http://${node}:9400/metrics`, collector: "bench" };
  return { key: node, origin: () => origin };
}

/** Reads a page like a collector. Returns its messages. */
export function messagesOfPage<Source>(
  reader: PageReader<Source>,
  source: Source,
  { bytes }: Pick<MovingPage, "bytes">,
  moment: Partial<Parameters<typeof messagesOf>[1]> = {},
): readonly Uint8Array[] {
  const reading = reader.read(source, bytes, true);
  if ("failure" in reading) throw new Error(reading.failure.detail);
  const standard = { epoch: 1, sequence: 1, scrapedAtMillis: 1, intervalMillis: 30_000, durationMicros: 1 };
  return messagesOf(reading, { ...standard, ...moment }).map(({ message }) => message);
}
