import type { Run } from "../../domain/training/identity.ts";
import type { TrainingMetrics } from "../../domain/training/metrics.ts";
import { reportOf, type RunReport } from "../../domain/training/report.ts";
import { sum, type GpuHours } from "../../domain/exact/units.ts";
import { PLATFORM } from "../../domain/owner/owner.ts";
import type { TrainingConfig } from "../../runtime/config/training.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Filter } from "../question/question.ts";
import { layOutRuns } from "./lay-out-runs.ts";
import type { LaidOutRun } from "./laid-out-run.ts";
import { readRunCharges, type RunCharge } from "./read-charges.ts";

/** A question about training runs. */
export interface TrainingQuestion {
  /** The policy of the charges. */
  readonly policy: string;
  /** Only charges that meet these conditions count: those of the viewer's teams. */
  readonly where: readonly Filter[];
  readonly training: TrainingConfig;
  readonly metrics: TrainingMetrics;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The report of a run, with everything that it was made from, and the dimensions of its charges. */
export interface ChargedRun extends RunReport, LaidOutRun {
  readonly charges: readonly RunCharge[];
  /** The team that pays for most GPU-hours; the platform only if no team pays. */
  readonly team: string;
  /** GPU-hours by GPU model, most first. */
  readonly models: readonly { readonly model: string; readonly gpuHours: GpuHours }[];
}

/** Returns the rules for runs of a configuration. */
export function runRulesOf({ runKeys, gap }: TrainingConfig): {
  readonly keys: readonly string[];
  readonly gapMillis: number;
} {
  return { keys: runKeys, gapMillis: gap };
}

/**
 * Reads the reports of runs, in the order of the runs. Runs without a charge that meets the conditions are left out. Fails with a
 * `StoreError`.
 */
export async function readRunReports(
  store: Pick<StoreClient, "query">,
  runs: readonly Run[],
  question: TrainingQuestion,
): Promise<readonly ChargedRun[]> {
  const { policy, where, now } = question;
  const laidOut = await layOutRuns(store, runs, question);
  const charges = await readRunCharges(store, laidOut, { policy, where, now });
  return laidOut.flatMap((one, index) => {
    const own = charges[index]!;
    if (own.length === 0) return [];
    return [{ ...one, ...reportOf(one.run, one.layout, own, now), charges: own, ...dimensionsOf(own) }];
  });
}

/** Orders runs or incidents by effective cost, then by GPU-hours, highest first. */
export function byCost(a: Pick<ChargedRun, "total">, b: Pick<ChargedRun, "total">): number {
  return Number(b.total.effective - a.total.effective) || Number(b.total.gpuHours - a.total.gpuHours);
}

function dimensionsOf(charges: readonly RunCharge[]): Pick<ChargedRun, "team" | "models"> {
  const teams = hoursBy(charges, ({ team }) => team);
  const [team] = teams.find(([name]) => name !== PLATFORM) ?? teams[0]!;
  return {
    team,
    models: hoursBy(charges, ({ gpuModel }) => gpuModel).map(([model, gpuHours]) => ({ model, gpuHours })),
  };
}

/** Returns the GPU-hours of charges by a name, most first. */
function hoursBy(charges: readonly RunCharge[], nameOf: (charge: RunCharge) => string): readonly [string, GpuHours][] {
  const names = [...new Set(charges.map(nameOf))].sort();
  const hours = names.map((name): [string, GpuHours] => [
    name,
    sum(charges.flatMap((charge) => (nameOf(charge) === name ? [charge.amounts.gpuHours] : []))),
  ]);
  return hours.toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
}
