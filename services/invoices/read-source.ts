import type { Keeping } from "../../domain/invoice/dialect/keeping.ts";
import type { Mapping } from "../../domain/invoice/dialect/mapped.ts";
import type { ExportLine } from "../../domain/invoice/export-line.ts";
import { rateOf, type InvoiceRate } from "../../domain/invoice/rules.ts";
import { MOST_DECIMALS } from "../../runtime/store/schema/types.ts";
import { exactDecimal } from "../../domain/exact/rational.ts";
import { periodOf } from "../../domain/period.ts";
import { isoText } from "../../domain/time.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import { ratePieces } from "../../domain/price/conversion.ts";
import { ExportError } from "../../invoices/export-error.ts";
import { findExports, type FoundExport, type IncompleteExport } from "../../invoices/find/find-exports.ts";
import { manifestsIn } from "../../invoices/find/listing.ts";
import type { ExportPlace } from "../../invoices/place/place.ts";
import { readExportFile } from "../../invoices/read-export.ts";
import type { ExportStream } from "../../invoices/source.ts";
import type { ExportSummary } from "../../invoices/summary.ts";
import { readMachines } from "../../processors/ledger/invoiced/read-nodes.ts";
import {
  endDoubled,
  isStored,
  storeExport,
  type EndedMonth,
  type FileLine,
  type StoredMonth,
} from "../../processors/ledger/invoiced/store-export.ts";
import type { StoreClient } from "../../runtime/store/client.ts";

/** How the lines of a source are read. */
export interface SourceReading {
  readonly name: string;
  readonly mapping?: Mapping | undefined;
  readonly keeps: Omit<Keeping, "machines">;
  readonly rates: readonly InvoiceRate[];
  /** The milliseconds after the end of a month at which its lines count as invoiced; undefined if only a number of an invoice counts. */
  readonly finalAfter?: number | undefined;
}

/** A file of an export: its name, and its path or its bytes. */
export interface ExportFile {
  readonly name: string;
  open(): Promise<string | ExportStream>;
}

/** An export that was read. */
export interface ReadExport {
  readonly name: string;
  readonly months: readonly StoredMonth[];
  readonly files: readonly ExportSummary[];
}

/** The dependencies of reading exports. */
export interface ReadingParts {
  readonly store: StoreClient;
  readonly book: Pick<PriceBook, "currency" | "rates">;
  readonly now: () => number;
  /** The person or the program that reads. */
  readonly by: string;
}

/** The outcome of looking at a source. */
export interface SourceOutcome {
  readonly read: readonly ReadExport[];
  /** The number of exports that have not changed. */
  readonly unchanged: number;
  readonly incomplete: readonly IncompleteExport[];
  /** The exports that could not be read. Nothing of them counts. */
  readonly failed: readonly ExportError[];
  /** The months of exports that are gone from the place and whose lines others have. They count no longer. */
  readonly ended: readonly EndedMonth[];
}

/** Reads the complete exports of a place that have changed. Fails with a `StoreError` or a `PlaceError`. */
export async function readSource(
  source: SourceReading,
  place: ExportPlace,
  parts: ReadingParts,
): Promise<SourceOutcome> {
  const listing = await place.list();
  const manifests = new Map<string, string>();
  for (const { key } of manifestsIn(listing)) manifests.set(key, await place.text(key));
  const found = findExports(listing, manifests);
  // In a month with both, the amortized export has the costs of the actual one and the prices of covered machines.
  const amortized = new Set(found.exports.filter(({ basis }) => basis === "amortized").map(({ period }) => period));
  const exports = found.exports.filter(({ basis, period }) => basis !== "actual" || !amortized.has(period));
  const [read, failed]: [ReadExport[], ExportError[]] = [[], []];
  let unchanged = 0;
  for (const complete of exports) {
    const { version: content, files } = complete;
    const name = storedName(complete);
    const version = { source: source.name, name, content };
    if (await isStored(parts.store, version, { finalAfter: source.finalAfter, now: parts.now() })) {
      unchanged += 1;
      continue;
    }
    const opened = files.map(({ key }) => ({ name: key, open: () => place.open(key) }));
    try {
      read.push(await readExport(source, { name, content, isWhole: true, files: opened }, parts));
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      failed.push(error);
    }
  }
  const names = new Set([...exports, ...found.incomplete].map(storedName));
  const ended =
    read.length === 0
      ? []
      : await endDoubled(
          parts.store,
          { source: source.name, readAt: parts.now(), readBy: parts.by },
          { names, ...spanOf(read) },
        );
  return { read, unchanged, incomplete: found.incomplete, failed, ended };
}

