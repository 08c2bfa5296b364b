import type { LaidOutRun } from "./laid-out-run.ts";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import type { Run } from "../../domain/training/identity.ts";
import { layOut, type RunLayout } from "../../domain/training/layout.ts";
import type { TrainingMetrics } from "../../domain/training/metrics.ts";
import type { NodeSignal } from "../../domain/training/signals.ts";
import { FAULT_AFTER_MILLIS, FAULT_BEFORE_MILLIS } from "../../domain/training/timeline.ts";
import type { TrainingConfig } from "../../runtime/config/training.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readProgress } from "./read-progress.ts";
import { readFaults } from "./read-signals.ts";

/**
 * Reads the progress of runs and the faults around their stops, and lays the runs out, in their order. `policy` is any policy with kept
 * charges: times of faults are the same under each. Fails with a `StoreError`.
 */
export async function layOutRuns(
  store: Pick<StoreClient, "query">,
  runs: readonly Run[],
  {
    training,
    metrics,
    policy,
    now,
  }: {
    readonly training: TrainingConfig;
    readonly metrics: TrainingMetrics;
    readonly policy: string;
    readonly now: number;
  },
): Promise<readonly LaidOutRun[]> {
  const progress = await readProgress(store, metrics, runs, now);
  const laidOut = (run: Run, faults: readonly NodeSignal[]): LaidOutRun => {
    const own = progress.get(run.id)!;
    return { run, ...own, layout: layOut(run, { ...own, faults, configured: training.checkpointInterval }) };
  };
  const first = runs.map((run) => laidOut(run, []));
  const stopped = first.filter(({ layout }) => layout.timelines.some(({ stops }) => stops.length > 0));
  if (stopped.length === 0) return first;
  const scope = {
    clusters: [...new Set(stopped.map(({ run }) => run.cluster))],
    nodes: [...new Set(stopped.flatMap(({ run }) => run.pods.map(({ node }) => node)))],
    hours: [...new Set(stopped.flatMap(({ layout }) => hoursAround(layout)))],
  };
  const { signals } = await readFaults(store, scope, { policy, where: [] });
  return first.map((one) => {
    if (!stopped.includes(one)) return one;
    return laidOut(
      one.run,
      signals.filter(({ cluster }) => cluster === one.run.cluster),
    );
  });
}

/** Returns the hours in which the causes of a run's stops show. */
function hoursAround({ timelines }: RunLayout): readonly number[] {
  return timelines.flatMap(({ stops }) =>
    stops.flatMap(({ at }) => {
      const [from, until] = [hourOf(at - FAULT_BEFORE_MILLIS), hourOf(at + FAULT_AFTER_MILLIS)];
      return from === until ? [from] : [from, from + HOUR_MILLIS];
    }),
  );
}
