import { gpuResource, type ResourceNames } from "./gpu-resource.ts";
import { parseAmount } from "./quantity.ts";
import { OF_CONTAINER } from "./pod/fraction.ts";
import { READ_ANNOTATIONS } from "./read-names.ts";
import type { Remark } from "./remark.ts";

/** Resources of GPU vendors that are not GPUs: network devices, priorities, monitoring, parts of a device in addition to it. */
const NO_GPUS = [
  /^nvidia\.com\/(hostdev|rdma|mlnx|sriov|ib|cx\d|bf\d|imex|priority)/i,
  /^volcano\.sh\/(?!vgpu-number)/,
  /^gpu\.intel\.com\/(.*_monitoring|monitoring|millicores|memory\.max|tiles)$/,
];
/** Accelerators without a supported exporter, and devices that are passed through to a virtual machine. */
const KNOWN_WHY: readonly (readonly [name: RegExp, why: string])[] = [
  [/^habana\.ai\//, "exporters of Gaudi are not supported"],
  [/^aws\.amazon\.com\/neuron/, "exporters of Neuron devices are not supported"],
  [/^google\.com\/tpu/, "exporters of TPUs are not supported"],
  [
    /^(nvidia|amd)\.com\/[A-Z]/,
    "KubeVirt gives the device to a virtual machine, where no exporter of the cluster sees it",
  ],
];
const GPU_DOMAINS = new Set(["nvidia.com", "amd.com", "gpu.intel.com", "hami.io"]);
const LOOKS_LIKE_GPU =
  /(^|[^a-z])[sv]?gpus?([^a-z]|$)|cuda|neuron|gaudi|directx|ascend|[^a-z](tpu|npu|dpu|xpu|dcu|gcu|mlu)|(^|\/|\.)mig[-.]/i;
/** Parts of a device. Counting them as GPUs would be wrong. */
const IS_PART = /mem|core|share|percent/i;

/**
 * Returns remarks for resources above 0 that look like GPUs and are not metered: accelerators without an exporter, and resources of GPU
 * vendors with an unknown meaning. Each remark names the configuration key for the resource. `where` begins the sentence.
 */
export function unmeteredRemarks(
  where: string,
  quantities: Readonly<Record<string, unknown>> | null | undefined,
  own: ResourceNames | undefined,
): readonly Remark[] {
  return Object.entries(quantities ?? {}).flatMap(([name, quantity]): readonly Remark[] => {
    const parsed = parseAmount(quantity);
    if (!("value" in parsed) || parsed.value === 0) return [];
    const why = whyUnmetered(name, own);
    if (why === undefined) return [];
    const advice = IS_PART.test(name) ? "" : " If it counts whole GPUs, add it to kubernetes.gpuResources.";
    return [
      { reason: "unmetered", text: `${where} ${name}: ${parsed.value} is not metered, because ${why}.${advice}` },
    ];
  });
}

/** Names of annotations by which schedulers give a pod a share of a GPU. */
const LOOKS_LIKE_SHARE =
  /-devices-allocated$|(^|[/.-])[sv]?gpu-?(mem|memory|fraction|cores?|share|percentage)([.-](request|limit|percent|percentage))?$/i;

/** Returns remarks for annotations that look like a share of a GPU, of a scheduler that is not known. */
export function unreadShares(annotations: Readonly<Record<string, string>>): readonly Remark[] {
  return Object.keys(annotations)
    .filter(
      (name) =>
        LOOKS_LIKE_SHARE.test(name) &&
        !READ_ANNOTATIONS.includes(name) &&
        !OF_CONTAINER.test(name) &&
        !name.startsWith("runai-"),
    )
    .map((name) => ({
      reason: "unmetered",
      text: `Its annotation ${name} looks like a share of a GPU, and no scheduler with this annotation is known.`,
    }));
}

function whyUnmetered(name: string, own: ResourceNames | undefined): string | undefined {
  if (gpuResource(name, own) !== undefined || NO_GPUS.some((pattern) => pattern.test(name))) return undefined;
  const known = KNOWN_WHY.find(([pattern]) => pattern.test(name));
  if (known !== undefined) return known[1];
  const [domain = ""] = name.split("/");
  const looksLikeGpu = name.includes("/") && (GPU_DOMAINS.has(domain) || LOOKS_LIKE_GPU.test(name));
  return looksLikeGpu ? "no resource of this name is known" : undefined;
}
