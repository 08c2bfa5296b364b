import { z } from "zod";
import type { PriceBook } from "../../domain/price/book.ts";
import { LIST_PRICE } from "../../domain/price/list-price.ts";
import { pathOf } from "../../domain/price/problem.ts";
import { readBook } from "../../domain/price/read.ts";
import { addFileIssues, fileOf } from "./side-file.ts";
import { list, type ConfigSources } from "./words.ts";
import type { FileProblem } from "./file-problem.ts";
import { readYaml } from "./yaml.ts";

/** The keys of a price book in a configuration or a scenario. Its own reader checks more than a schema can. */
export const bookKeys = {
  prices: list(z.unknown())
    .optional()
    .describe("Prices of GPUs, nodes and owned machines with their dates. See docs/prices.md."),
  rates: list(z.unknown())
    .optional()
    .describe("Exchange rates: one unit of a currency in the book's currency, from a date on."),
  markup: list(z.unknown()).optional().describe("Percent of a team's effective cost. Negative values are discounts."),
  commitments: list(z.unknown()).optional().describe("Costs for a term, independent of use."),
  fixed: list(z.unknown()).optional().describe("Further costs by month or hour, with or without an end."),
};

/** A price book as it was written, after {@link readBook} has accepted it. */
export interface WrittenBook {
  readonly currency: string;
  readonly prices?: readonly unknown[] | undefined;
  readonly rates?: readonly unknown[] | undefined;
  readonly markup?: readonly unknown[] | undefined;
  readonly commitments?: readonly unknown[] | undefined;
  readonly fixed?: readonly unknown[] | undefined;
}

/** Returns the written book of a larger mapping. */
export function bookIn({ currency, prices, rates, markup, commitments, fixed }: WrittenBook): WrittenBook {
  return { currency, prices, rates, markup, commitments, fixed };
}

/** Returns the book. If it has problems, adds all of them to the issues and returns undefined. */
export function checkBook(raw: unknown, context: z.RefinementCtx): PriceBook | undefined {
  const read = readBook(raw);
  const reserved = "book" in read ? read.book.prices.find(({ name }) => name.startsWith(LIST_PRICE)) : undefined;
  if (reserved !== undefined)
    context.addIssue({
      code: "custom",
      path: [...pathOf(reserved.key), "name"],
      message: `a name that does not begin with "${LIST_PRICE}", which marks the public list prices`,
    });
  if ("book" in read) return read.book;
  for (const { path, allowed } of read.problems)
    context.addIssue({ code: "custom", path: [...path], message: allowed });
  return undefined;
}

const book = z
  .unknown()
  .superRefine((raw, context) => void checkBook(raw, context))
  .transform((raw) => raw as WrittenBook);

/** Reads a price book from the YAML text of its own file. Returns the written book, or all of its problems. */
export function readPriceFile(
  text: string,
): { readonly value: WrittenBook } | { readonly problems: readonly FileProblem[] } {
  return readYaml(text, book, { keys: "see docs/prices.md" });
}

/** Returns a schema for the path of a price book, which is read while the configuration is parsed. */
export function priceFile(sources: ConfigSources): z.ZodType<WrittenBook, string> {
  return fileOf("the path of a file with a price book").transform((path, context) =>
    addFileIssues(path, sources, readPriceFile, "a price book", context),
  );
}
