import { DIMENSIONS } from "../owner/owner.ts";

/** The dimensions of the GPU and its machine that lines of older closings do not have. A new one is the last. */
export const ADDED_DIMENSIONS = ["layout", "invoiceStatus"] as const;

/** The text dimensions of a charge that describe the GPU and its machine; empty if unknown. */
export const MACHINE_DIMENSIONS = [
  "gpuModel",
  ...ADDED_DIMENSIONS,
  "instanceType",
  "region",
  "zone",
  "pool",
  "capacityType",
] as const;

/** A dimension of the GPU and its machine. */
export type MachineDimension = (typeof MACHINE_DIMENSIONS)[number];

/** The text dimensions of a charge that describe its holder; empty without a holder. */
export const HOLDER_DIMENSIONS = [
  "namespace",
  "pod",
  "workloadKind",
  "workload",
  "type",
  "queue",
  "priorityClass",
] as const;

/** Every dimension that a charge can be grouped by. `label.<name>` works for any label in addition. */
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

/** A dimension that every charge has; its value may be empty. */
export type ChargeDimension = (typeof CHARGE_DIMENSIONS)[number];

/** The meanings of dimensions whose names do not have it, in Markdown. `docs/scenarios.md` has them. */
export const DIMENSION_MEANINGS: Readonly<Partial<Record<ChargeDimension, string>>> = {
  team: "`platform` if the platform pays, `unowned` if there is no owner",
  payer: "`holder` or `platform`",
  gpu: "its index",
  layout: "how the GPU is cut: `whole`, `mig`, `shared`, `partitions`",
  invoiceStatus:
    "`estimated` by the book, `provisional` or `invoiced` by an [export](invoices.md); empty without exports",
  state: "also `non-gpu`, `unused commitment`, `markup`, `true-up`, `invoice`",
  because: "the reason: `xid-79`, `nobody`",
  attribution: "the evidence that the pod had the GPU; `node` if there was none",
  chargeDay: "the charge's day",
  chargePeriod: "the charge's month",
  billingPeriod: "the month in which it is booked",
};

/** The prefix of a dimension that is a workload label. */
export const LABEL_DIMENSION = "label.";

/** The default dimensions of bills and reports. */
export const DEFAULT_DIMENSIONS: readonly string[] = ["team", "state"];

const NAMES: ReadonlySet<string> = new Set(CHARGE_DIMENSIONS);

/** Returns whether a name is a dimension that every charge has. */
export function isChargeDimension(name: string): name is ChargeDimension {
  return NAMES.has(name);
}

/** Returns the label of a dimension; undefined if the dimension is not a label. */
export function labelOfDimension(name: string): string | undefined {
  return name.startsWith(LABEL_DIMENSION) && name !== LABEL_DIMENSION ? name.slice(LABEL_DIMENSION.length) : undefined;
}

/** Parses dimensions as a person writes them, `team,state`. Returns the names in order, or a sentence with the error. */
export function readDimensions(text: string): { readonly by: readonly string[] } | { readonly error: string } {
  const by = text.split(",").map((name) => name.trim());
  const unknown = by.find((name) => !isChargeDimension(name) && labelOfDimension(name) === undefined);
  if (unknown !== undefined)
    return { error: `${JSON.stringify(unknown)} is not one of: ${CHARGE_DIMENSIONS.join(", ")}, label.<name>` };
  const again = by.find((name, index) => by.indexOf(name) !== index);
  return again === undefined ? { by } : { error: `${again} is given twice` };
}
