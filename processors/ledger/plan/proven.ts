import type { Holding } from "../../../domain/holding.ts";
import { createProofs, type Proofs } from "../../../domain/attribution/proofs.ts";
import { deviceOf } from "./ladder.ts";
import type { NodeRecord, ProvenLabel, SeenLabel } from "./node-record.ts";

/** Returns the proofs from the exporters' labels. One agreeing label proves the device for the pod's whole time. */
export function proofsOf(record: NodeRecord): Proofs {
  const proofs = createProofs();
  for (const { holding } of record.pods.values()) {
    for (const { slot, part } of [...provenBefore(record, holding), ...provenHere(record, holding)])
      proofs.add(holding, deviceOf(slot, part));
  }
  return proofs;
}

function provenBefore({ proven }: NodeRecord, holding: Holding): readonly ProvenLabel[] {
  return proven.filter((label) => isNamed(label, holding) && holding.from <= label.at && label.at < holding.until);
}

/** Returns the proofs for a pod in samples of the window, one for each device. */
function provenHere({ seen }: NodeRecord, holding: Holding): readonly ProvenLabel[] {
  const proven: ProvenLabel[] = [];
  for (const { index: slot, labels } of seen) {
    for (const label of labels) {
      const { part, namespace, pod, podUid = "", firstAt, lastAt } = label;
      if (isNamed(label, holding) && holding.from <= lastAt && firstAt < holding.until)
        proven.push({ slot, part, namespace, pod, podUid, at: Math.max(firstAt, holding.from) });
    }
  }
  return proven;
}

/** Returns the proofs that samples of the window add, for each pod. */
export function newlyProven(
  record: NodeRecord,
): readonly { readonly holding: Holding; readonly labels: readonly ProvenLabel[] }[] {
  return [...record.pods.values()].flatMap(({ holding }) => {
    const known = new Set(provenBefore(record, holding).map(({ slot, part }) => deviceOf(slot, part)));
    const labels = provenHere(record, holding).filter(({ slot, part }) => !known.has(deviceOf(slot, part)));
    return labels.length === 0 ? [] : [{ holding, labels }];
  });
}

function isNamed({ namespace, pod, podUid = "" }: ProvenLabel | SeenLabel, holding: Holding): boolean {
  return podUid === "" ? holding.namespace === namespace && holding.name === pod : holding.uid === podUid;
}
