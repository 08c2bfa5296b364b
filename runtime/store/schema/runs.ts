import type { Column } from "./table.ts";
import { uuid } from "./types.ts";

/** The run that has made a row. Its value is the same in all rows of an insert. */
export const RUN_ID: Column = { name: "run_id", type: uuid, path: "run" };

/**
 * The order of the runs of one kind over one window. The last run counts: that of the highest term of leadership, in it the run that was
 * published last. Two runs of one moment have the order of their ids.
 */
export const RUN_ORDER = "(generation, published_at, toString(run_id))";

/** An aggregate over runs: the value of the run that counts, of those that fulfil `where`. */
export function ofLastRun(expression: string, where?: string): string {
  return where === undefined
    ? `argMax(${expression}, ${RUN_ORDER})`
    : `argMaxIf(${expression}, ${RUN_ORDER}, ${where})`;
}
