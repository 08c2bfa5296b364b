import { z } from "zod";
import { duration } from "./quantity.ts";
import { webAddress } from "./words.ts";

/** The settings of traces. */
export const tracing = z
  .strictObject({
    otlp: webAddress.optional().describe("An OTLP/HTTP endpoint for traces. Default: no traces."),
    ratio: z
      .number({ error: "a number from 0 to 1" })
      .min(0, { error: "a number from 0 to 1" })
      .max(1, { error: "a number from 0 to 1" })
      .default(0.01)
      .describe("The part of the scrapes with a trace."),
  })
  .prefault({});

/** The settings of metrics by OTLP. */
export const metrics = z
  .strictObject({
    otlp: webAddress
      .optional()
      .describe("An OTLP/HTTP endpoint to which every process sends its metrics. /metrics always has them."),
    interval: duration("1s", "1h").prefault("1m").describe("The time between two exports."),
  })
  .prefault({});
