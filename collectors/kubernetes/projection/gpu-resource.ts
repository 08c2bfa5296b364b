import { amdModeOf } from "../../../domain/amd-partition.ts";
import type { Vendor } from "../../../domain/vendor.ts";

/** The meaning of a resource name. */
export type GpuResource =
  /** A whole device, or a replica or partition of one. */
  | { readonly kind: "gpu"; readonly vendor: Vendor }
  | { readonly kind: "mig"; readonly vendor: "nvidia"; readonly profile: string }
  /**
   * A measure of a share. HAMi's measures accompany `nvidia.com/gpu`, `amd.com/gpu` or HAMi's own number; Volcano's accompany its own
   * number.
   */
  | {
      readonly kind: "measure";
      readonly vendor: "nvidia" | "amd";
      readonly scheduler: "hami" | "hami-amd" | "volcano";
      readonly of: "number" | "memory" | "memory-percent" | "cores";
    };

/** Resource names from the configuration, with their meaning. */
export type ResourceNames = ReadonlyMap<string, GpuResource>;

/** HAMi's resource names, with the keys of its Helm chart. */
export interface HamiNames {
  readonly resourceName?: string | undefined;
  readonly resourceMem?: string | undefined;
  readonly resourceMemPercentage?: string | undefined;
  readonly resourceCores?: string | undefined;
}

type Measure = Extract<GpuResource, { kind: "measure" }>;

const gpu = (vendor: Vendor): GpuResource => ({ kind: "gpu", vendor });
const measure = (scheduler: Measure["scheduler"], of: Measure["of"]): Measure => ({
  kind: "measure",
  vendor: scheduler === "hami-amd" ? "amd" : "nvidia",
  scheduler,
  of,
});

/** The known resource names. HAMi's number has several: users choose another name if another device plugin already has `nvidia.com/gpu`. */
const KNOWN: ResourceNames = new Map<string, GpuResource>([
  ["nvidia.com/gpu", gpu("nvidia")],
  ["nvidia.com/gpu.shared", gpu("nvidia")],
  ["amd.com/gpu", gpu("amd")],
  ["gpu.intel.com/i915", gpu("intel")],
  ["gpu.intel.com/xe", gpu("intel")],
  ["nvidia.com/vgpu", measure("hami", "number")],
  ["nvidia.com/gpu.hami", measure("hami", "number")],
  ["hami.io/gpu", measure("hami", "number")],
  ...["nvidia.com", "hami.io"].flatMap((domain) => [
    [`${domain}/gpumem`, measure("hami", "memory")] as const,
    [`${domain}/gpumem-percentage`, measure("hami", "memory-percent")] as const,
    [`${domain}/gpucores`, measure("hami", "cores")] as const,
  ]),
  // https://github.com/Project-HAMi/amd-device-plugin
  ["amd.com/gpumem", measure("hami-amd", "memory")],
  ["amd.com/gpumem-percentage", measure("hami-amd", "memory-percent")],
  ["amd.com/gpucores", measure("hami-amd", "cores")],
  ["volcano.sh/vgpu-number", measure("volcano", "number")],
  ["volcano.sh/vgpu-memory", measure("volcano", "memory")],
  ["volcano.sh/vgpu-memory-percentage", measure("volcano", "memory-percent")],
  ["volcano.sh/vgpu-cores", measure("volcano", "cores")],
]);

/** The resource names with a fixed meaning. Names of MIG profiles and of AMD's modes follow a pattern instead. */
export const KNOWN_RESOURCES: readonly string[] = [...KNOWN.keys()];

/**
 * A MIG resource of NVIDIA's device plugin: the profile with `.` for `+`, because a resource name cannot contain a plus. The suffix
 * `.shared` marks instances that are time-sliced under another name. OpenShift's Dynamic Accelerator Slicer renames the resources
 * (https://github.com/openshift/instaslice-operator).
 */
const MIG =
  /^(?:nvidia\.com\/mig-|mig\.das\.com\/)((?:\d+c\.)?\d+g\.\d+gb)((?:[.+-](?:me|gfx)(?:\.all)?)*)(?:\.shared)?$/;

/** Returns the names of a configuration: additional whole devices, and HAMi's names. */
export function resourceNamesOf(
  gpuResources: Readonly<Record<string, Vendor>>,
  { resourceName, resourceMem, resourceMemPercentage, resourceCores }: HamiNames = {},
): ResourceNames {
  const names = new Map<string, GpuResource>();
  for (const [name, vendor] of Object.entries(gpuResources)) if (!KNOWN.has(name)) names.set(name, gpu(vendor));
  const hami = [
    [resourceName, "number"],
    [resourceMem, "memory"],
    [resourceMemPercentage, "memory-percent"],
    [resourceCores, "cores"],
  ] as const;
  for (const [name, of] of hami) {
    if (name !== undefined && KNOWN.get(name)?.kind !== "gpu") names.set(name, measure("hami", of));
  }
  return names;
}

/** Returns the meaning of a resource name; undefined if it is not a GPU resource. `own` are the names of the configuration. */
export function gpuResource(name: string, own?: ResourceNames): GpuResource | undefined {
  const known = own?.get(name) ?? KNOWN.get(name);
  if (known !== undefined) return known;
  const match = MIG.exec(name);
  if (match !== null) return { kind: "mig", vendor: "nvidia", profile: match[1]! + plus(match[2]!) };
  return name.startsWith("amd.com/") && amdModeOf(name) !== undefined ? gpu("amd") : undefined;
}

/** Returns the attributes in NVIDIA's notation: `+me`. `-me`, which requests an instance without media engines, stays. */
function plus(attributes: string): string {
  return attributes.replace(/\.(me|gfx)/g, "+$1");
}
