import type { UsageHour } from "../domain/allocation/usage-hour.ts";
import type { Charge } from "../domain/charge/charge.ts";
import type { Held } from "../domain/share/claim.ts";
import { spendBy, type Spend } from "./spend.ts";

/** A workload that holds GPUs or parts of them. */
export interface Holding extends Spend {
  readonly namespace: string;
  /** The kind of the object that a person created. */
  readonly kind: string;
  readonly workload: string;
  readonly team: string;
  readonly type: string;
  readonly pods: number;
  /** The kinds of its parts: whole GPUs, MIG instances, replicas of shared GPUs and so on. */
  readonly held: readonly Held["what"][];
  /** The mean activity of its devices, 0 to 1; undefined if no page has it. */
  readonly activity: number | undefined;
}

const PPM = 1_000_000;

/** Returns the holders of an hour, highest cost first. */
export function holdersOf(usage: readonly UsageHour[], charges: readonly Charge[]): readonly Holding[] {
  const sums = new Map<string, Sums>();
  for (const { holders, segment } of usage)
    holders.forEach((holder, index) => {
      const { namespace, workloadKind, workload, type } = holder;
      const key = JSON.stringify([namespace, workloadKind, workload]);
      const of = sums.get(key) ?? { type, pods: new Set(), held: new Set(), covered: 0, activity: 0 };
      sums.set(key, of);
      const { claim, measured } = segment.claims[index]!;
      of.pods.add(holder.name);
      of.held.add(claim.held.what);
      of.covered += measured.coveredMillis;
      of.activity += Number(measured.activityPpmMillis);
    });
  const held = charges.filter(({ holder }) => holder !== undefined);
  const teams = new Map(held.map((charge) => [keyOf(charge), charge.team]));
  return [...spendBy(held, keyOf)].map(([key, spend]): Holding => {
    const [namespace, kind, workload] = JSON.parse(key) as [string, string, string];
    const { type, pods, held: parts, covered, activity } = sums.get(key)!;
    return {
      namespace,
      kind,
      workload,
      team: teams.get(key)!,
      type,
      pods: pods.size,
      held: [...parts].toSorted(),
      activity: covered === 0 ? undefined : activity / covered / PPM,
      ...spend,
    };
  });
}

interface Sums {
  readonly type: string;
  readonly pods: Set<string>;
  readonly held: Set<Held["what"]>;
  covered: number;
  activity: number;
}

function keyOf({ holder }: Charge): string {
  const { namespace, workloadKind, workload } = holder!;
  return JSON.stringify([namespace, workloadKind, workload]);
}
