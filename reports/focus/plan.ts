import { amountOf, formatAmount } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import {
  countLines,
  fixLines,
  groupsOfLines,
  LinesReplacedError,
  OF_RUNS,
  totalOf,
  type FixedLines,
  type LinesCondition,
} from "../lines/fixed.ts";
import { sqlOf, type ChargesQuestion } from "../question/question.ts";
import { LINES_AT_ONCE } from "../lines/portions.ts";

/** The plan of an export: the lines of a question as they were at the time of the request, and their sums. */
export interface FocusPlan {
  readonly question: ChargesQuestion;
  /** All lines of the span, so that an origin is complete with any conditions of the question. */
  readonly fixed: FixedLines;
  /** The number of lines in one query, or the lines of a node on a day if there are more. They are in memory, here and in the store. */
  readonly linesAtOnce: number;
  readonly lines: number;
  readonly unpriced: readonly UnpricedTeam[];
}

/** The time of a team without a price. It has no cost and no row. */
export interface UnpricedTeam {
  readonly team: string;
  readonly lines: number;
  /** Decimal text. */
  readonly gpuHours: string;
}

/** Returns the number of lines without a price. */
export function unpricedLines(teams: readonly UnpricedTeam[]): number {
  return teams.reduce((count, { lines }) => count + lines, 0);
}

/** Some nodes of a cluster on a UTC day. The empty name is for costs of no node. */
export interface NodesOfDay {
  /** The beginning of the day, milliseconds since the epoch. */
  readonly day: number;
  readonly cluster: string;
  readonly nodes: readonly string[];
}

/** The beginning of a line's UTC day in milliseconds, in ClickHouse's SQL. */
export const DAY_SQL = "toFloat64(toUnixTimestamp(toStartOfDay(from_at, 'UTC'))) * 1000";

/** Fixes the lines of an export. Lines that are charged later are not included. Fails with a `StoreError`. */
export async function planFocus(
  store: StoreClient,
  question: ChargesQuestion,
  linesAtOnce = LINES_AT_ONCE,
): Promise<FocusPlan> {
  const fixed = await fixLines(store, { ...question, where: [] });
  const lines = totalOf(await countLines(store, fixed, "policy"));
  return { question, fixed, linesAtOnce, lines, unpriced: await readUnpriced(store, question, fixed) };
}

/**
 * Returns the nodes of each day in portions, in the order of time. Fails with a `StoreError`, and at the end with a `LinesReplacedError`.
 */
export async function* portionsOf(
  store: StoreClient,
  { question, fixed, linesAtOnce, lines }: FocusPlan,
): AsyncGenerator<NodesOfDay> {
  const asked = sqlOf(question);
  for (const { day } of await countLines<{ readonly day: number }>(store, fixed, `${DAY_SQL} AS day`)) {
    const clusters = await countLines<{ readonly cluster: string }>(store, fixed, "cluster", ofDay(day));
    for (const { cluster } of clusters) {
      const { where, parameters } = ofDay(day);
      const counted = await countLines<{ readonly node: string; readonly asked: number }>(
        store,
        fixed,
        `node, toFloat64(countIf(${asked.where})) AS asked`,
        {
          where: `${where} AND cluster = {cluster:String}`,
          parameters: { ...parameters, ...asked.parameters, cluster },
        },
      );
      const wanted = counted.filter(({ asked: count }) => count > 0);
      for (const group of groupsOfLines(wanted, linesAtOnce))
        yield { day, cluster, nodes: group.map(({ node }) => node) };
    }
  }
  if (totalOf(await countLines(store, fixed, "policy")) !== lines) throw new LinesReplacedError();
}

/** Returns the condition for the lines of a day. */
export function ofDay(day: number): LinesCondition {
  return {
    where: "from_at >= toDateTime({day:Int64}, 'UTC') AND from_at < toDateTime({day:Int64} + 86400, 'UTC')",
    parameters: { day: day / 1000 },
  };
}

async function readUnpriced(
  store: StoreClient,
  question: ChargesQuestion,
  { runs }: FixedLines,
): Promise<readonly UnpricedTeam[]> {
  const { where, parameters } = sqlOf(question);
  const rows = await store.query<{ readonly team: string; readonly lines: number; readonly hours: string }>(
    `SELECT team, toFloat64(count()) AS lines, toString(sum(gpu_hours)) AS hours FROM charges
     WHERE ${OF_RUNS} AND ${where} AND effective_cost IS NULL GROUP BY team ORDER BY team`,
    { ...parameters, runs },
  );
  return rows.map(({ team, lines, hours }) => ({ team, lines, gpuHours: formatAmount(amountOf<"gpu-hour">(hours)) }));
}
