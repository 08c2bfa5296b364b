import { z } from "zod";
import { DAY_MILLIS } from "../../domain/time.ts";
import { duration } from "./quantity.ts";
import { oneCredential, prometheusServer } from "./prometheus-server.ts";
import { flag, list, text, type ConfigSources } from "./words.ts";

/** Labels and annotations of experiment trackers that name a run. */
const USUAL_KEYS = ["mlflow.run-id", "wandb.run-id"];

const prometheus = (sources: ConfigSources) =>
  z
    .strictObject({
      ...prometheusServer(sources),
      clusters: list(text("a cluster's name")).optional().describe("The clusters whose series it has. Default: all."),
      clusterLabel: text("a label").optional().describe("The label of its series with the cluster. Default: none."),
      step: text("a metric")
        .default("gpu_ledger_training_step")
        .describe("The gauge or counter of completed steps, with the labels of the pod."),
      checkpoint: text("a metric")
        .default("gpu_ledger_training_checkpoint_timestamp_seconds")
        .describe("When the last checkpoint was complete, seconds since the epoch."),
      checkpointSeconds: text("a metric")
        .default("gpu_ledger_training_checkpoint_duration_seconds")
        .describe("How long training stood still for it."),
    })
    .superRefine(oneCredential);

/** Returns the schema of training runs. */
export const training = (sources: ConfigSources) =>
  z
    .strictObject({
      runKeys: list(text("a label or annotation"))
        .default(USUAL_KEYS)
        .describe("Labels or annotations of pods or owners whose value names a run across workloads."),
      gap: duration("0s", "90d")
        .default(DAY_MILLIS)
        .describe("The longest time without a pod after which an owner of the same name continues its run."),
      checkpointInterval: duration("1s", "30d")
        .optional()
        .describe(
          "The mean time between two checkpoints, for estimates of lost progress of runs that report nothing. Default: no estimates.",
        ),
      events: flag
        .default(false)
        .describe(
          "Posts the report of a run that has ended as an Event of its namespace. Needs `kubernetes.clusters`.",
        ),
      prometheus: list(prometheus(sources))
        .default([])
        .describe(
          "Servers with Prometheus' API whose series have the progress of trainings and the collectives of NCCL Inspector. Reports read them.",
        ),
    })
    .prefault({})
    .describe("Training runs. See docs/training.md.");

/** See {@link training}. */
export type TrainingConfig = z.output<ReturnType<typeof training>>;
