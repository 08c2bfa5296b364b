import { z } from "zod";
import type { ConfigSources } from "./words.ts";
import { describeProblem, type FileProblem } from "./file-problem.ts";

/** Returns a schema for the path of a file beside the configuration. */
export function fileOf(allowed: string): z.ZodString {
  return z
    .string({ error: allowed })
    .min(1, { error: allowed })
    .meta({ description: `${allowed}.` });
}

/**
 * Returns the content of a file beside the configuration. If it cannot be read or is invalid, each of its problems becomes an issue of the
 * key that names it, with the key and the line in the file itself.
 */
export function addFileIssues<Value>(
  path: string,
  { readFile }: ConfigSources,
  read: (text: string) => { readonly value: Value } | { readonly problems: readonly FileProblem[] },
  what: string,
  context: z.RefinementCtx,
): Value {
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.addIssue({ code: "custom", message: `the path of a file that can be read (${why})` });
    return z.NEVER;
  }
  const answer = read(text);
  if ("value" in answer) return answer.value;
  for (const problem of answer.problems)
    context.addIssue({
      code: "custom",
      message: `${what} without errors; first error: ${describeProblem(problem).trim()}`,
    });
  return z.NEVER;
}
