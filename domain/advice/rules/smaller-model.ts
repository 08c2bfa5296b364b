import { usableMemoryMiB } from "../../gpu-model/names.ts";
import { peaksOf, type ModelPeaks } from "../../gpu-model/peaks.ts";
import { doubtsOf } from "../doubts.ts";
import { needOfSingleGpus, shapeFields, withHeadroom, type Need } from "../need.ts";
import { gib, percent, subjectOf, whereOf, type GpuShape, type WorkloadRule } from "../rule.ts";

/** The part of the other GPU's compute and bandwidth that the work may take. */
const LARGEST_PART = 0.8;
/** Work is bound by memory bandwidth if its tensor cores rest and its memory does not. */
const MEMORY_BOUND = { tensor: 0.05, dram: 0.6 };

/**
 * Finds pods with one whole GPU whose work and memory fit on another model. Activity counts as if the work kept all of the GPU's tensor cores
 * busy, which is more than it does. The job defense shield's rule "GPU too powerful" takes 20 % and 10 GB as limits; here the peaks of both
 * models decide. All fitting shapes that cost less are proposed, and their bills decide between them.
 */
export const smallerModel: WorkloadRule = (workload, context) => {
  const need = needOfSingleGpus(workload);
  if (typeof need === "string") return need;
  const own = need === undefined ? undefined : peaksOf(need.model);
  if (need === undefined || own === undefined) return [];
  const isMemoryBound =
    need.dram !== undefined &&
    need.tensor !== undefined &&
    need.tensor < MEMORY_BOUND.tensor &&
    need.dram > MEMORY_BOUND.dram;
  return context.shapes.flatMap((shape) => {
    const parts =
      shape.model === need.model || !isLikeOwn(shape, need) ? undefined : partsOf(need, own, shape, isMemoryBound);
    const memoryMiB = usableMemoryMiB(shape.model);
    if (parts === undefined || memoryMiB === undefined) return [];
    if (memoryMiB < withHeadroom(need.memoryMiB, context) || Math.max(...Object.values(parts)) > LARGEST_PART)
      return [];
    return [
      {
        kind: "smaller-model" as const,
        subject: { ...subjectOf(workload), model: need.model },
        from: context.window.from,
        changes: [{ move: whereOf(workload), to: shapeFields(shape) }],
        figures: [
          { name: "Holds", value: `a whole ${need.model} in each pod` },
          { name: "Activity, p98 of peaks", value: percent(need.activity) },
          { name: "Most memory in use", value: gib(need.memoryMiB) },
          ...(need.tensor === undefined ? [] : [{ name: "Tensor cores, p95", value: percent(need.tensor) }]),
          ...(need.dram === undefined ? [] : [{ name: "Memory bandwidth, p95", value: percent(need.dram) }]),
          { name: "Bound by", value: isMemoryBound ? "memory bandwidth" : "compute, or neither" },
          { name: `Of a ${shape.model}`, value: partsText(parts) },
        ],
        remedy: {
          what: `Run the pods on ${shape.model} instead of ${need.model}.`,
          lines: ["nodeSelector:", `  nvidia.com/gpu.product: ${shape.model}`].join("\n"),
        },
        risks: [
          `The memory has ${percent(memoryMiB / need.memoryMiB - 1)} of headroom above the measured peak. A larger model or batch does not fit.`,
          "Single requests take longer on the other GPU. The image and the kernels must support it.",
        ],
        doubts: [
          ...doubtsOf(workload, context),
          ...(need.dram === undefined ? ["The need of memory bandwidth is not known."] : []),
        ],
      },
    ];
  });
};

/** Returns true if a shape is paid for in the same way and in the same region as the workload's GPUs, as far as both are known. */
function isLikeOwn({ capacityType, region }: GpuShape, { devices }: Need): boolean {
  return devices.every(({ machine }) =>
    [
      [capacityType, machine.capacityType],
      [region, machine.region],
    ].every(([one, other]) => one === undefined || other === undefined || one === other),
  );
}

/** Returns the parts of another GPU's peaks that the work would take; undefined if the peaks are unknown. */
function partsOf(
  { activity, tensor, dram }: Need,
  own: ModelPeaks,
  { model }: GpuShape,
  isMemoryBound: boolean,
): { readonly compute: number; readonly bandwidth?: number } | undefined {
  const other = peaksOf(model);
  if (other === undefined) return undefined;
  const compute = ((isMemoryBound ? tensor! : activity) * own.teraflops) / other.teraflops;
  if (dram === undefined) return { compute };
  return { compute, bandwidth: (dram * own.terabytesPerSecond) / other.terabytesPerSecond };
}

function partsText({ compute, bandwidth }: { readonly compute: number; readonly bandwidth?: number }): string {
  const ofBandwidth = bandwidth === undefined ? "" : `, ${percent(bandwidth)} of its memory bandwidth`;
  return `at most ${percent(compute)} of its compute${ofBandwidth}`;
}
