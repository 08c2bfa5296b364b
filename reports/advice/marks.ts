import { isoText } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertRecords } from "../../runtime/store/schema/records.ts";

/** The decisions about a card: it was applied, it is not wanted, or it is open again. */
export const DECISIONS = ["taken", "dismissed", "open"] as const;

/** A decision about a card. */
export type Decision = (typeof DECISIONS)[number];

/** A person's decision about a card. Times are milliseconds since the epoch. */
export interface Mark {
  readonly what: Decision;
  readonly at: number;
  /** The end of the decision: the card is open from then on. Undefined without an end. */
  readonly until: number | undefined;
  readonly who: string;
  readonly why: string;
}

/** A mark of the store. `what` is empty if the card has none. */
export interface MarkRow {
  readonly what: string;
  readonly markedAt: number;
  readonly markedUntil: number | null;
  readonly who: string;
  readonly why: string;
}

/** SQL for the newest mark of each card. */
export const NEWEST_MARKS = `
SELECT id AS marked, argMax(tuple(what, at, until_at, who, why), (at, what)) AS mark FROM advice_marks GROUP BY id`;

/** SQL for the columns of {@link MarkRow}, of a row that is joined with {@link NEWEST_MARKS}. */
export const MARK_COLUMNS = `
toString(mark.1) AS what, toFloat64(toUnixTimestamp64Milli(mark.2)) AS markedAt,
if(mark.3 IS NULL, NULL, toFloat64(toUnixTimestamp64Milli(assumeNotNull(mark.3)))) AS markedUntil, mark.4 AS who, mark.5 AS why`;

/** SQL for cards whose newest mark dismisses them at the time `now`, milliseconds since the epoch. */
export const IS_DISMISSED =
  "(mark.1 = 'dismissed' AND (mark.3 IS NULL OR mark.3 > fromUnixTimestamp64Milli({now:Int64})))";

/** Returns the mark of a row; undefined if the card has none. */
export function markOf({ what, markedAt, markedUntil, who, why }: MarkRow): Mark | undefined {
  if (what === "") return undefined;
  return { what: what as Decision, at: markedAt, until: markedUntil ?? undefined, who, why };
}

/** Returns true if a mark dismisses its card at a time: cards that are dismissed are hidden. */
export function isDismissed(mark: Mark | undefined, now: number): boolean {
  return mark?.what === "dismissed" && (mark.until === undefined || mark.until > now);
}

/** Returns a mark as JSON, with times in ISO 8601; null without a mark. */
export function markJson(mark: Mark | undefined): object | null {
  if (mark === undefined) return null;
  const { what, at, until, who, why } = mark;
  return { what, at: isoText(at), until: until === undefined ? null : isoText(until), who, why };
}

/** Reads the newest mark of each card that has one, by the id of the card. Fails with a `StoreError`. */
export async function readMarks(store: Pick<StoreClient, "query">): Promise<ReadonlyMap<string, Mark>> {
  const rows = await store.query<MarkRow & { readonly marked: string }>(
    `SELECT marked, ${MARK_COLUMNS} FROM (${NEWEST_MARKS})`,
  );
  return new Map(rows.flatMap((row) => [[row.marked, markOf(row)!]]));
}

/** Adds a decision about a card. Earlier decisions stay in the audit trail. Fails with a `StoreError`. */
export async function writeMark(store: StoreClient, id: string, { what, at, until, who, why }: Mark): Promise<void> {
  const until_at = until === undefined ? null : isoText(until);
  await insertRecords(store, "advice_marks", [{ id, what, at: isoText(at), until_at, who, why }]);
}
