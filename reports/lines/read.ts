import type { StoreClient, StoreParameters } from "../../runtime/store/client.ts";
import { momentSql, sqlOf, type ChargesQuestion } from "../question/question.ts";
import { LINE_COLUMNS, plainSql } from "./columns.ts";

/** So many lines are asked for at once: as much is in memory, here and in the store. */
const LINES_AT_ONCE = 50_000;

/** The lines of a question as they were when it was asked, in portions. */
export interface LinesPlan {
  readonly lines: number;
  readonly question: ChargesQuestion;
  /** One at least, and one of no run where there are no lines. */
  readonly portions: readonly LinesPortion[];
}

/** Runs that are asked for at once, and between which times their lines begin, by which the store finds them. */
interface LinesPortion {
  readonly runs: readonly string[];
  readonly first: number;
  readonly last: number;
}

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

/** Fixes which lines a question has now: what is charged anew later is not among them. Fails with a `StoreError`. */
export async function planLines(store: StoreClient, question: ChargesQuestion): Promise<LinesPlan> {
  const { where, parameters } = sqlOf(question);
  const counted = await countRuns(store, `run_id IN (SELECT run_id FROM charge_runs) AND ${where}`, parameters);
  const portions: LinesPortion[] = [];
  let begun: CountedRun[] = [];
  for (const run of counted) {
    if (begun.length > 0 && linesOf(begun) + run.lines > LINES_AT_ONCE) {
      portions.push(portionOf(begun));
      begun = [];
    }
    begun.push(run);
  }
  return { lines: linesOf(counted), question, portions: [...portions, portionOf(begun)] };
}

/** How lines are asked for. */
export interface LinesFormat {
  /** What is selected: {@link plainColumns} or {@link TYPED_COLUMNS}. */
  readonly columns: string;
  /** A format of ClickHouse's. */
  readonly format: (isFirstPortion: boolean) => string;
  readonly settings?: Readonly<Record<string, string | number>>;
}

/**
 * The lines of a plan portion by portion, each in the order of time and place. Fails with a `StoreError`, and at the end with a
 * {@link LinesReplacedError}.
 */
export async function* readPortions(
  store: StoreClient,
  { question, portions, lines }: LinesPlan,
  { columns, format, settings }: LinesFormat,
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const { where, parameters } = sqlOf(question);
  const ofRuns = `run_id IN {runs:Array(UUID)} AND from_at >= ${momentSql("first")} AND from_at <= ${momentSql("last")} AND ${where}`;
  // A column's name can be that of a column of the table, which conditions and order mean: so they stand inside.
  const select = `SELECT ${columns} FROM (SELECT * FROM charges WHERE ${ofRuns} AND ${STANDS}
    ORDER BY from_at, cluster, node, slot, holder, state, team, cost_center, until_at)`;
  for (const [index, portion] of portions.entries())
    yield store.bytes(select, { ...parameters, ...portion }, format(index === 0), settings);
  const runs = portions.flatMap((portion) => portion.runs);
  const left = await countRuns(store, `run_id IN {runs:Array(UUID)} AND ${where}`, { ...parameters, runs });
  if (linesOf(left) !== lines) throw new LinesReplacedError();
}

/** What is selected of a line for texts: times in ISO 8601; see {@link plainSql}. */
export function plainColumns(isForSpreadsheet: boolean): string {
  return LINE_COLUMNS.map((column) => `${plainSql(column, isForSpreadsheet)} AS \`${column.name}\``).join(", ");
}

/** What is selected of a line for formats that have decimals and times of their own. */
export const TYPED_COLUMNS = LINE_COLUMNS.map(({ name, sql }) => `${sql} AS \`${name}\``).join(", ");

async function countRuns(
  store: StoreClient,
  where: string,
  parameters: StoreParameters,
): Promise<readonly CountedRun[]> {
  return store.query(
    `SELECT toString(run_id) AS run, toFloat64(count()) AS lines,
       toFloat64(toUnixTimestamp64Milli(min(from_at))) AS first, toFloat64(toUnixTimestamp64Milli(max(from_at))) AS last
     FROM charges WHERE ${where} AND ${STANDS}
     GROUP BY run_id ORDER BY min(from_at), run`,
    parameters,
  );
}

interface CountedRun {
  readonly run: string;
  readonly lines: number;
  readonly first: number;
  readonly last: number;
}

function linesOf(runs: readonly CountedRun[]): number {
  return runs.reduce((sum, { lines }) => sum + lines, 0);
}

function portionOf(runs: readonly CountedRun[]): LinesPortion {
  return {
    runs: runs.map(({ run }) => run),
    first: runs.reduce((first, run) => Math.min(first, run.first), runs[0]?.first ?? 0),
    last: runs.reduce((last, run) => Math.max(last, run.last), 0),
  };
}
