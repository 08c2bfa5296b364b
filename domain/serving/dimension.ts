import { DIMENSIONS } from "../owner/owner.ts";

/** Every dimension that the cost of serving can be grouped by. */
export const SERVING_DIMENSIONS = [
  "model",
  "adapter",
  "tenant",
  "phase",
  ...DIMENSIONS,
  "payer",
  "cluster",
  "namespace",
  "workloadKind",
  "workload",
  "gpuModel",
  "basis",
  "chargeDay",
  "chargePeriod",
  "billingPeriod",
] as const;

/** A dimension of the lines of services. */
export type ServingDimension = (typeof SERVING_DIMENSIONS)[number];

const NAMES: ReadonlySet<string> = new Set(SERVING_DIMENSIONS);

/** Returns whether a name is a dimension of the lines of services. */
export function isServingDimension(name: string): name is ServingDimension {
  return NAMES.has(name);
}

/** Parses dimensions as a person writes them, `model,tenant`. Returns the names in order, or a sentence with the error. */
export function readServingDimensions(
  text: string,
): { readonly by: readonly ServingDimension[] } | { readonly error: string } {
  const by = text.split(",").map((name) => name.trim());
  const unknown = by.find((name) => !isServingDimension(name));
  if (unknown !== undefined)
    return { error: `${JSON.stringify(unknown)} is not one of: ${SERVING_DIMENSIONS.join(", ")}` };
  const again = by.find((name, index) => by.indexOf(name) !== index);
  return again === undefined ? { by: by.filter(isServingDimension) } : { error: `${again} is given twice` };
}
