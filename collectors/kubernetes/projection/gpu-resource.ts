import { amdModeOf } from "../../../domain/amd-partition.ts";
import type { NodeGpus } from "../../../domain/inventory.ts";

/** Who makes the device behind a resource. */
export type Vendor = NodeGpus["vendor"];

/** What a resource name means. */
export type GpuResource =
  /** A whole device, or a replica or partition of one. */
  | { readonly kind: "gpu"; readonly vendor: Vendor }
  | { readonly kind: "mig"; readonly vendor: "nvidia"; readonly profile: string }
  /** A share's measure: HAMi's stands beside `nvidia.com/gpu`, Volcano's beside its own number. */
  | {
      readonly kind: "measure";
      readonly vendor: "nvidia";
      readonly scheduler: "hami" | "volcano";
      readonly of: "number" | "memory" | "memory-percent" | "cores";
    };

const KNOWN: ReadonlyMap<string, GpuResource> = new Map<string, GpuResource>([
  ["nvidia.com/gpu", { kind: "gpu", vendor: "nvidia" }],
  ["nvidia.com/gpu.shared", { kind: "gpu", vendor: "nvidia" }],
  ["amd.com/gpu", { kind: "gpu", vendor: "amd" }],
  ["gpu.intel.com/i915", { kind: "gpu", vendor: "intel" }],
  ["gpu.intel.com/xe", { kind: "gpu", vendor: "intel" }],
  ["habana.ai/gaudi", { kind: "gpu", vendor: "habana" }],
  ["aws.amazon.com/neuron", { kind: "gpu", vendor: "aws" }],
  ["nvidia.com/gpumem", { kind: "measure", vendor: "nvidia", scheduler: "hami", of: "memory" }],
  ["nvidia.com/gpumem-percentage", { kind: "measure", vendor: "nvidia", scheduler: "hami", of: "memory-percent" }],
  ["nvidia.com/gpucores", { kind: "measure", vendor: "nvidia", scheduler: "hami", of: "cores" }],
  ["volcano.sh/vgpu-number", { kind: "measure", vendor: "nvidia", scheduler: "volcano", of: "number" }],
  ["volcano.sh/vgpu-memory", { kind: "measure", vendor: "nvidia", scheduler: "volcano", of: "memory" }],
  [
    "volcano.sh/vgpu-memory-percentage",
    { kind: "measure", vendor: "nvidia", scheduler: "volcano", of: "memory-percent" },
  ],
  ["volcano.sh/vgpu-cores", { kind: "measure", vendor: "nvidia", scheduler: "volcano", of: "cores" }],
]);

/**
 * A MIG resource of NVIDIA's device plugin: the profile with `+` written as `.`, since a resource's name has no plus;
 * `.shared` stands behind where instances are time-sliced under another name.
 */
const MIG = /^nvidia\.com\/mig-((?:\d+c\.)?\d+g\.\d+gb)((?:[.+-](?:me|gfx)(?:\.all)?)*)(?:\.shared)?$/;

/**
 * What a resource name means, or undefined where it is no GPU's. `extra` are further names of whole devices, with their
 * vendor, from the configuration.
 */
export function gpuResource(name: string, extra?: ReadonlyMap<string, Vendor>): GpuResource | undefined {
  const known = KNOWN.get(name);
  if (known !== undefined) return known;
  const match = name.startsWith("nvidia.com/mig-") ? MIG.exec(name) : null;
  if (match !== null) return { kind: "mig", vendor: "nvidia", profile: match[1]! + plus(match[2]!) };
  if (name.startsWith("amd.com/") && amdModeOf(name) !== undefined) return { kind: "gpu", vendor: "amd" };
  const vendor = extra?.get(name);
  return vendor === undefined ? undefined : { kind: "gpu", vendor };
}

/** The attributes as NVIDIA writes them: `+me`; `-me`, which asks for an instance without media engines, stays. */
function plus(attributes: string): string {
  return attributes.replace(/\.(me|gfx)/g, "+$1");
}
