import { basename } from "node:path";
import { CommandError, type CommandContext } from "../context.ts";
import { readBookOf } from "../prices/book.ts";
import { checkBookOf, renderCheck } from "../prices/check.ts";
import { bookText, leftOutLines } from "../prices/opencost/book-text.ts";
import { readOpenCostFile } from "../prices/opencost/read-file.ts";
import { instantOption, nodesOf, type NodeOptions } from "../prices/nodes.ts";
import { renderShown, showPrices } from "../prices/show.ts";
import { listPricesText } from "../../runtime/config/list-prices.ts";
import { periodOf } from "../../domain/period.ts";
import { minorDigitsOf } from "../../domain/price/currency.ts";
import { DAY_MILLIS, isoText } from "../../domain/time.ts";

/** The options of `gpu-ledger prices check`. */
export interface PricesCheckOptions {
  readonly config?: string;
  readonly from?: string;
  readonly until?: string;
  readonly format: "table" | "json";
}

/** The options of `gpu-ledger prices show`. */
export interface PricesShowOptions extends NodeOptions {
  readonly config?: string;
  readonly at?: string;
  readonly format: "table" | "json";
}

/** Prints the problems of a price book. Fails with a `CommandError` if it has one. */
export async function runPricesCheck(
  file: string | undefined,
  options: PricesCheckOptions,
  context: CommandContext,
): Promise<void> {
  const untilMillis = instantOption("--until", options.until) ?? Date.now();
  const fromMillis = instantOption("--from", options.from) ?? untilMillis - 30 * DAY_MILLIS;
  if (fromMillis >= untilMillis) throw new CommandError("--from: must be before --until", 2);
  const source = readBookOf(file, options.config, context.env);
  const check = await checkBookOf(source, { fromMillis, untilMillis });
  const text = options.format === "json" ? JSON.stringify(check, null, 2) : renderCheck(check);
  context.stdout.write(`${text}\n`);
  const { length } = check.problems;
  if (length > 0) throw new CommandError(`${check.source}: ${length} problem${length === 1 ? "" : "s"}`);
}

/** Prints the public list prices as a price book. */
export function runPricesList(context: CommandContext): void {
  context.stdout.write(listPricesText());
}

/** The options of `gpu-ledger prices from-opencost`. */
export interface PricesFromOpenCostOptions {
  readonly from?: string;
  readonly currency?: string;
}

/**
 * Prints the prices of a file of OpenCost as a price book, and what is left out on standard error. Fails with a `CommandError` if the file has no
 * price for a book.
 */
export function runPricesFromOpenCost(
  file: string,
  { from: day, currency: code }: PricesFromOpenCostOptions,
  context: CommandContext,
): void {
  const from = isoText(instantOption("--from", day) ?? periodOf(Date.now()).from).replace("T00:00:00.000Z", "");
  const carried = readOpenCostFile(file);
  const currency = (code ?? carried.currency ?? "USD").toUpperCase();
  if (minorDigitsOf(currency) === undefined)
    throw new CommandError(`--currency: ${JSON.stringify(currency)} is not a currency of ISO 4217`, 2);
  const { prices, leftOut } = carried;
  for (const line of [`Prices carried over: ${prices.length}`, ...leftOutLines(leftOut)])
    context.stderr.write(`${line}\n`);
  if (prices.length === 0) throw new CommandError(`${file} has no price of GPUs or nodes that a price book can have`);
  context.stdout.write(bookText(carried, { currency, from, file: basename(file) }));
}

/** Prints the price of each node. Fails with a `CommandError` if the price book is wrong. */
export async function runPricesShow(
  file: string | undefined,
  options: PricesShowOptions,
  context: CommandContext,
): Promise<void> {
  const atMillis = instantOption("--at", options.at) ?? Date.now();
  const source = readBookOf(file, options.config, context.env);
  if (!("book" in source)) {
    for (const { key, line, message } of source.problems)
      context.stderr.write(`${key}${line === undefined ? "" : ` (line ${line})`}: ${message}\n`);
    throw new CommandError(`${source.name} is not a valid price book`);
  }
  const nodes = await nodesOf(options, source.config, atMillis);
  const shown = showPrices(source.book, nodes, atMillis);
  context.stdout.write(
    `${options.format === "json" ? JSON.stringify(shown, null, 2) : renderShown(shown, atMillis)}\n`,
  );
}
