import { z } from "zod";
import { DAY_MILLIS } from "../../domain/time.ts";
import { duration } from "./quantity.ts";
import { flag, list, text } from "./words.ts";

/** Labels and annotations of experiment trackers that name a run. */
const USUAL_KEYS = ["mlflow.run-id", "wandb.run-id"];

/** The schema of training runs. */
export const training = z
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
      .describe("Posts the report of a run that has ended as an Event of its namespace. Needs `kubernetes.clusters`."),
  })
  .prefault({})
  .describe("Training runs. See docs/training.md.");

/** See {@link training}. */
export type TrainingConfig = z.output<typeof training>;
