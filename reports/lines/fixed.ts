import type { StoreClient, StoreParameters } from "../../runtime/store/client.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";

/** The lines of a question as they were when it was asked: those of some runs, whatever is charged anew later. */
export interface FixedLines {
  readonly question: ChargesQuestion;
  readonly runs: readonly string[];
}

/** A condition on `charges` in ClickHouse's SQL, with the values of its placeholders. */
export interface LinesCondition {
  readonly where: string;
  readonly parameters: StoreParameters;
}

/** Something, and how many lines there are of it. */
export type LinesOf<What> = What & { readonly lines: number };

/** Lines were replaced, and the old ones dropped, while they were exported: what was written lacks some of them. */
export class LinesReplacedError extends Error {
  readonly code = "lines-replaced";
  readonly retriable = true;

  constructor() {
    super("lines were charged anew and dropped while they were exported: what was written is not whole; export again");
    this.name = "LinesReplacedError";
  }
}

/** Lines that wait to be spread are replaced by what the closing made of them, as in `charges_published`. */
const STANDS = "NOT (payer = 'spread' AND billing_period IN (SELECT billing_period FROM closed_periods))";

/** The condition on `charges` that leaves the lines of the parameter `runs` which count. */
export const OF_RUNS = `run_id IN {runs:Array(UUID)} AND ${STANDS}`;

/** Fixes which lines a question has now. Fails with a `StoreError`. */
export async function fixLines(store: StoreClient, question: ChargesQuestion): Promise<FixedLines> {
  const { where, parameters } = sqlOf(question);
  const found = await store.query<{ readonly run: string }>(
    `SELECT DISTINCT toString(run_id) AS run FROM charges
     WHERE run_id IN (SELECT run_id FROM charge_runs) AND ${where} ORDER BY run`,
    parameters,
  );
  return { question, runs: found.map(({ run }) => run) };
}

/** Counts fixed lines by columns, in their order; `also` leaves only those of a further condition. Fails with a `StoreError`. */
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

/** How many lines all of them have. */
export function totalOf(counted: readonly LinesOf<unknown>[]): number {
  return counted.reduce((sum, { lines }) => sum + lines, 0);
}

/** Counted things in groups of so many lines at most, in their order; one that has more is a group of its own. */
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
