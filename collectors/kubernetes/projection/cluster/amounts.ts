import type { GpuAmounts } from "../../../../domain/cluster-fact.ts";
import { gpuResource } from "../gpu-resource.ts";
import { parseAmount } from "../quantity.ts";
import type { Remarks } from "../remark.ts";

/** A quota on the devices of a DRA class (https://kubernetes.io/docs/concepts/policy/resource-quotas/). */
const DEVICE_CLASS = /(gpu|mig).*\.deviceclass\.resource\.k8s\.io\/devices$/;

/**
 * Returns the GPU resources of quantities by name, without the prefix `requests.` of quotas. An invalid quantity is left out with a remark.
 */
export function gpuAmounts(where: string, quantities: unknown, remarks: Remarks): GpuAmounts {
  if (typeof quantities !== "object" || quantities === null) return {};
  const amounts: Record<string, number> = {};
  for (const [name, quantity] of Object.entries(quantities)) addAmount(amounts, where, name, quantity, remarks);
  return amounts;
}

/** Adds one quantity to the amounts if it is a GPU resource. */
export function addAmount(
  amounts: Record<string, number>,
  where: string,
  name: string,
  quantity: unknown,
  remarks: Remarks,
): void {
  const resource = name.replace(/^(requests|limits)\./, "");
  if (gpuResource(resource) === undefined && !DEVICE_CLASS.test(name)) return;
  const parsed = parseAmount(quantity);
  if ("value" in parsed) amounts[resource] = (amounts[resource] ?? 0) + parsed.value;
  else remarks.push({ reason: "quantity", text: `${where}: ${name}: ${parsed.refused}; it is left out.` });
}
