import type { Holding } from "../holding.ts";

/** Returns the pods that share the GPU of a reservation pod. */
export function groupOf({ evidence }: Holding, pods: readonly Holding[]): readonly Holding[] {
  const groups = new Set(evidence.flatMap((entry) => (entry.by === "reservation" ? [entry.group] : [])));
  return pods.filter((pod) => pod.evidence.some((entry) => entry.by === "group" && groups.has(entry.group)));
}
