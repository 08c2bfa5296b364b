import { CommandError, type CommandContext } from "../context.ts";
import { readBookOf } from "../prices/book.ts";
import { checkBookOf, renderCheck } from "../prices/check.ts";
import { instantOption, nodesOf, type NodeOptions } from "../prices/nodes.ts";
import { renderShown, showPrices } from "../prices/show.ts";
import { listPricesText } from "../../runtime/config/list-prices.ts";
import { DAY_MILLIS } from "../../domain/time.ts";

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
