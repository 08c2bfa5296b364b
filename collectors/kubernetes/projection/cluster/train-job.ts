import type { ClusterFactBodies } from "../../../../domain/cluster-fact.ts";
import type { TrainJobObject } from "../cluster-object.ts";
import { millisOf } from "../time.ts";
import { given, wholeNumber } from "../wire.ts";

/**
 * Reads the progress of a TrainJob (`status.trainerStatus` of trainer.kubeflow.org/v1alpha1); undefined without one. The remaining time and
 * the metrics of the status change with every report, so they are left out.
 */
export function readTrainJob({ status }: TrainJobObject): ClusterFactBodies["TrainJob"] | undefined {
  const { progressPercentage, lastUpdatedTime } = status?.trainerStatus ?? {};
  const progress = wholeNumber(progressPercentage);
  if (progress === undefined || progress > 100) return undefined;
  return { progress, ...given({ since: millisOf(lastUpdatedTime) }) };
}

/** Returns the progress with the time of the first report of the same percentage, so that only a change is news. */
export function sinceFirst(
  body: ClusterFactBodies["TrainJob"],
  former: ClusterFactBodies["TrainJob"] | undefined,
): ClusterFactBodies["TrainJob"] {
  return former?.progress === body.progress ? former : body;
}
