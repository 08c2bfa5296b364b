import { affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeWorkload } from "../facts.ts";
import { memoryText } from "../quantity.ts";

/** GPUs without CPU and memory. */
export const withoutCpuAndMemory = createCheck(
  {
    name: "no-cpu-and-memory-requests",
    severity: "medium",
    title: "GPU requests without CPU or memory requests",
    what: "A pod requests GPUs, and none of its containers requests CPU, or none requests memory.",
    why: "The scheduler then places other pods onto the same CPUs and memory. The GPU waits for its input, and the pod is among the first that are evicted or killed.",
    fix: (object) =>
      inTemplate(object, 'resources: { requests: { cpu: "8", memory: 64Gi }, limits: { memory: 64Gi } }'),
  },
  ({ workloads }) =>
    workloads.flatMap((workload) => {
      const missing = new Set(workload.pods.flatMap(missingOf));
      return missing.size === 0
        ? []
        : affectedWorkload(workload, { detail: `no request of ${[...missing].join(", ")}` });
    }),
);

/** Memory that a pod may use and did not request. */
export const requestsUnlikeLimits = createCheck(
  {
    name: "memory-request-unlike-limit",
    severity: "low",
    title: "Memory requests unlike the limits",
    what: "A pod with GPUs requests less memory than its limit, or requests memory and has no limit.",
    why: "The pod can use memory that the node has promised to others. When memory is short, the kernel kills a pod, and the GPU time since its last checkpoint is lost. CPU is left out, because a pod without CPU only waits.",
    fix: (object) =>
      inTemplate(object, `resources: { requests: { memory: ${object.value} }, limits: { memory: ${object.value} } }`),
  },
  ({ workloads }) =>
    workloads.flatMap((workload) => {
      const unlike = workload.pods.flatMap(({ compute }) => {
        const { memoryRequestBytes: request, memoryLimitBytes: limit } = compute ?? {};
        return request === undefined || limit === request ? [] : [{ request, limit }];
      });
      const [first] = unlike;
      if (first === undefined) return [];
      const { request, limit } = first;
      return affectedWorkload(workload, {
        value: memoryText(limit ?? request),
        detail: `requests ${memoryText(request)}, limit ${limit === undefined ? "none" : memoryText(limit)}`,
      });
    }),
);

/** Images that can change. */
export const imageNotPinned = createCheck(
  {
    name: "image-not-pinned",
    severity: "low",
    title: "Images that are not pinned",
    what: "A container with GPUs has an image without a digest, whose tag is `latest` or absent.",
    why: "A pod that starts again can get another program than before. A run cannot be repeated, and a bad image takes the GPUs of every replica.",
    fix: (object) => inTemplate(object, `image: ${object.value}@sha256:…   # the digest of the image that was tested`),
  },
  ({ workloads }) =>
    workloads.flatMap((workload) => {
      const images = [...new Set(workload.pods.flatMap(({ unpinnedImages = [] }) => unpinnedImages))].sort();
      if (images.length === 0) return [];
      const value = images[0]!.replace(/:latest$/, "");
      return affectedWorkload(workload, { value, detail: images.slice(0, MOST_IMAGES).join(", ") });
    }),
);

/** The most images that the detail of a workload names. */
const MOST_IMAGES = 3;

/** Returns `CPU` and `memory` if a pod requests none; nothing for a pod of an old fact. */
function missingOf({ compute, asks }: PracticeWorkload["pods"][number]): readonly string[] {
  if (compute === undefined || asks.length === 0) return [];
  return [
    ...(compute.cpuRequestMillicores === undefined ? ["CPU"] : []),
    ...(compute.memoryRequestBytes === undefined ? ["memory"] : []),
  ];
}
