import { gpuMemoryOf } from "../../share/gpu-memory.ts";
import { migProductOf } from "../../share/mig-product.ts";
import type { WorkloadEvidence } from "../evidence.ts";
import { doubtsOf } from "../doubts.ts";
import { needOfSingleGpus, withHeadroom, type Need } from "../need.ts";
import { limitLines } from "../remedies.ts";
import { gib, percent, subjectOf, whereOf, type RuleContext, type WorkloadRule } from "../rule.ts";

/** Fractions are multiples of this, and at most the second. A larger part is not worth a neighbor. */
const FRACTION_STEP = 0.05;
const LARGEST_FRACTION = 0.5;

/** A part of a GPU: as a what-if has it, as a person reads it, and the lines that request it. */
interface Part {
  readonly to: { readonly mig: string } | { readonly fraction: number };
  readonly text: string;
  readonly memoryMiB: number;
  readonly lines: string;
}

/**
 * Finds pods with one whole GPU whose activity and memory fit into a part of it: the smallest MIG profile of the model, or a fraction of a GPU
 * without MIG. Kruize's rule: the 98th percentile of interval maxima of activity and memory; here the memory has headroom as well.
 */
export const smallerPart: WorkloadRule = (workload, context) => {
  const need = needOfSingleGpus(workload);
  if (need === undefined) return [];
  if (typeof need === "string") return need;
  const part = partFor(need, context);
  if (part === undefined) return [];
  return [proposalOf(workload, need, part, context)];
};

function partFor(need: Need, context: RuleContext): Part | undefined {
  const [{ memoryMiB: measured }] = need.devices as [Need["devices"][number]];
  const gpu = { model: need.model, ...(measured === undefined ? {} : { memoryMiB: measured }) };
  const whole = gpuMemoryOf(gpu)?.mib;
  if (whole === undefined) return undefined;
  const memory = withHeadroom(need.memoryMiB, context);
  const compute = withHeadroom(need.activity, context);
  const bandwidth = need.dram ?? 0;
  const { product, isAssumed } = migProductOf(need.model, measured);
  if (isAssumed) {
    const part = Math.max(memory / whole, compute, withHeadroom(bandwidth, context));
    const fraction = Math.ceil(part / FRACTION_STEP) * FRACTION_STEP;
    if (fraction > LARGEST_FRACTION || fraction === 0) return undefined;
    const rounded = Number(fraction.toFixed(2));
    return {
      to: { fraction: rounded },
      text: `${percent(rounded)} of a GPU`,
      memoryMiB: whole * rounded,
      lines: ["metadata:", "  annotations:", `    gpu-fraction: "${rounded}"`].join("\n"),
    };
  }
  const fitting = product.profiles
    .filter(({ computeSlices }) => computeSlices < product.computeSlices)
    .map((profile) => ({ profile, memoryMiB: (whole * profile.memorySlices) / product.memorySlices }))
    .filter(
      ({ profile, memoryMiB }) =>
        memoryMiB >= memory &&
        profile.computeSlices / product.computeSlices >= compute &&
        profile.memorySlices / product.memorySlices >= bandwidth,
    )
    .toSorted(
      (one, other) => one.memoryMiB - other.memoryMiB || one.profile.computeSlices - other.profile.computeSlices,
    );
  const [smallest] = fitting;
  if (smallest === undefined) return undefined;
  const { name } = smallest.profile;
  return {
    to: { mig: name },
    text: `a MIG instance ${name}`,
    memoryMiB: smallest.memoryMiB,
    lines: limitLines(`nvidia.com/mig-${name}`, 1),
  };
}

function proposalOf(workload: WorkloadEvidence, need: Need, part: Part, context: RuleContext) {
  const { dram, activity, memoryMiB, model } = need;
  return {
    kind: "smaller-part" as const,
    subject: { ...subjectOf(workload), model },
    from: context.window.from,
    changes: [{ resize: whereOf(workload), to: part.to }],
    figures: [
      { name: "Holds", value: `a whole ${model} in each pod` },
      { name: "Activity, p98 of peaks", value: percent(activity) },
      { name: "Most memory in use", value: gib(memoryMiB) },
      ...(dram === undefined ? [] : [{ name: "Memory bandwidth, p95", value: percent(dram) }]),
      { name: "Enough", value: `${part.text} with ${gib(part.memoryMiB)}` },
    ],
    remedy: { what: `Request ${part.text} instead of a whole GPU.`, lines: part.lines },
    risks: [
      `The memory has ${percent(part.memoryMiB / memoryMiB - 1)} of headroom above the measured peak. A larger model or batch does not fit.`,
      "mig" in part.to
        ? "The node's GPU needs MIG mode with this profile. A short burst of work takes longer on fewer slices."
        : "Without MIG the neighbors on the GPU are not isolated: one of them can slow down another, and fill the memory.",
    ],
    doubts: [
      ...doubtsOf(workload, context),
      ...(dram === undefined ? ["The need of memory bandwidth is not known."] : []),
    ],
  };
}
