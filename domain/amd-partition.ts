/** The mode in which AMD's driver presents one GPU: whole (SPX), or as several devices. */
export type AmdMode = "spx" | "dpx" | "tpx" | "qpx" | "cpx";

const MODE = /^(?:amd\.com\/)?(spx|dpx|tpx|qpx|cpx)_nps\d$/i;
/** In CPX mode, each XCD of a GPU is a separate device. Most Instinct models have 8. */
const XCDS: readonly (readonly [model: RegExp, xcds: number])[] = [
  [/MI300A/i, 6],
  [/MI308/i, 4],
];
const MOST_XCDS = 8;

/**
 * Returns the mode in a resource name of AMD's mixed naming strategy (`amd.com/cpx_nps1`) or in the value of the label
 * `amd.com/compute-memory-partition` (https://github.com/ROCm/k8s-device-plugin); undefined for any other text.
 */
export function amdModeOf(name: string): AmdMode | undefined {
  return MODE.exec(name)?.[1]?.toLowerCase() as AmdMode | undefined;
}

/**
 * Returns the number of devices that one GPU of a model has in a mode
 * (https://instinct.docs.amd.com/projects/amdgpu-docs/en/latest/gpu-partitioning/index.html).
 */
export function amdPartitions(mode: AmdMode, model: string | undefined): number {
  switch (mode) {
    case "spx":
      return 1;
    case "dpx":
      return 2;
    case "tpx":
      return 3;
    case "qpx":
      return 4;
    case "cpx":
      return XCDS.find(([pattern]) => pattern.test(model ?? ""))?.[1] ?? MOST_XCDS;
  }
}
