import {
  gpuResource,
  KNOWN_RESOURCES,
  type GpuResource,
  type ResourceNames,
} from "../../kubernetes/projection/gpu-resource.ts";

/** Resources of Kubernetes itself that the projection reads, and accelerators that it recognizes without metering them. */
const OTHERS = [
  "cpu",
  "memory",
  "habana.ai/gaudi",
  "aws.amazon.com/neuron",
  "aws.amazon.com/neurondevice",
  "aws.amazon.com/neuroncore",
  "google.com/tpu",
];

const MIG = /^nvidia_com_mig_((?:\d+c_)?\d+g_\d+gb(?:_(?:me|gfx)(?:_all)?)*(?:_shared)?)$/;
const AMD_MODE = /^amd_com_((?:spx|dpx|tpx|qpx|cpx)_nps\d)$/i;
/** The same in the syntax of RE2, for {@link gpuResourceRegexp}. */
const PATTERNS = ["nvidia_com_mig_[0-9].*", "amd_com_[sdtqc]px_nps[0-9]"];

/**
 * Returns a name as kube-state-metrics writes resources: each character that a label name cannot have is an underscore (`SanitizeLabelName`
 * in https://github.com/kubernetes/kube-state-metrics/blob/main/internal/store/utils.go).
 */
export function sanitized(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, "_");
}

/** Restores names of resources. */
export interface ResourceReader {
  /** Returns the name of a resource in Kubernetes; undefined for a resource that the projection does not read. */
  read(written: string): string | undefined;
  /** Returns the meaning of a GPU resource by its written name; undefined for any other. */
  gpu(written: string): GpuResource | undefined;
}

/**
 * Creates a reader of resource names. `own` are the names of the configuration. A MIG profile without media engines (`-me`) is read as one
 * with them (`.me`), because both are written `_me`.
 */
export function createResourceReader(own?: ResourceNames): ResourceReader {
  const names = new Map([...KNOWN_RESOURCES, ...OTHERS, ...(own?.keys() ?? [])].map((name) => [sanitized(name), name]));

  function read(written: string): string | undefined {
    const [, profile] = MIG.exec(written) ?? [];
    if (profile !== undefined) return `nvidia.com/mig-${profile.replaceAll("_", ".")}`;
    const [, mode] = AMD_MODE.exec(written) ?? [];
    return mode === undefined ? names.get(written) : `amd.com/${mode}`;
  }

  return {
    read,
    gpu(written) {
      const name = read(written);
      return name === undefined ? undefined : gpuResource(name, own);
    },
  };
}

/** Returns a regular expression for the label `resource` that matches the GPU resources, for a selector in PromQL. */
export function gpuResourceRegexp(own?: ResourceNames): string {
  return [...new Set([...KNOWN_RESOURCES, ...(own?.keys() ?? [])].map(sanitized)), ...PATTERNS].join("|");
}
