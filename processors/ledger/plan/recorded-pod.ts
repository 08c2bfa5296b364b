import { holdingOf, type Holding } from "../../../domain/holding.ts";
import type { Gang, WorkloadFact } from "../../../domain/workload.ts";
import type { RecordedPod } from "./node-record.ts";

/** Returns the record of a pod that holds. `members` has at least the pods of its gang. */
export function recordedPod(fact: WorkloadFact, holding: Holding, members: readonly WorkloadFact[]): RecordedPod {
  return { fact, holding, startedAt: fact.times.started ?? Infinity, wholeAt: wholeAt(fact, members) };
}

/**
 * Returns when all members of a pod's gang were first bound at the same time; -Infinity for a pod without a gang. If the size of the gang
 * is unknown, all known members count.
 */
function wholeAt({ gang, namespace }: WorkloadFact, all: readonly WorkloadFact[]): number {
  if (gang === undefined) return -Infinity;
  const members = all.filter((fact) => fact.namespace === namespace && isSame(fact.gang, gang));
  const holdings = members.flatMap((fact) => holdingOf(fact) ?? []);
  const size = gang.size === 0 ? members.length : gang.size;
  const moments = holdings.map(({ from }) => from).toSorted((a, b) => a - b);
  return (
    moments.find((at) => holdings.filter(({ from, until }) => from <= at && at < until).length >= size) ?? Infinity
  );
}

function isSame(one: Gang | undefined, other: Gang): boolean {
  return one?.kind === other.kind && one.name === other.name;
}
