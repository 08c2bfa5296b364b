import { z } from "zod";
import { INCIDENT_PARTS } from "../../domain/training/incident.ts";
import { RUN_PHASES } from "../../domain/training/phases.ts";
import { decimal, time } from "./words.ts";

const amounts = {
  gpuHours: decimal,
  unpricedGpuHours: decimal,
  list: decimal,
  contracted: decimal,
  cost: decimal.describe("The effective cost."),
  powerCost: decimal,
  joules: decimal,
  carbonGrams: decimal,
};

const phase = z.object({
  phase: z.enum(RUN_PHASES),
  isEstimate: z.boolean().describe("True if the phase is an estimate: half of the mean time between checkpoints."),
  ...amounts,
});

const metricsFailure = z
  .string()
  .nullable()
  .describe("Why series of `training.prometheus` are missing; null if they were read.");

const run = z.object({
  id: z.string(),
  cluster: z.string(),
  namespace: z.string(),
  kind: z.string().describe("The kind of the owner, or the label or annotation that names the run."),
  name: z.string(),
  team: z.string().describe("The team that pays for most of it."),
  outcome: z.enum(["running", "succeeded", "failed", "ended"]),
  isGang: z.boolean(),
  from: time.describe("When its first pod was created."),
  until: time.nullable().describe("When its last pod ended; null while a pod exists."),
  pods: z.number().int().describe("All pods, also those that were replaced."),
  models: z.array(z.object({ model: z.string(), gpuHours: decimal })),
  queuedSeconds: z.number().int().describe("How long the run had pods and none was bound: it waited without cost."),
  ...amounts,
  progress: decimal.nullable().describe("The productive part of the cost, 0 to 1."),
  phases: z.array(phase).describe("The parts of the bill. They sum exactly to it."),
  stops: z.number().int(),
  metricsFailure,
});

/** The answer of `/training/runs`. */
export const runsSchema = z
  .object({
    policy: z.string(),
    currency: z.string(),
    count: z.number().int(),
    runs: z.array(run),
    next: z.string().nullable(),
  })
  .meta({ id: "TrainingRuns" });

/** The answer of `/training/run`. */
export const runDetailSchema = z
  .object({
    policy: z.string(),
    currency: z.string(),
    run,
    stops: z.array(
      z.object({
        at: time,
        until: time.nullable().describe("When all pods ran again; null if they did not."),
        cause: z.string().describe("The end of the pod that ended first."),
        text: z.string().describe("The fault or the cause, in words."),
        pod: z.string(),
        node: z.string(),
        lostSince: time.nullable().describe("Since when work was lost; null if none is known, or if it was all."),
        lostBy: z.enum(["checkpoint", "step", "percent", "estimate"]).nullable(),
        ...amounts,
        phases: z.array(phase),
      }),
    ),
    efficiency: z
      .object({
        basis: z
          .enum(["tokens", "upper-bound"])
          .describe("tokens: useful operations. upper-bound: all operations that busy tensor pipes could have done."),
        flops: z.string(),
        costPerExaflop: decimal.describe("The cost of 10^18 operations; a lower bound with upper-bound."),
        ofPeak: decimal.nullable().describe("The part of the dense BF16 peak; an upper bound with upper-bound."),
        tokens: z.string().nullable(),
      })
      .nullable(),
    stragglers: z
      .object({
        stragglers: z.array(
          z.object({
            node: z.string(),
            gpu: z.string(),
            pod: z.string(),
            measure: z.enum(["clock", "activity"]),
            slowHours: z.number().int(),
            hours: z.number().int(),
            ofMedian: z.number(),
          }),
        ),
        lostRatio: z.number().describe("The mean of 1 − slowest / median over the last seven days of the run."),
        cost: z.object(amounts),
      })
      .nullable(),
    collectives: z
      .array(
        z.object({
          operation: z.string().describe("A collective (AllReduce) or a point-to-point operation (Send)."),
          size: z.string(),
          nodes: z.number().int(),
          ranks: z.number().int(),
          gpus: z.number().int(),
          gbs: z.number().describe("The median bus bandwidth, GB/s."),
          lowest: z.object({ from: time, gbs: z.number() }).describe("The hour with the lowest median."),
          late: z
            .array(
              z.object({
                node: z.string(),
                pod: z.string(),
                gpu: z.string(),
                ofMedian: z.number(),
                lateHours: z.number().int(),
                hours: z.number().int(),
              }),
            )
            .describe("GPUs that the others wait for: their time is far below the median."),
        }),
      )
      .describe("The collectives of the last seven days by NCCL Inspector, the 8 longest operations."),
    metricsFailure,
    suggestion: z.object({ about: z.string(), text: z.string(), atStake: z.object(amounts) }).nullable(),
  })
  .meta({ id: "TrainingRun" });

const group = z.object({
  key: z.string(),
  incidents: z.number().int(),
  meanHoursBetween: decimal.nullable().describe("Between the starts of incidents; null for one incident."),
  gpuHours: decimal,
  cost: decimal,
});

/** The answer of `/training/incidents`. */
export const incidentsSchema = z
  .object({
    policy: z.string(),
    currency: z.string(),
    span: z.object({ name: z.string(), from: time, until: time }),
    total: z.object(amounts),
    incidents: z.array(
      z.object({
        at: time,
        cluster: z.string(),
        node: z.string(),
        model: z.string(),
        driver: z.string(),
        kind: z.string(),
        text: z.string(),
        signals: z.array(
          z.object({
            at: time,
            kind: z.string(),
            code: z.string(),
            gpu: z.number().int().nullable(),
            isBlocking: z.boolean(),
          }),
        ),
        recoveryAction: z.string().nullable().describe("DCGM's recovery action of a GPU of the node."),
        runs: z.array(z.string()).describe("The ids of the runs that it stopped."),
        ...amounts,
        parts: z.array(z.object({ part: z.enum(INCIDENT_PARTS), ...amounts })),
      }),
    ),
    byNode: z.array(group),
    byModel: z.array(group),
    byDriver: z.array(group),
    next: z.string().nullable(),
  })
  .meta({ id: "TrainingIncidents" });
