import { createHash } from "node:crypto";
import { dateText, periodOf } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { momentSql, type ChargesQuestion } from "../question/question.ts";
import { monthsIn, type Span } from "../question/span.ts";
import type { CountedRun, DayOfRuns } from "./make.ts";
import { DAY_MILLIS, dayOf } from "../../domain/time.ts";

/** The runs that count for a question, and their sums. */
export interface Counted {
  /** Runs without a part, newest first and closings last. */
  readonly unsummed: readonly CountedRun[];
  /** Parts that cover all other runs, days before hours. */
  readonly parts: readonly string[];
  /** Whole days in which each run has a part, but the day has none. */
  readonly days: readonly DayOfRuns[];
  /** The first days of the closed periods. */
  readonly closed: readonly string[];
}

const RUNS = `
SELECT toString(run_id) AS run, kind, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart,
  (SELECT groupArray(toString(billing_period)) FROM closed_periods) AS closed
FROM charge_runs`;

const PARTS = `
SELECT toString(run_id) AS run, toString(min(part_id)) AS part
FROM charge_sum_parts WHERE window_start >= ${momentSql("first")} AND window_start <= ${momentSql("last")} GROUP BY run_id`;

/** Reads the runs that count for a question, and their parts. Fails with a `StoreError`. */
export async function readCounted(
  store: Pick<StoreClient, "query">,
  { kind, span }: Pick<ChargesQuestion, "kind" | "span">,
  now: number,
): Promise<Counted> {
  const { where, parameters } = runsOf(kind, span);
  const rows = await store.query<CountedRun & { readonly closed: readonly string[] }>(
    `${RUNS} WHERE ${where} ORDER BY kind = 'close', window_start DESC, run`,
    parameters,
  );
  const starts = rows.map(({ windowStart }) => windowStart);
  const parts =
    rows.length === 0
      ? []
      : await store.query<{ readonly run: string; readonly part: string }>(PARTS, {
          first: Math.floor(Math.min(...starts) / DAY_MILLIS) * DAY_MILLIS,
          last: Math.max(...starts),
        });
  const partOf = new Map(parts.map(({ run, part }) => [run, part]));
  const unsummed = rows.filter(({ run }) => !partOf.has(run));
  const days = daysOf(rows, kind === "chargeback" ? undefined : span, now);
  const ofDays = days.flatMap((day) => (partOf.has(day.id) ? day : []));
  const inDays = new Set(ofDays.flatMap(({ runs }) => runs));
  const hours = rows.flatMap(({ run }) => (inDays.has(run) ? [] : (partOf.get(run) ?? [])));
  return {
    unsummed,
    parts: [...ofDays.map(({ id }) => partOf.get(id)!), ...hours],
    days: days
      .filter(({ id, runs }) => !partOf.has(id) && runs.every((run) => partOf.has(run)))
      .map((day) => ({ ...day, parts: day.runs.map((run) => partOf.get(run)!) })),
    closed: rows[0]?.closed ?? [],
  };
}

function runsOf(
  kind: ChargesQuestion["kind"],
  span: Span,
): { readonly where: string; readonly parameters: Readonly<Record<string, unknown>> } {
  if (kind === "chargeback")
    return { where: "billing_period IN {months:Array(Date)}", parameters: { months: monthsIn(span).map(dateText) } };
  // A closing's own run begins with its month and has lines of the whole month.
  return {
    where: `window_start < ${momentSql("until")} AND (window_start >= ${momentSql("from")}
      OR (kind = 'close' AND window_start >= ${momentSql("month")}))`,
    parameters: { from: span.from, until: span.until, month: periodOf(span.from).from },
  };
}

/** Returns the completed days with the runs of their hours. With a span, only days that are completely in it. */
function daysOf(runs: readonly CountedRun[], span: Span | undefined, now: number): readonly Omit<DayOfRuns, "parts">[] {
  const byDay = new Map<number, string[]>();
  for (const { run, kind, windowStart } of runs) {
    const start = dayOf(windowStart);
    const isWhole = span === undefined || (start >= span.from && start + DAY_MILLIS <= span.until);
    if (kind === "close" || !isWhole || start + DAY_MILLIS > now) continue;
    byDay.set(start, [...(byDay.get(start) ?? []), run]);
  }
  return [...byDay]
    .filter(([, ofDay]) => ofDay.length > 1)
    .map(([start, ofDay]) => ({ id: idOf(ofDay), start, runs: ofDay }));
}

/** Returns a UUID that names some runs, in any order. */
function idOf(runs: readonly string[]): string {
  const hex = createHash("sha256").update(runs.toSorted().join(" ")).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
