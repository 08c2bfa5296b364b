import { z } from "zod";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";

/** The schema for a date or a time in UTC. The output is milliseconds since the epoch. */
export const instant = z
  .string({ error: INSTANT_FORM })
  .meta({ description: INSTANT_FORM })
  .transform((given, context) => {
    const millis = instantOf(given);
    if (millis !== undefined) return millis;
    context.addIssue({ code: "custom", message: INSTANT_FORM });
    return z.NEVER;
  });
