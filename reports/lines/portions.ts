import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql, sqlOf, type ChargesQuestion } from "../question/question.ts";
import { LINE_COLUMNS, plainSql } from "./columns.ts";
import {
  countLines,
  fixLines,
  groupsOfLines,
  LinesReplacedError,
  OF_RUNS,
  totalOf,
  type FixedLines,
  type LinesOf,
} from "./fixed.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

/** The default number of lines in one query. */
export const LINES_AT_ONCE = 50_000;

/** The lines of a question at the time of the request. */
export interface LinesPlan extends FixedLines {
  /** The number of lines in one query, or the lines of a team in an hour if there are more. They are in memory, here and in the store. */
  readonly linesAtOnce: number;
  readonly teams: readonly OfTeam[];
}

type OfTeam = LinesOf<{ readonly team: string }>;

/** The lines of a portion: of some teams, or of one team in a time, in the order of the store. */
interface Portion {
  readonly teams: readonly string[];
  readonly from?: number;
  readonly until?: number;
}

/** Fixes the current lines of a question. Lines that are charged later are not included. Fails with a `StoreError`. */
export async function planLines(
  store: StoreClient,
  question: ChargesQuestion,
  linesAtOnce = LINES_AT_ONCE,
): Promise<LinesPlan> {
  const fixed = await fixLines(store, question);
  return { ...fixed, linesAtOnce, teams: await countLines(store, fixed, "team") };
}

/** The format of a query for lines. */
export interface LinesFormat {
  /** The selected columns: {@link plainColumns} or {@link TYPED_COLUMNS}. */
  readonly columns: string;
  /** A format of ClickHouse. */
  readonly format: (isFirstPortion: boolean) => string;
  readonly settings?: Readonly<Record<string, string | number>>;
}

/**
 * Reads the lines of a plan portion by portion, in the order of teams and times. Without lines there is one empty portion. Fails with a
 * `StoreError`, and at the end with a {@link LinesReplacedError}.
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
    // The name of a column can equal a column of the table to which conditions and order refer. So they are in the inner query.
    const select = `SELECT ${columns} FROM (SELECT * FROM charges
      WHERE team IN {teams:Array(String)} ${inTime} AND ${OF_RUNS} AND ${where}
      ORDER BY team, from_at, cluster, node, slot, holder, state, cost_center, until_at)`;
    const asked = { ...parameters, ...portion, runs, since: from, before: until };
    yield store.bytes(select, asked, format(isFirst), settings);
    isFirst = false;
  }
  const left = await countLines(store, plan, "team");
  if (totalOf(left) !== totalOf(teams)) throw new LinesReplacedError();
}

/** Returns the selected columns for texts: times in ISO 8601; see {@link plainSql}. */
export function plainColumns(isForSpreadsheet: boolean): string {
  return LINE_COLUMNS.map((column) => `${plainSql(column, isForSpreadsheet)} AS \`${column.name}\``).join(", ");
}

/** The selected columns for formats with types for decimals and times. */
export const TYPED_COLUMNS = LINE_COLUMNS.map(({ name, sql }) => `${sql} AS \`${name}\``).join(", ");

/** Returns portions in the order of the table, by team and time. Portions by time alone would read all blocks of a month each time. */
async function* portionsOf(store: StoreClient, plan: LinesPlan): AsyncGenerator<Portion> {
  const { linesAtOnce, teams } = plan;
  if (teams.length === 0) yield { teams: [] };
  for (const group of groupsOfLines(teams, linesAtOnce)) {
    const [{ team, lines }] = group;
    if (lines <= linesAtOnce) yield { teams: group.map((one) => one.team) };
    else yield* timesOf(team, await countHours(store, plan, team), linesAtOnce);
  }
}

type OfHour = LinesOf<{ readonly hour: number }>;

function* timesOf(team: string, hours: readonly OfHour[], linesAtOnce: number): Generator<Portion> {
  for (const group of groupsOfLines(hours, linesAtOnce))
    yield { teams: [team], from: group[0].hour, until: group.at(-1)!.hour + HOUR_MILLIS };
}

function countHours(store: StoreClient, plan: LinesPlan, team: string): Promise<readonly OfHour[]> {
  const hour = "toFloat64(toUnixTimestamp(toStartOfHour(from_at, 'UTC'))) * 1000 AS hour";
  return countLines(store, plan, hour, { where: "team = {team:String}", parameters: { team } });
}
