import { gpuResource, type GpuResource, type ResourceNames } from "../gpu-resource.ts";
import type { ContainerObject } from "../pod-object.ts";
import { parseCount, parseDevices, parseMebibytes, parsePercent, type Parsed } from "../quantity.ts";
import type { Remarks } from "../remark.ts";

/** The GPU resources that a container requests by name, above 0. */
export type Amounts = ReadonlyMap<string, number>;

const NONE: Amounts = new Map();

/**
 * Reads the GPU resources of a container: limits, because GPUs are specified there, otherwise requests, which are equal if both are given
 * (https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/). An invalid quantity counts as not requested, with a remark.
 */
export function readAmounts(container: ContainerObject, remarks: Remarks, names?: ResourceNames): Amounts {
  const limits = container.resources?.limits ?? {};
  const requests = container.resources?.requests ?? {};
  let amounts: Map<string, number> | undefined;
  for (const [quantities, isRequest] of [
    [limits, false],
    [requests, true],
  ] as const) {
    for (const name in quantities) {
      if (isRequest && Object.hasOwn(limits, name)) continue;
      const resource = gpuResource(name, names);
      if (resource === undefined) continue;
      const parsed = parseFor(resource, quantities[name]);
      if ("refused" in parsed) {
        const where = `container ${container.name ?? "without a name"}`;
        remarks.push({
          reason: "quantity",
          text: `${name} of ${where}: ${parsed.refused}; it is ignored.`,
        });
      } else if (parsed.value > 0) (amounts ??= new Map()).set(name, parsed.value);
    }
  }
  return amounts ?? NONE;
}

function parseFor(resource: GpuResource, quantity: unknown): Parsed {
  if (resource.kind !== "measure") return parseDevices(quantity);
  switch (resource.of) {
    case "number":
      return parseCount(quantity);
    case "memory":
      return parseMebibytes(quantity);
    case "memory-percent":
    case "cores":
      return parsePercent(quantity);
  }
}
