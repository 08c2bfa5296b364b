import type { Remarks } from "../remark.ts";
import { parseCount } from "../quantity.ts";

/** The GPUs of a node as HAMi's or Volcano's device plugin registers them. */
export interface RegisteredGpus {
  readonly count: number;
  readonly model?: string;
  /** The memory of a GPU: MiB, or larger units if the device plugin of Volcano has a memory factor. */
  readonly memoryMiB?: number;
}

/** The annotations with the register, and the fields of an entry with the memory (MiB) and the model. */
const ANNOTATIONS = [
  { vendor: "nvidia", name: "hami.io/node-nvidia-register", memory: 2, model: 4 },
  { vendor: "nvidia", name: "volcano.sh/node-vgpu-register", memory: 2, model: 3 },
  { vendor: "amd", name: "hami.io/node-amd-register", memory: 2, model: 4 },
];

/**
 * Reads the registered GPUs of a vendor. With these schedulers a capacity of `nvidia.com/gpu` counts shares, by default ten per GPU. An entry is
 * `UUID,shares,MiB,…:`, or an object in a JSON list in later versions of HAMi. The model is written like GFD's, without the vendor name
 * that both put before it.
 */
export function readRegister(
  vendor: "nvidia" | "amd",
  annotations: Readonly<Record<string, string>>,
  remarks: Remarks,
): RegisteredGpus | undefined {
  for (const { vendor: own, name, memory, model } of ANNOTATIONS) {
    const written = annotations[name];
    if (own !== vendor || written === undefined || written === "") continue;
    const entries = written.trimStart().startsWith("[") ? readJson(written) : readText(written, memory, model);
    if (entries.length > 0) {
      const [{ memoryMiB, model: named }] = entries as [Entry];
      const parsed = parseCount(memoryMiB);
      return {
        count: entries.length,
        ...("value" in parsed && parsed.value > 0 ? { memoryMiB: parsed.value } : {}),
        ...(named === undefined || named === ""
          ? {}
          : { model: named.replace(/^NVIDIA-(?=.)/, "").replaceAll(" ", "-") }),
      };
    }
    remarks.push({ reason: "annotation", text: `${name} has no readable GPU.` });
  }
  return undefined;
}

interface Entry {
  readonly memoryMiB: unknown;
  readonly model: string | undefined;
}

function readText(written: string, memory: number, model: number): readonly Entry[] {
  return written
    .split(":")
    .map((entry) => entry.trim().split(","))
    .filter((fields) => fields.length > 3 && fields[0]!.startsWith("GPU-"))
    .map((fields) => ({ memoryMiB: fields[memory], model: fields[model] }));
}

function readJson(written: string): readonly Entry[] {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    return [];
  }
  if (!Array.isArray(value)) return [];
  return (value as readonly unknown[]).flatMap((entry) => {
    if (typeof entry !== "object" || entry === null) return [];
    const { id, devmem, type } = entry as { id?: unknown; devmem?: unknown; type?: unknown };
    return typeof id === "string" ? [{ memoryMiB: devmem, model: typeof type === "string" ? type : undefined }] : [];
  });
}
