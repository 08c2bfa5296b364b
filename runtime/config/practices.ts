import { z } from "zod";
import { CHECK_NAMES } from "../../domain/practice/checks.ts";
import { list, oneOf, whole } from "./words.ts";

const [first, ...others] = CHECK_NAMES;

/** The schema of the checks of practices. */
export const practices = z
  .strictObject({
    days: whole(1, 92).default(7).describe("The days whose charges are the money at stake."),
    off: list(oneOf(first!, ...others))
      .default([])
      .describe("Checks that are switched off. See docs/practices.md for their names."),
  })
  .prefault({})
  .describe("The checks of a cluster's practices.");

/** See {@link practices}. */
export type PracticesConfig = z.output<typeof practices>;
