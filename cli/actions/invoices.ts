import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { userInfo } from "node:os";
import { pipeline } from "node:stream/promises";
import { periodOf } from "../../domain/period.ts";
import { reconcile } from "../../reports/reconcile/reconcile.ts";
import { statementsOf } from "../../reports/reconcile/statement.ts";
import { ExportError } from "../../invoices/export-error.ts";
import { PlaceError, reasonOf } from "../../invoices/place/place.ts";
import { isStored } from "../../processors/ledger/invoiced/store-export.ts";
import type { InvoiceSource } from "../../runtime/config/invoices.ts";
import { placeOf, readingOf } from "../../services/invoices/place-of.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { readExport, readSource, type ReadingParts, type SourceReading } from "../../services/invoices/read-source.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { outcomeText, readText } from "../invoices/import-text.ts";
import { bookBeside, bookText } from "../invoices/book-beside.ts";
import { reconcileText } from "../invoices/reconcile-text.ts";
import { loadLedgerConfig } from "../ledger-config.ts";
import { periodOfArgument } from "../period.ts";
import { openLedger } from "../store.ts";

/** The options of `gpu-ledger invoices import`. */
export interface InvoicesImportOptions {
  readonly source?: string;
  readonly by?: string;
  readonly config?: string;
}

/** Reads files of an export, or the configured places. Fails with a {@link CommandError} if one cannot be read. */
export async function runInvoicesImport(
  paths: readonly string[],
  { source: name, by = userInfo().username, config: file }: InvoicesImportOptions,
  context: CommandContext,
): Promise<void> {
  const { config } = loadLedgerConfig(file, context.env);
  const sources = sourcesOf(config.invoices, name, paths.length > 0);
  const { store, ledger } = await openLedger(config, context);
  const parts = { store, book: ledger.book, now: Date.now, by };
  try {
    const problems: string[] = [];
    for (const source of sources) {
      if (paths.length > 0) context.stdout.write(`${await importFiles(readingOf(source), paths, parts)}\n`);
      const place = paths.length > 0 ? undefined : placeOf(source);
      if (place === undefined) continue;
      const outcome = await readSource(readingOf(source), place, parts);
      context.stdout.write(`${outcomeText(source.name, outcome)}\n`);
      problems.push(...outcome.failed.map(({ message }) => message));
    }
    if (problems.length > 0) throw new CommandError(problems.join("\n"));
  } catch (error) {
    if (error instanceof ExportError || error instanceof PlaceError) throw new CommandError(error.message);
    throw error;
  } finally {
    await store.close();
  }
}

/** Returns the sources to read: the named one, otherwise all; files are of one source. */
function sourcesOf(
  sources: readonly InvoiceSource[],
  name: string | undefined,
  isOfFiles: boolean,
): readonly InvoiceSource[] {
  const asked = name === undefined ? sources : sources.filter((source) => source.name === name);
  const names = sources.map((source) => source.name).join(", ");
  if (sources.length === 0)
    throw new CommandError(
      "the configuration has no source of exports; add for example `invoices: [{ name: aws }]`",
      2,
    );
  if (asked.length === 0) throw new CommandError(`--source: ${name} is not one of: ${names}`, 2);
  if (isOfFiles && asked.length > 1) throw new CommandError(`--source: the files are of one of: ${names}`, 2);
  return asked;
}

/** Reads files as one export. Each billing month in them replaces the month of the files before. */
async function importFiles(source: SourceReading, paths: readonly string[], parts: ReadingParts): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths.toSorted()) {
    try {
      await pipeline(createReadStream(path), hash, { end: false });
    } catch (error) {
      throw new CommandError(`${path} cannot be read: ${reasonOf(error)}`);
    }
  }
  const version = { name: "files", content: hash.digest("hex"), isWhole: false };
  const final = { finalAfter: source.finalAfter, now: parts.now() };
  if (await isStored(parts.store, { source: source.name, ...version }, final))
    return "The same files were read before.";
  const files = paths.map((path) => ({ name: path, open: () => Promise.resolve(path) }));
  return readText(await readExport(source, { ...version, files }, parts));
}

/** The options of `gpu-ledger invoices reconcile`. */
export interface InvoicesReconcileOptions {
  readonly book?: true;
  readonly config?: string;
  readonly format: "text" | "json";
}

/** Prints both statements of each account of a month, and its findings. */
export async function runInvoicesReconcile(
  name: string | undefined,
  { format, book, config: file }: InvoicesReconcileOptions,
  context: CommandContext,
): Promise<void> {
  const period = name === undefined ? periodOf(Date.now()) : periodOfArgument(name);
  const { config } = loadLedgerConfig(file, context.env);
  const { store, ledger, config: given } = await openLedger(config, context);
  try {
    const policy = ledger.policies[0];
    const month = await reconcile(store, { period, policy: policy.name });
    const { charge } = rulesOfConfig(given).rules;
    const pools = book === true ? await bookBeside(store, charge, policy, period) : undefined;
    const text =
      format === "json"
        ? JSON.stringify({ ...month, period: period.name, statements: statementsOf(month), pools }, null, 2)
        : [reconcileText(month), ...(pools === undefined ? [] : [bookText(pools, ledger.book.currency)])].join("\n\n");
    context.stdout.write(`${text}\n`);
  } finally {
    await store.close();
  }
}
