import { weekHourOf } from "../../../domain/advice/week-hours.ts";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { OwnerRules } from "../../../domain/owner/compile.ts";
import { teamOf } from "../../../domain/owner/owners.ts";
import type { HolderChange, HolderMatch } from "../../../runtime/config/what-if.ts";
import { subjectOf } from "../charge/charge-node.ts";
import type { UsageKind } from "../metering/usage-rows.ts";

/** A change of holders, with the names that it asks for. */
export interface Wanted {
  readonly change: HolderChange;
  readonly names: readonly (readonly [HolderField, NonNullable<HolderMatch["names"][HolderField]>])[];
}

type HolderField = keyof HolderMatch["names"];

/** Returns a change with the names that it asks for, which are the same for each claim. */
export function wantedBy(change: HolderChange): Wanted {
  const entries = Object.entries(change.where.names) as [HolderField, Wanted["names"][number][1] | undefined][];
  return { change, names: entries.flatMap(([field, pattern]) => (pattern === undefined ? [] : [[field, pattern]])) };
}

/** Returns true if a change is for the holder of a claim: `index` is its place in the row. */
export function isMeant(wanted: Wanted, hour: UsageHour, index: number, owners: OwnerRules): boolean {
  const { from, until, hours } = wanted.change.where;
  const { fromMillis, untilMillis } = hour.segment;
  if (fromMillis < from || untilMillis > until) return false;
  if (hours !== undefined && !hours.has(weekHourOf(fromMillis))) return false;
  return isNamed(wanted, hour, index, { owners, atMillis: fromMillis });
}

/** Returns true if the names of a change are those of the holder of a claim, with the owners of a moment. */
export function isNamed({ names }: Wanted, hour: UsageKind, index: number, at: OwnersAt): boolean {
  return names.every(([field, pattern]) => pattern.fits(FIELDS[field](hour, index, at)));
}

interface OwnersAt {
  readonly owners: OwnerRules;
  readonly atMillis: number;
}

/** The value of each field of a holder on a GPU. */
const FIELDS: Readonly<Record<HolderField, (hour: UsageKind, index: number, at: OwnersAt) => string>> = {
  cluster: ({ cluster }) => cluster,
  node: ({ node }) => node,
  team: ({ holders, machine }, index, { owners, atMillis }) =>
    teamOf(owners, subjectOf(holders[index]!, machine), atMillis).value,
  namespace: ({ holders }, index) => holders[index]!.namespace,
  workload: ({ holders }, index) => holders[index]!.workload,
  kind: ({ holders }, index) => holders[index]!.workloadKind,
  type: ({ holders }, index) => holders[index]!.type,
  pod: ({ holders }, index) => holders[index]!.name,
  stage: ({ segment }, index) => segment.claims[index]!.stage,
  queue: ({ holders }, index) => holders[index]!.queue,
  gpu: ({ gpuKey }) => gpuKey,
  pool: ({ machine }) => machine.pool ?? "",
  model: ({ segment }) => segment.gpu.model ?? "",
  instanceType: ({ machine }) => machine.instanceType ?? "",
};
