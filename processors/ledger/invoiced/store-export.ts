import { randomUUID } from "node:crypto";
import type { ExportLine } from "../../../domain/invoice/export-line.ts";
import { dateText, periodOf } from "../../../domain/period.ts";
import { isoText } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { EXPORT_LINE_COLUMNS } from "../../../runtime/store/schema/invoices.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";

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

/** Returns whether this content of an export is the one that counts now. Fails with a `StoreError`. */
export async function isStored(
  store: StoreClient,
  { source, name, content }: Pick<ExportVersion, "source" | "name" | "content">,
): Promise<boolean> {
  const rows = await store.query<{ content: string }>(
    `SELECT argMax(content, (read_at, toString(version))) AS content FROM invoice_exports
     WHERE source = {source:String} AND export = {name:String} GROUP BY source, export`,
    { source, name },
  );
  return rows[0]?.content === content;
}

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
 * reading fails, nothing of it counts, and its lines are dropped. `counts` is called after the last line. Lines of replaced versions are dropped. Returns the months
 * in order. Fails with a `StoreError`, and with the error of the lines.
 */
export async function storeExport(
  store: StoreClient,
  of: ExportVersion,
  lines: AsyncIterable<readonly FileLine[]> | Iterable<readonly FileLine[]>,
  counts: () => ExportCounts,
): Promise<readonly StoredMonth[]> {
  const { source, name } = of;
  const version = randomUUID();
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
  const { rows, dropped } = counts();
  const records = [...months].map(([month, { kept, from, until, longestMillis }]) => ({
    source,
    export: name,
    billing_period: dateText(month),
    version,
    content: of.content,
    read_at: isoText(of.readAt),
    read_by: of.readBy,
    rows,
    kept,
    dropped,
    from_at: isoText(kept === 0 ? month : from),
    until_at: isoText(kept === 0 ? month : until),
    document: JSON.stringify({ longestMillis }),
  }));
  await insertRecords(store, "invoice_exports", records);
  await dropReplaced(store, source);
  return [...months].map(([month, { kept }]) => ({ month, kept })).toSorted((a, b) => a.month - b.month);
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

/** Drops lines of versions that were replaced. Lines of a version that is still being read have no record yet, and stay. */
async function dropReplaced(store: StoreClient, source: string): Promise<void> {
  await store.command(
    `DELETE FROM export_lines WHERE source = {source:String}
       AND version IN (SELECT version FROM invoice_exports WHERE source = {source:String})
       AND version NOT IN (SELECT version FROM invoice_exports_valid)`,
    { source },
  );
}
