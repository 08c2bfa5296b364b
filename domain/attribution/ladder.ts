import type { Evidence } from "../holder.ts";
import { isReservation, type Holding } from "../holding.ts";
import type { Allocated } from "./allocated.ts";
import { groupOf } from "./group.ts";
import { hasPart } from "./kind.ts";

/** A pod on a device, with the evidence for it. */
export interface PodOnDevice {
  readonly pod: Holding;
  readonly evidence: Evidence;
}

/**
 * Returns the pods on a device by the strongest evidence: an allocation by a scheduler or driver, else the pods that labels name. A pod that
 * holds a part by a label keeps it beside the pods whose parts were allocated. A reservation stands for the pods of its group.
 */
export function podsOnDevice(
  allocated: Allocated | undefined,
  labelled: readonly Holding[],
  { pods, resolved }: { readonly pods: readonly Holding[]; readonly resolved: ReadonlySet<string> },
): readonly PodOnDevice[] {
  if (allocated === undefined) return labelled.flatMap((pod) => byLabel(pod, pods));
  const beside = labelled.filter((pod) => hasPart(pod) && !resolved.has(pod.uid));
  return [
    ...allocated.pods.map((pod) => ({ pod, evidence: allocated.evidence })),
    ...beside.map((pod) => ({ pod, evidence: "label" as const })),
  ];
}

function byLabel(pod: Holding, pods: readonly Holding[]): readonly PodOnDevice[] {
  if (!isReservation(pod)) return [{ pod, evidence: "label" }];
  return groupOf(pod, pods).map((member) => ({ pod: member, evidence: "group" }));
}
