import { DIMENSIONS } from "../owner/owner.ts";

/** Texts that a charge has of the GPU and its machine; empty where nothing is known. */
export const MACHINE_DIMENSIONS = [
  "gpuModel",
  "layout",
  "instanceType",
  "region",
  "zone",
  "pool",
  "capacityType",
] as const;

/** Those of them that lines of closings before release 0.4.0 do not have. */
export const ADDED_DIMENSIONS = ["layout"] as const satisfies readonly (typeof MACHINE_DIMENSIONS)[number][];

/** Texts that a charge has of its holder; empty for what nobody held. */
export const HOLDER_DIMENSIONS = [
  "namespace",
  "pod",
  "workloadKind",
  "workload",
  "type",
  "queue",
  "priorityClass",
] as const;

/** Every dimension that a charge can be grouped by, as `docs/scenarios.md` explains them; `label.<name>` for any label beside. */
export const CHARGE_DIMENSIONS = [
  ...DIMENSIONS,
  "payer",
  "cluster",
  "node",
  "gpu",
  ...MACHINE_DIMENSIONS,
  ...HOLDER_DIMENSIONS,
  "state",
  "because",
  "attribution",
  "chargeDay",
  "chargePeriod",
  "billingPeriod",
  "unpriced",
] as const;

/** A dimension that every charge has, if only as the empty text. */
export type ChargeDimension = (typeof CHARGE_DIMENSIONS)[number];

/** How the name of a dimension begins that is a label of workloads. */
export const LABEL_DIMENSION = "label.";

/** What bills and reports are grouped by where nobody says. */
export const DEFAULT_DIMENSIONS: readonly string[] = ["team", "state"];

const NAMES: ReadonlySet<string> = new Set(CHARGE_DIMENSIONS);

/** Whether a name is one of a dimension that every charge has. */
export function isChargeDimension(name: string): name is ChargeDimension {
  return NAMES.has(name);
}

/** The label that a dimension names; undefined where it names none. */
export function labelOfDimension(name: string): string | undefined {
  return name.startsWith(LABEL_DIMENSION) && name !== LABEL_DIMENSION ? name.slice(LABEL_DIMENSION.length) : undefined;
}

/** Reads dimensions as a person writes them, `team,state`: the names in their order, or a sentence that says what is wrong. */
export function readDimensions(text: string): { readonly by: readonly string[] } | { readonly error: string } {
  const by = text.split(",").map((name) => name.trim());
  const unknown = by.find((name) => !isChargeDimension(name) && labelOfDimension(name) === undefined);
  if (unknown !== undefined)
    return { error: `${JSON.stringify(unknown)} is not one of: ${CHARGE_DIMENSIONS.join(", ")}, label.<name>` };
  const again = by.find((name, place) => by.indexOf(name) !== place);
  return again === undefined ? { by } : { error: `${again} stands there twice` };
}
