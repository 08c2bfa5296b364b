import { z } from "zod";

/**
 * A check between keys of a mapping, which is made whenever these keys are right, whatever is wrong with others: so that everything
 * that is wrong is told at once. Zod itself makes a mapping's checks only where all of it is right.
 */
export function between<Of>(
  keys: readonly (readonly string[])[],
  check: (written: Of, context: z.RefinementCtx<Of>) => void,
): z.core.$ZodCheck<Of> {
  return z.superRefine<Of>(check, {
    when: ({ issues }) => !issues.some((issue) => keys.some((key) => touches(issue, key))),
  });
}

/** Whether an issue is of a key, of something in it, or of what it is in. A key that there is not leaves the others as they are. */
function touches({ code, path = [] }: z.core.$ZodRawIssue, key: readonly string[]): boolean {
  if (code === "unrecognized_keys") return false;
  return key.every((part, place) => place >= path.length || path[place] === part);
}
