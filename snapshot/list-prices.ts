import { readFileSync } from "node:fs";
import type { PriceBook } from "../domain/price/book.ts";
import { readBook } from "../domain/price/read.ts";
import { readPriceFile } from "../runtime/config/price-book.ts";

/** The example of a price book: public list prices. */
const EXAMPLE = new URL("../config/prices.example.yaml", import.meta.url);

/** The source of the list prices, for people. */
export const LIST_PRICES =
  "public list prices on demand of one region of each cloud, used for every region and way of paying. They are not yours: use --prices FILE";

const HEAD = [
  "# Public list prices on demand of one region of each cloud, used for every region and way of paying. They are not yours:",
  "# replace them before you bill with them. docs/prices.md explains the entries.",
];

/**
 * Returns the public list prices of the example book by the instance type alone. The book has one region of each cloud and machines on demand;
 * a first look at another region, or at spot nodes, needs some price.
 */
export function listPrices(): PriceBook {
  const read = readBook(written());
  if ("problems" in read) throw new TypeError("the example of a price book has entries of one instance type twice");
  return read.book;
}

/** Returns the {@link listPrices} as a price book in YAML. */
export function listPricesText(): string {
  const { currency, prices } = written();
  const entries = prices.map((entry) => `  - ${JSON.stringify(entry)}`);
  return [...HEAD, `currency: ${String(currency)}`, "prices:", ...entries, ""].join("\n");
}

function written() {
  const read = readPriceFile(readFileSync(EXAMPLE, "utf8"));
  if ("problems" in read) throw new TypeError("the example of a price book is wrong");
  const prices = (read.value.prices ?? []).map((entry) => {
    const { match, ...rest } = entry as { readonly match: { readonly instanceType: string } };
    return { ...rest, match: { instanceType: match.instanceType } };
  });
  return { ...read.value, prices };
}
