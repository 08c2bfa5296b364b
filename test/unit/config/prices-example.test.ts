import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { exactDecimal, multiply, rational } from "../../../domain/exact/rational.ts";
import type { PriceBook } from "../../../domain/price/book.ts";
import { examineBook } from "../../../domain/price/examine.ts";
import { readBook } from "../../../domain/price/read.ts";
import { readPriceFile } from "../../../runtime/config/price-book.ts";

const TEXT = readFileSync("config/prices.example.yaml", "utf8");

function example(): PriceBook {
  const file = readPriceFile(TEXT);
  const read = "value" in file ? readBook(file.value) : file;
  if ("book" in read) return read.book;
  throw new Error(JSON.stringify(read.problems));
}

describe("the example of a price book", () => {
  it("is valid, and has no ties, no gaps and no entry that never wins", () => {
    expect(examineBook(example())).toEqual([]);
  });

  it("has a note that it is an example, with the date of its prices and where they are published", () => {
    const comment = TEXT.slice(0, TEXT.indexOf("currency:"));
    expect(comment).toContain("replace every figure by your own");
    expect(comment).toMatch(/as of \d{4}-\d{2}-\d{2}/);
    expect(comment.match(/https:\/\/(?:aws\.amazon|cloud\.google|azure\.microsoft)\.com\/\S+/g)).toHaveLength(3);
  });

  it("has prices of whole machines, each with its region and its GPUs, and on demand if the cloud has that", () => {
    for (const { per, match, delivered, key } of example().prices) {
      const capacityType = match.region === "us-east-1" ? "on-demand" : undefined;
      expect({ key, per, capacityType: match.capacityType }).toEqual({ key, per: "node-hour", capacityType });
      expect(["us-east-1", "us-central1", "eastus"]).toContain(match.region);
      expect(delivered).toBeGreaterThan(0);
    }
  });

  it("has prices per GPU in the range of clouds: between 0.30 and 13 dollars an hour", () => {
    const prices = example().prices.flatMap((entry) =>
      entry.per === "node-hour"
        ? [Number(exactDecimal(multiply(entry.prices.list, rational(1, entry.delivered ?? 1)), 30))]
        : [],
    );
    expect(prices.length).toBeGreaterThan(50);
    expect(prices.filter((price) => !(price > 0.3 && price < 13))).toEqual([]);
  });
});
