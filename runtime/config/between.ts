import { z } from "zod";

/**
 * Creates a check between keys of a mapping. It runs whenever these keys are valid, even if other keys are not, so that all problems are
 * reported at once. Zod itself runs a mapping's checks only if all of it is valid.
 */
export function between<Of>(
  keys: readonly (readonly string[])[],
  check: (written: Of, context: z.RefinementCtx<Of>) => void,
): z.core.$ZodCheck<Of> {
  return z.superRefine<Of>(check, {
    when: ({ issues }) => !issues.some((issue) => keys.some((key) => touches(issue, key))),
  });
}

/**
 * Returns whether an issue concerns a key, something inside the key, or something that contains it. An unknown key does not affect the
 * others.
 */
function touches({ code, path = [] }: z.core.$ZodRawIssue, key: readonly string[]): boolean {
  if (code === "unrecognized_keys") return false;
  return key.every((part, index) => index >= path.length || path[index] === part);
}
