import type { CountedBy } from "../../domain/inventory.ts";

/** The source of a count of GPUs, for people: the end of a sentence about the count. */
export const COUNTED: Readonly<Record<CountedBy, string>> = {
  slices: "by ResourceSlices",
  label: "by labels",
  register: "by a vGPU scheduler's register",
  "instance-type": "by instance types",
  samples: "by exporters",
  instances: "guessed from MIG instances",
  capacity: "guessed from the capacity",
};
