import { randomUUID } from "node:crypto";
import type { ExportLine } from "../../../domain/invoice/export-line.ts";
import { isoText } from "../../../domain/time.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { EXPORT_LINE_COLUMNS } from "../../../runtime/store/schema/invoices.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import { createBlocks, namesOf } from "../../../runtime/store/schema/table.ts";

/** A version of an export: what a source has laid down for a billing month, or a file. */
export interface ExportVersion {
  readonly source: string;
  readonly name: string;
  /** A hash of the content. The same content twice changes nothing. */
  readonly content: string;
  readonly readBy: string;
  readonly readAt: number;
}

/** A line with the name of its file. */
export interface FileLine extends ExportLine {
  readonly file: string;
}

/** The counts of an export after all of its lines were read. */
export interface ExportCounts {
  readonly rows: number;
  /** The dropped lines by reason. */
  readonly dropped: Readonly<Record<string, number>>;
}

/** The result of storing an export. */
export interface StoredExport extends ExportCounts {
  readonly kept: number;
}

/** Returns whether this content of an export is the one that counts now. Fails with a `StoreError`. */
export async function isStored(
  store: StoreClient,
  { source, name, content }: Pick<ExportVersion, "source" | "name" | "content">,
): Promise<boolean> {
  const rows = await store.query<{ content: string }>(
    "SELECT content FROM invoice_exports_valid WHERE source = {source:String} AND export = {name:String}",
    { source, name },
  );
  return rows.some((row) => row.content === content);
}

/**
 * Stores a version of an export, which replaces the former one whole once all lines are there. If reading fails, nothing of it counts.
 * `counts` is called after the last line. Fails with a `StoreError`, and with the error of the lines.
 */
export async function storeExport(
  store: StoreClient,
  { source, name, content, readBy, readAt }: ExportVersion,
  lines: AsyncIterable<readonly FileLine[]> | Iterable<readonly FileLine[]>,
  counts: () => ExportCounts,
): Promise<StoredExport> {
  const version = randomUUID();
  const blocks = createBlocks<FileLine>(EXPORT_LINE_COLUMNS, { version, source });
  let [kept, from, until, longestMillis] = [0, Infinity, -Infinity, 0];
  for await (const portion of lines) {
    for (const line of portion) {
      blocks.write(line);
      from = Math.min(from, line.from);
      until = Math.max(until, line.until);
      if (line.machine !== "" || line.kind === "reservation")
        longestMillis = Math.max(longestMillis, line.until - line.from);
    }
    kept += portion.length;
    if (blocks.count > 0) await store.insertRows("export_lines", namesOf(blocks.columns), blocks.take());
  }
  const { rows, dropped } = counts();
  await insertRecords(store, "invoice_exports", [
    {
      source,
      export: name,
      version,
      content,
      read_at: isoText(readAt),
      read_by: readBy,
      rows,
      kept,
      dropped,
      from_at: isoText(kept === 0 ? 0 : from),
      until_at: isoText(kept === 0 ? 0 : until),
      document: JSON.stringify({ longestMillis }),
    },
  ]);
  return { rows, dropped, kept };
}
