import { billOf, sumAmounts, type BillPart, type LaneCharge, type RunAmounts } from "./bill.ts";
import type { Run } from "./identity.ts";
import type { RunLayout } from "./layout.ts";
import type { Stop } from "./losses.ts";
import { RUN_PHASES, type RunPhase } from "./phases.ts";
import { countSpans } from "./step-count.ts";

/**
 * The state of a run. `ended` is a run whose pods were deleted: whether it had succeeded is not known.
 */
export type RunOutcome = "running" | "succeeded" | "failed" | "ended";

/** The amounts of each phase. */
export type PhaseAmounts = ReadonlyMap<RunPhase, RunAmounts>;

/** A stop of a run with its cost: the waiting, recovering and lost parts of the run's bill that it caused. */
export interface StopCost {
  readonly stop: Stop;
  readonly phases: PhaseAmounts;
  readonly total: RunAmounts;
}

/** The bill of a training run, with its stops. */
export interface RunReport {
  readonly run: Run;
  readonly outcome: RunOutcome;
  /** How long the run had pods and none of them was bound: it waited without cost. */
  readonly queuedMillis: number;
  readonly total: RunAmounts;
  /** The parts of the total, which sum to it exactly. Only phases with a part, in the order of {@link RUN_PHASES}. */
  readonly phases: PhaseAmounts;
  /** In order of time. */
  readonly stops: readonly StopCost[];
}

/** Returns the report of a run from its charges. */
export function reportOf(run: Run, layout: RunLayout, charges: readonly LaneCharge[], now: number): RunReport {
  const parts = billOf(charges, layout.timelines);
  const stops = layout.timelines.flatMap((timeline, lane) =>
    timeline.stops.map((stop, index): StopCost => {
      const own = parts.filter((part) => part.lane === lane && part.stop === index);
      return { stop, phases: byPhase(own), total: totalOf(own) };
    }),
  );
  return {
    run,
    outcome: outcomeOf(run, layout),
    queuedMillis: queuedMillis(run, now),
    total: totalOf(parts),
    phases: byPhase(parts),
    stops: stops.toSorted((a, b) => a.stop.at - b.stop.at),
  };
}

function totalOf(parts: readonly BillPart[]): RunAmounts {
  return sumAmounts(parts.map(({ amounts }) => amounts));
}

function byPhase(parts: readonly BillPart[]): PhaseAmounts {
  const present = RUN_PHASES.filter((phase) => parts.some((part) => part.phase === phase));
  return new Map(present.map((phase) => [phase, totalOf(parts.filter((part) => part.phase === phase))]));
}

function outcomeOf({ ended, pods }: Run, { timelines }: RunLayout): RunOutcome {
  if (ended === Infinity) return "running";
  if (timelines.some(({ stops }) => stops.at(-1)?.isRestarted === false)) return "failed";
  return pods.some(({ end }) => end?.reason === "completed") ? "succeeded" : "ended";
}

function queuedMillis({ pods }: Run, now: number): number {
  const existing = countSpans(
    pods.map(({ created, end }) => ({ from: created, until: Math.min(now, end?.at ?? now) })),
  );
  const bound = countSpans(
    pods.map(({ bound: from, end }) => ({ from: from ?? now, until: Math.min(now, end?.at ?? now) })),
  );
  const times = [...new Set([...existing.times, ...bound.times])].sort((a, b) => a - b);
  return times.reduce((sum, time, index) => {
    const isQueued = existing.at(time) > 0 && bound.at(time) === 0;
    return isQueued ? sum + (times[index + 1] ?? time) - time : sum;
  }, 0);
}
