import { dateText } from "../../domain/period.ts";
import type { ReadExport, SourceOutcome } from "../../services/invoices/read-source.ts";

/** Returns a sentence for each month of a read export, and the dropped rows by reason. */
export function readText({ name, months, files }: ReadExport): string {
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const formats = [...new Set(files.map(({ format }) => format))].join(", ");
  const dropped = new Map<string, number>();
  for (const file of files)
    for (const [reason, count] of Object.entries(file.dropped)) dropped.set(reason, (dropped.get(reason) ?? 0) + count);
  return [
    `${name} (${formats}): ${rows} rows`,
    ...months.map(({ month, kept }) => `  ${monthText(month)}: ${kept} lines kept`),
    ...[...dropped].map(([reason, count]) => `  dropped, ${reason}: ${count} rows`),
  ].join("\n");
}

function monthText(month: number): string {
  return dateText(month).slice(0, 7);
}

/** Returns what a look at a source has found. */
export function outcomeText(source: string, { read, unchanged, incomplete, ended }: SourceOutcome): string {
  return [
    `${source}: ${read.length} exports read, ${unchanged} unchanged, ${incomplete.length} not complete`,
    ...read.map(readText),
    ...incomplete.map(({ name, reason, file }) => `${name} is not read: ${reason} (${file})`),
    ...ended.map(
      ({ name, month }) => `${name} is gone, and others have its lines: ${monthText(month)} of it counts no longer`,
    ),
  ].join("\n");
}