/** Returns the span of the months that were read. */
function spanOf(read: readonly ReadExport[]): { readonly from: number; readonly until: number } {
  const months = read.flatMap((each) => each.months.map(({ month }) => month));
  return { from: Math.min(...months), until: periodOf(Math.max(...months)).until };
}

/** Returns the name under which an export is stored: the periods of an export are read one by one, and replace only themselves. */
function storedName({ name, period }: Pick<FoundExport, "name" | "period">): string {
  return period === undefined ? name : `${name} ${period}`;
}

/**
 * Reads the files of an export and stores their lines. Fails with an {@link ExportError} if a file cannot be read, or if the book has no rate
 * for a currency: then nothing of the export counts. Fails with a `StoreError`.
 */
export async function readExport(
  source: SourceReading,
  of: {
    readonly name: string;
    readonly content: string;
    readonly isWhole: boolean;
    readonly files: readonly ExportFile[];
  },
  { store, book, now, by }: ReadingParts,
): Promise<ReadExport> {
  const keeping = { ...source.keeps, machines: new Set((await readMachines(store)).values()) };
  const summaries: ExportSummary[] = [];
  const readAt = now();
  async function* lines(): AsyncGenerator<readonly FileLine[]> {
    for (const { name, open } of of.files) {
      const mapping = source.mapping === undefined ? {} : { mapping: source.mapping };
      const reading = readExportFile(await open(), { keeping, name, ...mapping });
      for await (const batch of reading.batches)
        yield batch.map((line) => {
          check(line, name, book, source);
          return { ...line, file: name, invoice: invoiceOf(line, source, readAt) };
        });
      summaries.push(reading.summary());
    }
  }
  const version = { source: source.name, name: of.name, content: of.content, isWhole: of.isWhole };
  const months = await storeExport(store, { ...version, readBy: by, readAt }, lines(), () => countsOf(summaries));
  return { name: of.name, months, files: summaries };
}

/** Returns the number of a line's invoice. In a format without numbers it is the month, once the provider has had time to close it. */
function invoiceOf(
  { invoice, billingFrom }: ExportLine,
  { finalAfter = Infinity }: SourceReading,
  readAt: number,
): string {
  const { name, until } = periodOf(billingFrom);
  return invoice === "" && readAt >= until + finalAfter ? name : invoice;
}

function countsOf(files: readonly ExportSummary[]) {
  const dropped: Record<string, number> = {};
  for (const file of files)
    for (const [reason, count] of Object.entries(file.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count;
  return { rows: files.reduce((sum, { rows }) => sum + rows, 0), dropped };
}

/** Refuses a line that the ledger cannot charge: without a rate for its currency, without a time, or with more digits than are stored. */
function check(
  line: Omit<FileLine, "file">,
  file: string,
  book: ReadingParts["book"],
  source: Pick<SourceReading, "rates">,
): void {
  const { row, currency, from, until, costs } = line;
  if (until <= from) throw new ExportError("unreadable-row", file, "the line ends before it begins", { row });
  const { list, contracted, effective, billed } = costs;
  const isLong = [list, contracted, effective, billed].some(
    (amount) => exactDecimal(amount, MOST_DECIMALS) === undefined,
  );
  if (isLong)
    throw new ExportError("unreadable-row", file, `an amount has more than ${MOST_DECIMALS} digits after the point`, {
      row,
    });
  if (rateOf(source, line) !== undefined) return;
  try {
    ratePieces(book, currency, from);
  } catch {
    const problem = `the line is in ${currency}, and \`rates\` has no rate of ${currency} to ${book.currency} at ${isoText(from)}`;
    throw new ExportError("unreadable-row", file, problem, { row });
  }
}
