import { layOut } from "../../domain/training/layout.ts";
import type { Run } from "../../domain/training/identity.ts";
import { reportOf, type RunReport } from "../../domain/training/report.ts";
import { sum, type GpuHours } from "../../domain/exact/units.ts";
import { PLATFORM } from "../../domain/owner/owner.ts";
import type { TrainingConfig } from "../../runtime/config/training.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Filter } from "../question/question.ts";
import { readRunCharges, type RunCharge } from "./read-charges.ts";
import { readProgress } from "./read-progress.ts";

/** A question about training runs. */
export interface TrainingQuestion {
  /** The policy of the charges. */
  readonly policy: string;
  /** Only charges that meet these conditions count: those of the viewer's teams. */
  readonly where: readonly Filter[];
  readonly training: TrainingConfig;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The report of a run, with the dimensions of its charges. */
export interface ChargedRun extends RunReport {
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
  { policy, where, training, now }: TrainingQuestion,
): Promise<readonly ChargedRun[]> {
  const progress = await readProgress(store, runs);
  const laidOut = runs.map((run) => {
    const evidence = { points: progress.get(run.id) ?? [], faults: [], configured: training.checkpointInterval };
    return { run, layout: layOut(run, evidence) };
  });
  const charges = await readRunCharges(store, laidOut, { policy, where, now });
  return laidOut.flatMap(({ run, layout }, index) => {
    const own = charges[index]!;
    return own.length === 0 ? [] : [{ ...reportOf(run, layout, own, now), ...dimensionsOf(own) }];
  });
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
