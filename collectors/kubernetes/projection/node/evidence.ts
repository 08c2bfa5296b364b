import type { SliceDevice } from "../../../../domain/cluster-fact.ts";
import type { ModelVendor } from "../../../../domain/gpu-model/models.ts";
import { vendorOfModel } from "../../../../domain/gpu-model/names.ts";
import type { GpuCount, NodeGpus } from "../../../../domain/inventory.ts";
import { COUNTED_BY, decideCount, isGuess } from "../../../../domain/share/node-gpus.ts";
import { parseDevices } from "../quantity.ts";
import type { Remarks } from "../remark.ts";

/** All data about GPUs in a node's objects. */
export interface NodeEvidence {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Capacity of the GPU resources. */
  readonly capacity: Readonly<Record<string, number>>;
  readonly instanceType: string | undefined;
  /** The devices that DRA drivers publish for the node. */
  readonly slices: readonly SliceDevice[];
}

/** Returns the vendor of a device in a slice; undefined if nothing shows it. */
export function vendorOf({ model = "", vendor }: SliceDevice): ModelVendor | undefined {
  return vendorOfModel(model) ?? vendor;
}

/** Returns the count by the strongest evidence, with a count that contradicts it. Adds a remark for a contradiction and for a guess. */
export function countWithRemarks(
  counts: readonly GpuCount[],
  remarks: Remarks,
): Pick<NodeGpus, "count" | "countedBy" | "otherCount"> | undefined {
  const decided = decideCount(counts);
  if (decided === undefined) return undefined;
  const { taken, other } = decided;
  const { count, by: countedBy } = taken;
  if (other !== undefined) {
    const text = `Its GPUs are ${count} by ${COUNTED_BY[countedBy]} and ${other.count} by ${COUNTED_BY[other.by]}; the ledger counts ${count}.`;
    remarks.push({ reason: "contradiction", text });
  }
  if (isGuess(countedBy)) {
    const text = `The number of its GPUs is a guess: ${count} by ${COUNTED_BY[countedBy]}, which also counts replicas and partitions.`;
    remarks.push({ reason: "derived", text });
  }
  return { count, countedBy, ...(other === undefined ? {} : { otherCount: other }) };
}

/** Returns the count in a label; undefined if it is not a count. */
export function countIn(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const parsed = parseDevices(value);
  return "value" in parsed ? parsed.value : undefined;
}
