import { randomUUID } from "node:crypto";
import type { ExportLine } from "../../../domain/invoice/export-line.ts";
import { dateText, periodOf } from "../../../domain/period.ts";
import { isoText } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { EXPORT_LINE_COLUMNS } from "../../../runtime/store/schema/invoices.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";
import { doubledExports } from "../../../runtime/store/schema/doubled-exports.ts";

/** A version of an export of a source. */
export interface ExportVersion {
  readonly source: string;
  readonly name: string;
  /** A hash of the content. The same content twice changes nothing. */
  readonly content: string;
  readonly readBy: string;
  readonly readAt: number;
  /** True if the version is the whole export: months of an earlier version that it does not have are gone. */
  readonly isWhole: boolean;
}

/** A line with the name of its file. */
export interface FileLine extends ExportLine {
  readonly file: string;
}

/** The counts of an export after all of its lines were read. */
export interface ExportCounts {
  readonly rows: number;
  /** The dropped rows by reason. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** A billing month of a stored export. */
export interface StoredMonth {
  /** The start of the month, milliseconds since the epoch. */
  readonly month: number;
  readonly kept: number;
}

/**
 * Returns whether this content of an export is the one that counts now. A month whose lines have become final by `finalAfter` since they were
 * read has to be read again. Fails with a `StoreError`.
 */
export async function isStored(
  store: StoreClient,
  { source, name, content }: Pick<ExportVersion, "source" | "name" | "content">,
  { finalAfter = Infinity, now }: { readonly finalAfter?: number | undefined; readonly now: number },
): Promise<boolean> {
  const rows = await store.query<{ content: string; month: string; readAt: number }>(
    `SELECT content, toString(billing_period) AS month, toFloat64(toUnixTimestamp64Milli(read_at)) AS readAt
     FROM invoice_exports WHERE source = {source:String} AND export = {name:String}
     ORDER BY read_at DESC, toString(version) DESC LIMIT 1 WITH TIES`,
    { source, name },
  );
  const becameFinal = rows.some(({ month, readAt }) => {
    const finalAt = periodOf(Date.parse(month)).until + finalAfter;
    return readAt < finalAt && finalAt <= now;
  });
  return rows[0]?.content === content && !becameFinal;
}

/** The id of a version has the time of its beginning. */
const NEW_VERSION = "SELECT toString(generateUUIDv7()) AS version";

/** The lines of a month of an export while they are stored. */
interface Month {
  kept: number;
  from: number;
  until: number;
  /** The length of the longest line of a machine. */
  longestMillis: number;
}

/**
 * Stores a version of an export. Each of its billing months replaces the month of the former version whole, once all lines are there. If
 * reading fails, nothing of it counts, and its lines are dropped. `counts` is called after the last line. Lines of replaced versions are dropped.
 * Returns the months in order. Fails with a `StoreError`, and with the error of the lines.
 */
export async function storeExport(
  store: StoreClient,
  of: ExportVersion,
  lines: AsyncIterable<readonly FileLine[]> | Iterable<readonly FileLine[]>,
  counts: () => ExportCounts,
): Promise<readonly StoredMonth[]> {
  const { source } = of;
  const [{ version }] = (await store.query<{ version: string }>(NEW_VERSION)) as [{ version: string }];
  const months = new Map<number, Month>();
  const blocks = createBlocks<FileLine>(EXPORT_LINE_COLUMNS, { version, source });
  try {
    for await (const portion of lines) {
      for (const line of portion) {
        blocks.write(line);
        count(months, line);
      }
      if (blocks.count > 0) await store.insertRows("export_lines", namesOf(blocks.columns), blocks.take());
    }
  } catch (error) {
    await store.command("DELETE FROM export_lines WHERE version = {version:UUID}", { version });
    throw error;
  }
  if (of.isWhole)
    for (const month of await monthsOf(store, of)) if (!months.has(month)) months.set(month, { ...NO_LINES });
  // An export without a kept line is recorded, too: otherwise each look would read it again.
  if (months.size === 0) months.set(periodOf(of.readAt).from, { ...NO_LINES });
  await storeMonths(store, of, { version, months, counts: counts() });
  return [...months].map(([month, { kept }]) => ({ month, kept })).toSorted((a, b) => a.month - b.month);
}

/** Counts the lines of machines in a month of an export for times that none of some other exports has. */
const OWN_LINES = `
WITH of_month AS (
  SELECT machine, from_at, until_at, export
  FROM export_lines_valid INNER JOIN (SELECT DISTINCT version, export FROM invoice_exports_valid) AS named USING (version)
  WHERE source = {source:String} AND kind = 'machine' AND toDate(toStartOfMonth(billing_from)) = {month:Date}
)
SELECT toFloat64(count()) AS own FROM of_month
WHERE export = {name:String}
  AND (machine, from_at, until_at) NOT IN (SELECT machine, from_at, until_at FROM of_month WHERE export IN {names:Array(String)})`;

/** A month of an export that counts no longer. */
export interface EndedMonth {
  readonly name: string;
  readonly month: number;
}

/**
 * Ends the months of a source's exports that are not of `names`, and of whose machines each time is in an export of `names`: a file that was
 * renamed, or imported by hand before its folder was configured. Returns them in order. Fails with a `StoreError`.
 */
export async function endDoubled(
  store: StoreClient,
  { source, readAt, readBy }: Pick<ExportVersion, "source" | "readAt" | "readBy">,
  { names, from, until }: { readonly names: ReadonlySet<string>; readonly from: number; readonly until: number },
): Promise<readonly EndedMonth[]> {
  const ended: EndedMonth[] = [];
  for (const { month, exports } of await doubledExports(store, { from, until })) {
    const own = exports.filter((each) => each.source === source);
    const others = own.filter(({ name }) => !names.has(name));
    for (const { name } of others) {
      const isKnown = ended.some((each) => each.name === name && each.month === month);
      if (isKnown || others.length === own.length) continue;
      const of = { source, name, names: [...names], month: dateText(month) };
      const [row] = await store.query<{ own: number }>(OWN_LINES, of);
      if (row!.own === 0) ended.push({ name, month });
    }
  }
  for (const { name, month } of ended) {
    const of = { source, name, content: "", readBy, readAt, isWhole: false };
    const nothing = { version: randomUUID(), months: new Map([[month, NO_LINES]]), counts: { rows: 0, dropped: {} } };
    await storeMonths(store, of, nothing);
  }
  return ended;
}

/** Stores the records by which the lines of a version count, and drops the lines that they replace. */
async function storeMonths(
  store: StoreClient,
  { source, name, content, readAt, readBy }: ExportVersion,
  of: {
    readonly version: string;
    readonly months: ReadonlyMap<number, Readonly<Month>>;
    readonly counts: ExportCounts;
  },
): Promise<void> {
  const { version, months, counts } = of;
  const records = [...months].map(([month, { kept, from, until, longestMillis }]) => ({
    source,
    export: name,
    billing_period: dateText(month),
    version,
    content,
    read_at: isoText(readAt),
    read_by: readBy,
    ...counts,
    kept,
    from_at: isoText(kept === 0 ? month : from),
    until_at: isoText(kept === 0 ? month : until),
    document: JSON.stringify({ longestMillis }),
  }));
  await insertRecords(store, "invoice_exports", records);
  await dropReplaced(store, source);
}

const NO_LINES: Readonly<Month> = { kept: 0, from: Infinity, until: -Infinity, longestMillis: 0 };

function count(months: Map<number, Month>, line: ExportLine): void {
  const { from } = periodOf(line.billingFrom);
  const month = months.get(from) ?? { ...NO_LINES };
  months.set(from, month);
  month.kept += 1;
  month.from = Math.min(month.from, line.from);
  month.until = Math.max(month.until, line.until);
  if (line.machine !== "" || line.kind === "reservation")
    month.longestMillis = Math.max(month.longestMillis, line.until - line.from);
}

async function monthsOf(store: StoreClient, { source, name }: ExportVersion): Promise<readonly number[]> {
  const rows = await store.query<{ month: string }>(
    `SELECT toString(billing_period) AS month FROM invoice_exports_valid
     WHERE source = {source:String} AND export = {name:String} AND kept > 0`,
    { source, name },
  );
  return rows.map(({ month }) => Date.parse(month));
}

/** Drops lines of versions that were replaced, and of versions whose reading was killed: a day after their beginning they still have no record. */
async function dropReplaced(store: StoreClient, source: string): Promise<void> {
  await store.command(
    `DELETE FROM export_lines WHERE source = {source:String} AND version NOT IN (SELECT version FROM invoice_exports_valid)
       AND (version IN (SELECT version FROM invoice_exports WHERE source = {source:String})
         OR UUIDv7ToDateTime(version) < now() - INTERVAL 1 DAY)`,
    { source },
  );
}
