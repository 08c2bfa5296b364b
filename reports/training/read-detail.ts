import { billOf, sumAmounts, amountsOf, AMOUNT_NAMES, type RunAmounts } from "../../domain/training/bill.ts";
import { collectivesOf, type Collective } from "../../domain/training/collectives.ts";
import { efficiencyOf, type Efficiency } from "../../domain/training/efficiency.ts";
import { stragglersOf, type Stragglers } from "../../domain/training/stragglers.ts";
import { suggestionOf, type Suggestion } from "../../domain/training/suggestion.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readRunReports, runRulesOf, type ChargedRun, type TrainingQuestion } from "./read-reports.ts";
import { readRun } from "./read-runs.ts";
import { latelyOf, readDeviceHours, readTensorTime, SPEED_MILLIS } from "./read-speed.ts";

/** A run with everything that its report shows. */
export interface RunDetail {
  readonly run: ChargedRun;
  readonly efficiency: Efficiency | undefined;
  /** The stragglers of a gang over its last seven days, and the productive cost of that time that they made the gang lose. */
  readonly slow: (Stragglers & { readonly cost: RunAmounts }) | undefined;
  /** The collectives of a gang over its last seven days. */
  readonly collectives: readonly Collective[];
  /** The reason why metrics are missing; undefined if none are. */
  readonly metricsFailure: string | undefined;
  readonly suggestion: Suggestion | undefined;
}

/**
 * Reads the report of the run with an id; undefined if there is no such run, or none with charges that the viewer may see. Fails with a
 * `StoreError`.
 */
export async function readRunDetail(
  store: Pick<StoreClient, "query">,
  id: string,
  question: TrainingQuestion,
): Promise<RunDetail | undefined> {
  const { now } = question;
  const found = await readRun(store, runRulesOf(question.training), id);
  if (found === undefined) return undefined;
  const [run] = await readRunReports(store, [found], question);
  if (run === undefined) return undefined;
  const [tensor, hours, collected] = await Promise.all([
    readTensorTime(store, found, now),
    found.isGang ? readDeviceHours(store, found, now) : [],
    found.isGang ? question.metrics.collectives(found, latelyOf(found, now)) : { hours: [] },
  ]);
  const { timelines } = run.layout;
  const until = Math.min(found.ended, now);
  const efficiency = efficiencyOf(
    { phases: run.phases, cost: run.total.effective, models: run.models },
    { marks: found.marks, points: run.points, timelines, until },
    tensor,
  );
  const stragglers = stragglersOf(hours);
  const [slowest] = stragglers.stragglers;
  const cost = lostBy(run, stragglers.lostRatio, until - SPEED_MILLIS);
  const slow = slowest === undefined ? undefined : { ...stragglers, cost };
  return {
    run,
    efficiency,
    slow,
    collectives: "hours" in collected ? collectivesOf(collected.hours) : [],
    metricsFailure: run.metricsFailure ?? ("failure" in collected ? collected.failure : undefined),
    suggestion: suggestionOf(run, run.points, slowest && { slowest, cost }),
  };
}

const PPM = 1_000_000n;

/** Returns a part of the productive amounts of a run since a time, rounded down to the last unit. */
function lostBy({ charges, layout }: ChargedRun, ratio: number, since: number): RunAmounts {
  const parts = billOf(
    charges.filter(({ from }) => from >= since),
    layout.timelines,
  );
  const productive = sumAmounts(parts.flatMap(({ phase, amounts }) => (phase === "productive" ? [amounts] : [])));
  const ppm = BigInt(Math.round(ratio * Number(PPM)));
  return amountsOf(AMOUNT_NAMES.map((name) => (productive[name] * ppm) / PPM));
}
