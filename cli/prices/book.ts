import { readFileSync } from "node:fs";
import type { PriceBook } from "../../domain/price/book.ts";
import { readBook } from "../../domain/price/read.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { readPriceFile } from "../../runtime/config/price-book.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { CommandError } from "../context.ts";
import { loadLedgerConfig } from "../ledger-config.ts";

/** A mistake of a price book's file. */
export interface BookMistake {
  readonly key: string;
  readonly line?: number;
  readonly message: string;
}

/** A price book with its source, or all mistakes of its file; and the configuration. */
export type BookSource = { readonly name: string; readonly config: Config } & (
  | { readonly book: PriceBook }
  | { readonly problems: readonly BookMistake[] }
);

/**
 * Reads the book of a file if one is named, else the configuration's. Fails with a `ConfigError` if the configuration is wrong, and with a
 * `CommandError` if the file cannot be read.
 */
export function readBookOf(
  file: string | undefined,
  configFile: string | undefined,
  env: NodeJS.ProcessEnv,
): BookSource {
  const { config, path } = loadLedgerConfig(configFile, env);
  if (file === undefined) return { name: path ?? "the default configuration", config, book: ledgerOf(config).book };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read (${error instanceof Error ? error.message : String(error)})`, 2);
  }
  const written = readPriceFile(text);
  if ("problems" in written) {
    const problems = written.problems.map(({ key, line, value, allowed }) => ({
      key,
      ...(line === undefined ? {} : { line }),
      message: value === undefined ? allowed : `${JSON.stringify(value)} is not ${allowed}`,
    }));
    return { name: file, config, problems };
  }
  const read = readBook(written.value);
  if ("problems" in read) throw new TypeError(`${file} was not read by its schema`);
  return { name: file, config, book: read.book };
}
