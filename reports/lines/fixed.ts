import type { StoreClient } from "../../runtime/store/client.ts";
import type { StoreParameters } from "../../runtime/store/store-parameters.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** The lines of a question at the time of the request: those of fixed runs. Later runs do not change them. */
export interface FixedLines {
  readonly question: ChargesQuestion;
  readonly runs: readonly string[];
}

/** A condition on `charges` in ClickHouse's SQL, with the values of its placeholders. */
export interface LinesCondition {
  readonly where: string;
  readonly parameters: StoreParameters;
}

/** A key with its number of lines. */
export type LinesOf<What> = What & { readonly lines: number };

/** Lines were replaced, and the old ones dropped, during the export. The file lacks some of them. */
export class LinesReplacedError extends Error {
  readonly code = "lines-replaced";
  readonly retriable = true;

  constructor() {
    super("lines were charged again and dropped during the export, so the file is not complete: export again");
    this.name = "LinesReplacedError";
  }
}

/** SQL that leaves out lines that wait to be spread if a closing has replaced them, as in `charges_published`. */
const STANDS = "NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods))";

/** The condition on `charges` for the current lines of the parameter `runs`. */
export const OF_RUNS = `run_id IN {runs:Array(UUID)} AND ${STANDS}`;

/** Fixes the current lines of a question. Fails with a `StoreError`. */
export async function fixLines(store: StoreClient, question: ChargesQuestion): Promise<FixedLines> {
  const { where, parameters } = sqlOf(question);
  const found = await store.query<{ readonly run: string }>(
    `SELECT DISTINCT toString(run_id) AS run FROM charges
     WHERE run_id IN (SELECT run_id FROM charge_runs) AND ${where} ORDER BY run`,
    parameters,
  );
  return { question, runs: found.map(({ run }) => run) };
}

/** Counts fixed lines by columns, in their order. `also` is a further condition. Fails with a `StoreError`. */
export function countLines<What>(
  store: StoreClient,
  { question, runs }: FixedLines,
  by: string,
  also: LinesCondition = { where: "true", parameters: {} },
): Promise<readonly LinesOf<What>[]> {
  const { where, parameters } = sqlOf(question);
  return store.query<LinesOf<What>>(
    `SELECT ${by}, toFloat64(count()) AS lines FROM charges
     WHERE ${OF_RUNS} AND ${where} AND ${also.where} GROUP BY ALL ORDER BY ALL`,
    { ...parameters, ...also.parameters, runs },
  );
}

/** Returns the total number of lines. */
export function totalOf(counted: readonly LinesOf<unknown>[]): number {
  return counted.reduce((sum, { lines }) => sum + lines, 0);
}

/** Groups counted keys, in their order, with at most `most` lines in a group. A key with more lines is a group of its own. */
export function* groupsOfLines<What>(
  counted: readonly LinesOf<What>[],
  linesAtOnce: number,
): Generator<readonly [LinesOf<What>, ...LinesOf<What>[]]> {
  let group: LinesOf<What>[] = [];
  let lines = 0;
  for (const one of counted) {
    if (group.length > 0 && lines + one.lines > linesAtOnce) {
      yield group as [LinesOf<What>];
      [group, lines] = [[], 0];
    }
    group.push(one);
    lines += one.lines;
  }
  if (group.length > 0) yield group as [LinesOf<What>];
}
