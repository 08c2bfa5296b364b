import type { SliceDevice } from "../../../../domain/cluster-fact.ts";
import { decideCount, type GpuCount } from "../../../../domain/node-gpus.ts";
import { parseCount } from "../quantity.ts";
import type { Remarks } from "../remark.ts";

/** All that a node's objects have about its GPUs. */
export interface NodeEvidence {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Of GPU resources. */
  readonly capacity: Readonly<Record<string, number>>;
  readonly instanceType: string | undefined;
  /** What DRA drivers publish of the node. */
  readonly slices: readonly SliceDevice[];
}

const WORDS: Readonly<Record<GpuCount["by"], string>> = {
  slices: "its ResourceSlices",
  label: "its labels",
  register: "the register of its vGPU scheduler",
  "instance-type": "its instance type",
  instances: "its MIG instances",
  capacity: "its capacity",
};

/** The count by the strongest evidence. A count that contradicts it is a remark, and so is a guess. */
export function countWithRemarks(counts: readonly GpuCount[], remarks: Remarks): GpuCount | undefined {
  const decided = decideCount(counts);
  if (decided === undefined) return undefined;
  const { taken, other } = decided;
  if (other !== undefined) {
    const text = `Its GPUs are ${taken.count} by ${WORDS[taken.by]} and ${other.count} by ${WORDS[other.by]}; ${taken.count} is taken.`;
    remarks.push({ reason: "contradiction", text });
  }
  if (taken.by === "instances" || taken.by === "capacity") {
    const text = `Nothing counts its GPUs: ${taken.count} is a guess by ${WORDS[taken.by]}, which counts replicas and partitions too.`;
    remarks.push({ reason: "derived", text });
  }
  return taken;
}

/** A label's count; undefined where it is none. */
export function countIn(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const parsed = parseCount(value);
  return "value" in parsed ? parsed.value : undefined;
}
