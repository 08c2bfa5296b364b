import type { ResourceReader } from "./resource-name.ts";
import { labelOf } from "./row.ts";
import type { States } from "./states.ts";

/** The most MiB that a share of a GPU can have. kube-state-metrics writes a quantity with a binary suffix in bytes. */
const MOST_MEBIBYTES = 1_048_576;

/**
 * Returns the quantities of a metric with the labels `resource` at a time, by the resource's name in Kubernetes. `labels` are those that the
 * rows must have. Resources that the projection does not read are left out.
 */
export function quantitiesAt(
  states: States,
  metric: string,
  atMillis: number,
  resources: ResourceReader,
  labels: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const quantities: Record<string, string> = {};
  for (const written of new Set(states.rows(metric).map((row) => labelOf(row, "resource")))) {
    const name = resources.read(written);
    const value = name === undefined ? undefined : states.valueAt(metric, atMillis, { ...labels, resource: written });
    if (name !== undefined && value !== undefined) quantities[name] = quantityOf(written, value, resources);
  }
  return quantities;
}

function quantityOf(written: string, value: number, resources: ResourceReader): string {
  const meaning = resources.gpu(written);
  const isMemory = meaning?.kind === "measure" && meaning.of === "memory";
  return isMemory && value > MOST_MEBIBYTES ? `${Math.ceil(value / 1024)}Ki` : String(value);
}
