import type { Column } from "./table.ts";
import { uuid } from "./types.ts";

/** The run that made a row. The value is the same in all rows of an insert. */
export const RUN_ID: Column = { name: "run_id", type: uuid, path: "run" };

/**
 * The order of the runs of one kind over one window. The last run counts: the one with the highest leadership term, and within the term the
 * one that was published last. Runs that were published at the same moment are ordered by id.
 */
export const RUN_ORDER = "(generation, published_at, toString(run_id))";

/** Returns an aggregate over runs: the value of the run that counts, among the runs that fulfill `where`. */
export function ofLastRun(expression: string, where?: string): string {
  return where === undefined
    ? `argMax(${expression}, ${RUN_ORDER})`
    : `argMaxIf(${expression}, ${RUN_ORDER}, ${where})`;
}
