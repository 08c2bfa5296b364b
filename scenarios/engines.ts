import { z } from "zod";
import { SERVING_METRICS } from "../domain/serving/metric.ts";
import { count, name, span, time, word } from "./words.ts";

const COUNTERS = SERVING_METRICS.filter(({ kind }) => kind === "counter").map((metric) => metric.name);

const work = z.strictObject({
  model: name,
  adapter: z.string().default(""),
  tenant: z.string().default(""),
  ...span,
  /** The increases of counters within the span. */
  adds: z
    .record(z.string(), count(0), { error: "counters with what is added to them" })
    .refine((adds) => Object.keys(adds).every((counter) => COUNTERS.includes(counter)), {
      error: `counters of: ${COUNTERS.join(", ")}`,
    })
    .default({}),
  running: count(0).optional(),
  waiting: count(0).optional(),
});

/** The schema of a page of an inference engine or a gateway in a scenario. */
export const engine = z.strictObject({
  pod: name,
  namespace: name,
  /** Of several pages of a pod, each has a port. */
  port: count(1).default(8000),
  program: name.default("vllm"),
  kind: word("engine", "frontend", "gateway").default("engine"),
  work: z.array(work, { error: "a list of work" }).default([]),
  silent: z.array(z.strictObject(span)).default([]),
  restarts: z.array(time).default([]),
});

/** A page of an inference engine or a gateway. */
export type ScenarioEngine = z.output<typeof engine>;
