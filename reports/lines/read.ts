import type { StoreClient, StoreParameters } from "../../runtime/store/client.ts";
import { momentSql, sqlOf, type ChargesQuestion } from "../question/question.ts";
import { LINE_COLUMNS, plainSql } from "./columns.ts";

const LINES_AT_ONCE = 50_000;

/** The lines of a question as they were when it was asked. */
export interface LinesPlan {
  readonly question: ChargesQuestion;
  /** So many lines are asked for at once, or an hour of a team: as much is in memory, here and in the store. */
  readonly linesAtOnce: number;
  readonly runs: readonly string[];
  readonly teams: readonly LinesOf<{ readonly team: string }>[];
}

type LinesOf<What> = What & { readonly lines: number };

/** Lines of a portion: of some teams, or of one team in a time, as the store has them in order. */
interface Portion {
  readonly teams: readonly string[];
  readonly from?: number;
  readonly until?: number;
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

const OF_RUNS = `run_id IN {runs:Array(UUID)} AND ${STANDS}`;

/** Fixes which lines a question has now: what is charged anew later is not among them. Fails with a `StoreError`. */
export async function planLines(
  store: StoreClient,
  question: ChargesQuestion,
  linesAtOnce = LINES_AT_ONCE,
): Promise<LinesPlan> {
  const { where, parameters } = sqlOf(question);
  const found = await store.query<{ readonly run: string }>(
    `SELECT DISTINCT toString(run_id) AS run FROM charges WHERE run_id IN (SELECT run_id FROM charge_runs) AND ${where}`,
    parameters,
  );
  const runs = found.map(({ run }) => run);
  return { question, linesAtOnce, runs, teams: await countTeams(store, question, runs) };
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
 * The lines of a plan portion by portion, in the order of teams and times; one portion without lines where there are none. Fails with
 * a `StoreError`, and at the end with a {@link LinesReplacedError}.
 */
export async function* readPortions(
  store: StoreClient,
  plan: LinesPlan,
  { columns, format, settings }: LinesFormat,
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const { question, runs, teams } = plan;
  const { where, parameters } = sqlOf(question);
  let isFirst = true;
  for await (const { from, until, ...portion } of portionsOf(store, plan)) {
    const inTime =
      from === undefined ? "" : `AND from_at >= ${momentSql("since")} AND from_at < ${momentSql("before")}`;
    // A column's name can be that of a column of the table, which conditions and order mean: so they stand inside.
    const select = `SELECT ${columns} FROM (SELECT * FROM charges
      WHERE team IN {teams:Array(String)} ${inTime} AND ${OF_RUNS} AND ${where}
      ORDER BY team, from_at, cluster, node, slot, holder, state, cost_center, until_at)`;
    const asked = { ...parameters, ...portion, runs, since: from, before: until };
    yield store.bytes(select, asked, format(isFirst), settings);
    isFirst = false;
  }
  const left = await countTeams(store, question, runs);
  if (totalOf(left) !== totalOf(teams)) throw new LinesReplacedError();
}

/** What is selected of a line for texts: times in ISO 8601; see {@link plainSql}. */
export function plainColumns(isForSpreadsheet: boolean): string {
  return LINE_COLUMNS.map((column) => `${plainSql(column, isForSpreadsheet)} AS \`${column.name}\``).join(", ");
}

/** What is selected of a line for formats that have decimals and times of their own. */
export const TYPED_COLUMNS = LINE_COLUMNS.map(({ name, sql }) => `${sql} AS \`${name}\``).join(", ");

/** Along the order of the table, by team and time: a portion by time alone would read all of a month's blocks each time. */
async function* portionsOf(
  store: StoreClient,
  { question, linesAtOnce, runs, teams }: LinesPlan,
): AsyncGenerator<Portion> {
  let small: LinesOf<{ readonly team: string }>[] = [];
  const portion = (): Portion => ({ teams: small.map(({ team }) => team) });
  for (const one of teams) {
    if (small.length > 0 && totalOf(small) + one.lines > linesAtOnce) {
      yield portion();
      small = [];
    }
    if (one.lines <= linesAtOnce) small.push(one);
    else yield* timesOf(one.team, await countHours(store, question, runs, one.team), linesAtOnce);
  }
  if (small.length > 0 || teams.length === 0) yield portion();
}

const HOUR_MILLIS = 3_600_000;

function* timesOf(
  team: string,
  hours: readonly LinesOf<{ readonly hour: number }>[],
  linesAtOnce: number,
): Generator<Portion> {
  let some: LinesOf<{ readonly hour: number }>[] = [];
  const portion = (): Portion => ({ teams: [team], from: some[0]!.hour, until: some.at(-1)!.hour + HOUR_MILLIS });
  for (const one of hours) {
    if (some.length > 0 && totalOf(some) + one.lines > linesAtOnce) {
      yield portion();
      some = [];
    }
    some.push(one);
  }
  if (some.length > 0) yield portion();
}

function totalOf(counted: readonly LinesOf<unknown>[]): number {
  return counted.reduce((sum, { lines }) => sum + lines, 0);
}

function countTeams(
  store: StoreClient,
  question: ChargesQuestion,
  runs: readonly string[],
): Promise<LinesPlan["teams"]> {
  return count(store, question, "team", { runs });
}

function countHours(
  store: StoreClient,
  question: ChargesQuestion,
  runs: readonly string[],
  team: string,
): Promise<readonly LinesOf<{ readonly hour: number }>[]> {
  const ofTeam = { ...question, where: [...question.where, { dimension: "team", values: [team] }] };
  return count(store, ofTeam, "toFloat64(toUnixTimestamp(toStartOfHour(from_at, 'UTC'))) * 1000 AS hour", { runs });
}

/** The lines of a question by something, in its order. */
function count<What>(
  store: StoreClient,
  question: ChargesQuestion,
  by: string,
  runs: StoreParameters,
): Promise<readonly LinesOf<What>[]> {
  const { where, parameters } = sqlOf(question);
  return store.query<LinesOf<What>>(
    `SELECT ${by}, toFloat64(count()) AS lines FROM charges WHERE ${OF_RUNS} AND ${where} GROUP BY 1 ORDER BY 1`,
    { ...parameters, ...runs },
  );
}
