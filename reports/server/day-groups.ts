import { LRUCache } from "lru-cache";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { ReportQuestion } from "../question/question.ts";
import { groupsFrom, readDays, type GroupSums, type ReadGroups } from "../report/groups.ts";

const DAY_MILLIS = 86_400_000;
/** What the sums of a group take, roughly. */
const SUMS_BYTES = 700;
/** A question of fewer days is not worth to be kept day by day. */
const FEWEST_DAYS = 3;

/**
 * Remembers the sums of days: of a month that runs only the days of which runs were published since are read again. What an edition of the
 * ledger says of each day is read once.
 */
export interface DayGroups {
  /** Reads sums as of an edition. Fails as `groupsFrom` does. */
  at(edition: string): ReadGroups;
}

const RUNS = `
SELECT toFloat64(toUnixTimestamp(toStartOfDay(window_start, 'UTC'))) * 1000 AS day,
  toString(groupBitXor(sipHash64(toString(run_id), billing_period, kind, cluster, window_start))) AS runs
FROM charge_runs WHERE kind IN ('charge', 'correction') GROUP BY day
UNION ALL
SELECT toFloat64(-1) AS day, toString((groupBitXor(sipHash64(toString(run_id), billing_period, kind, cluster, window_start)), (SELECT count() FROM closed_periods))) AS runs
FROM charge_runs WHERE kind NOT IN ('charge', 'correction')`;

/** What the lines of each day are of: equal texts, equal lines. A closing's own lines can be of any day. */
type DayRuns = ReadonlyMap<number, string>;

/** Remembers up to so many bytes. */
export function createDayGroups(store: Pick<StoreClient, "query">, mostBytes: number): DayGroups {
  const known = new LRUCache<string, readonly GroupSums[]>({ maxSize: mostBytes });
  let last: { readonly edition: string; readonly runs: Promise<DayRuns> } | undefined;

  function runsAt(edition: string): Promise<DayRuns> {
    if (last?.edition !== edition) {
      const asked = { edition, runs: readRuns(store) };
      last = asked;
      asked.runs.catch(() => {
        if (last === asked) last = undefined;
      });
    }
    return last.runs;
  }

  return {
    at: (edition) => async (question) => {
      const days = daysOf(question);
      if (question.kind !== "showback" || days.length < FEWEST_DAYS) return groupsFrom(store)(question);
      const runs = await runsAt(edition);
      const keyOf = (day: number): string => keyOfDay(question, day, `${runs.get(day)} ${runs.get(-1)}`);
      const found = new Map(days.map((day) => [day, known.get(keyOf(day))]));
      const missing = days.filter((day) => found.get(day) === undefined);
      if (missing.length > 0) {
        const read = new Map<number, GroupSums[]>(missing.map((day) => [day, []]));
        for (const { day, sums } of await readDays(store, question, missing)) read.get(day)!.push(sums);
        for (const [day, sums] of read) {
          known.set(keyOf(day), sums, { size: 200 + sums.length * SUMS_BYTES });
          found.set(day, sums);
        }
      }
      return [...found.values()].flatMap((sums) => sums ?? []);
    },
  };
}

/** The first moments of the UTC days that a question's span has a part of. */
function daysOf({ span }: ReportQuestion): readonly number[] {
  const first = Math.floor(span.from / DAY_MILLIS) * DAY_MILLIS;
  return Array.from({ length: Math.ceil((span.until - first) / DAY_MILLIS) }, (_, day) => first + day * DAY_MILLIS);
}

/** What a question asks of a day: of the first and the last one it can be a part. */
function keyOfDay({ policy, by, where, span }: ReportQuestion, day: number, runs: string): string {
  const part = [Math.max(day, span.from), Math.min(day + DAY_MILLIS, span.until)];
  return JSON.stringify([policy, by, where, part, runs]);
}

async function readRuns(store: Pick<StoreClient, "query">): Promise<DayRuns> {
  const rows = await store.query<{ readonly day: number; readonly runs: string }>(RUNS);
  return new Map(rows.map(({ day, runs }) => [day, runs]));
}
