import { z } from "zod";
import { list, text, whole } from "./words.ts";

const part = (least: number, most: number) =>
  z
    .number({ error: `a number from ${least} to ${most}` })
    .min(least)
    .max(most);

/** The schema of the key `advice`. */
export const advice = z
  .strictObject({
    days: whole(1, 90).default(7).describe("The days of evidence that a card needs, and of its window."),
    coverage: part(0.5, 1)
      .default(0.9)
      .describe("The least part of the time in which a workload held GPUs that must have samples."),
    headroom: part(0, 2)
      .default(0.15)
      .describe("The part of memory and activity to keep free above the measured peak."),
    minReplicas: whole(1, 100).default(2).describe("The fewest replicas of an inference service."),
    spareNodes: whole(0, 10_000).default(0).describe("The free nodes of each kind and pool to keep for new work."),
    models: list(text("a GPU model of the price book"))
      .default([])
      .describe("GPU models that the fleet can get, in addition to those that it has."),
  })
  .prefault({})
  .describe("The cards of the advice. See docs/advice.md.");

/** The limits of cards in a configuration. */
export type ConfiguredAdvice = z.output<typeof advice>;
