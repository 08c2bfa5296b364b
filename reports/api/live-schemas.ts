import { z } from "zod";
import { time } from "./words.ts";

/** The fleet now. */
export const fleetSchema = z
  .object({
    at: time,
    gpus: z.array(
      z.object({
        cluster: z.string(),
        node: z.string(),
        gpu: z.string(),
        device: z.string(),
        instance: z.string(),
        profile: z.string(),
        model: z.string(),
        regime: z.string(),
        activityRatio: z.number().nullable(),
        memoryUsedBytes: z.number().nullable(),
        memoryTotalBytes: z.number().nullable(),
        temperatureCelsius: z.number().nullable(),
        memoryTemperatureCelsius: z.number().nullable(),
        powerWatts: z.number().nullable(),
        powerLimitWatts: z.number().nullable(),
        xid: z
          .number()
          .int()
          .describe("The last XID, which stays until the driver is loaded again; 0 if there was none."),
        troubles: z.array(z.string()).describe("The current faults in words."),
        scrapedAt: time,
        holder: z
          .object({
            namespace: z.string(),
            name: z.string(),
            uid: z.string().describe("The pod's UID; empty if it is not known."),
            pods: z.number().int(),
            evidence: z.string(),
            workload: z
              .object({
                kind: z.string(),
                name: z.string(),
                type: z.string(),
                team: z.string(),
                queue: z.string(),
                since: time,
              })
              .nullable(),
          })
          .nullable(),
      }),
    ),
    unobserved: z
      .array(z.object({ cluster: z.string(), node: z.string(), model: z.string(), gpus: z.number().int() }))
      .describe("GPUs without a sample in the last minutes."),
  })
  .meta({ id: "Fleet" });

const waitingPod = { cluster: z.string(), team: z.string(), queue: z.string(), priorityClass: z.string() };

/** The queue now. */
export const queueSchema = z
  .object({
    at: time,
    pending: z.array(
      z.object({
        ...waitingPod,
        reason: z.string(),
        pods: z.number().int(),
        devices: z.number(),
        oldestSeconds: z.number(),
      }),
    ),
    longest: z.array(
      z.object({
        ...waitingPod,
        namespace: z.string(),
        name: z.string(),
        devices: z.number(),
        reason: z.string(),
        message: z.string(),
        waitingSeconds: z.number(),
        pods: z.number().int().describe("The waiting pods of a gang; 1 for a pod without one."),
        gang: z.object({ kind: z.string(), name: z.string() }).nullable(),
      }),
    ),
    gangs: z.array(
      z.object({
        cluster: z.string(),
        namespace: z.string(),
        kind: z.string(),
        name: z.string(),
        team: z.string(),
        size: z.number().int(),
        holdingPods: z.number().int(),
        heldDevices: z.number(),
        holdingSeconds: z.number(),
      }),
    ),
    quotas: z.array(
      z.object({
        cluster: z.string(),
        namespace: z.string(),
        name: z.string(),
        resource: z.string(),
        hard: z.number(),
        used: z.number(),
        left: z.number(),
      }),
    ),
    queues: z.array(
      z.object({
        cluster: z.string(),
        kind: z.string(),
        namespace: z.string(),
        name: z.string(),
        scheduler: z.string(),
        parent: z.string(),
        resource: z.string(),
        quota: z.number(),
        admitted: z.number(),
        borrowed: z.number(),
      }),
    ),
  })
  .meta({ id: "Queue" });
