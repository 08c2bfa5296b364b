import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { PriceEntry } from "../../../../domain/price/book.ts";
import { LIST_PRICE } from "../../../../domain/price/list-price.ts";
import { readBook } from "../../../../domain/price/read.ts";
import { examineBook } from "../../../../domain/price/examine.ts";
import { winnerAt, type PriceFacts } from "../../../../domain/price/match.ts";
import { rankEntries } from "../../../../domain/price/rank.ts";
import { ledgerOf } from "../../../../runtime/config/ledger.ts";
import { parseConfig } from "../../../../runtime/config/load.ts";
import { readPriceFile } from "../../../../runtime/config/price-book.ts";
import { listPrices, listPricesText } from "../../../../runtime/config/list-prices.ts";

const OF_TEST = { source: "the test", folder: ".", env: {} };
const ranked = rankEntries(listPrices().prices);

/** The entry that prices a GPU at the start of a day. */
function entryOf(facts: Partial<PriceFacts>, day = "2026-11-28"): { readonly name: string; readonly list: number } {
  const of = { cluster: "c", node: "n", labels: {}, ...facts };
  const winner = winnerAt(ranked, of, Date.parse(day));
  if (winner.kind !== "priced" || winner.entry.per === "owned") throw new Error(winner.kind);
  const { num, den } = winner.entry.prices.list;
  return { name: winner.entry.name, list: Number(num) / Number(den) };
}

describe("the public list prices", () => {
  it.each([
    ["NVIDIA H100 80GB HBM3", "2026-11-28", 6.88],
    ["NVIDIA H100 80GB HBM3", "2025-03-01", 12.29],
    ["NVIDIA A100-SXM4-80GB", "2026-11-28", 3.43088125],
    ["NVIDIA A100-SXM4-40GB", "2026-11-28", 2.74470525],
    ["Tesla T4", "2026-11-28", 0.978],
    ["NVIDIA L40S", "2026-11-28", 3.7663975],
    ["NVIDIA H200", "2026-11-28", 7.912],
  ])("price a GPU %s without an instance type on %s", (model, day, list) => {
    expect(entryOf({ model }, day).list).toBe(list);
  });

  it("prefer the machine to the model", () => {
    const { name, list } = entryOf({ model: "NVIDIA H100 80GB HBM3", instanceType: "a3-highgpu-8g" });
    expect({ isOfMachine: name.includes("a3-highgpu-8g"), list }).toEqual({ isOfMachine: true, list: 88.49 });
  });

  it("are a price book that is read as it is printed, without a tie", () => {
    const read = readPriceFile(listPricesText());
    if ("problems" in read) throw new Error(JSON.stringify(read.problems));
    const [printed, applied] = [readBook(read.value), listPrices()];
    if ("problems" in printed) throw new Error(JSON.stringify(printed.problems));
    const withoutMark = applied.prices.map((entry) => ({ ...entry, name: entry.name.slice(LIST_PRICE.length) }));
    expect(printed.book.prices.map(({ name, match, fromMillis }) => ({ name, match, fromMillis }))).toEqual(
      withoutMark.map(({ name, match, fromMillis }) => ({ name, match, fromMillis })),
    );
    expect(examineBook(listPrices()).filter(({ kind }) => kind === "tie")).toEqual([]);
  });

  it("mark every charge that they price, and no price book may have the mark", () => {
    expect(listPrices().prices.every(({ name }) => name.startsWith(LIST_PRICE))).toBe(true);
    const entry = { name: `${LIST_PRICE}mine`, match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1" };
    expect(() => parseConfig(JSON.stringify({ prices: [entry] }), OF_TEST)).toThrow(/prices\[0\]\.name.*list price/s);
  });

  describe("apply", () => {
    const pricedBy = (given: object) => ledgerOf(parseConfig(JSON.stringify(given), OF_TEST)).book;
    const price = { match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1" };

    it("where they are asked for and nothing of a book is written", () => {
      expect(pricedBy({ listPrices: true })).toEqual(listPrices());
      expect(pricedBy({ listPrices: true, prices: [price] }).prices).toHaveLength(1);
      expect(pricedBy({ listPrices: true, prices: [] }).prices).toHaveLength(0);
      expect(pricedBy({ listPrices: true, fixed: [] }).isList).toBeUndefined();
      expect(pricedBy({}).prices).toHaveLength(0);
    });

    it("in another currency with rates alone", () => {
      const rates = [{ currency: "USD", from: "2025-01-01", rate: "0.9" }];
      expect(pricedBy({ listPrices: true, currency: "EUR" })).toMatchObject({ currency: "EUR", prices: [] });
      expect(pricedBy({ listPrices: true, currency: "EUR", rates })).toMatchObject({ currency: "EUR", isList: true });
    });
  });

  it("stay as they are in every later release, which only adds some", () => {
    const released = JSON.parse(readFileSync("test/fixtures/list-prices.json", "utf8")) as Readonly<
      Record<string, string>
    >;
    const now = Object.fromEntries(listPrices().prices.map((entry) => [entry.name, termsOf(entry)]));
    // A release writes its new entries into the file. Entries that are there already never change.
    expect(now).toEqual(released);
  });
});

/** The terms of an entry as a text: what it prices, and since when. */
function termsOf(entry: PriceEntry): string {
  if (entry.per === "owned") throw new Error("a list price is not of an owned machine");
  const { match, fromMillis, untilMillis, prices, per, delivered, currency } = entry;
  const { num, den } = prices.list;
  const until = Number.isFinite(untilMillis) ? new Date(untilMillis).toISOString() : "now";
  const of = [match.instanceType, match.model, delivered].filter((part) => part !== undefined).join(" ");
  return `${of}: ${num}/${den} ${currency} per ${per} from ${new Date(fromMillis).toISOString()} until ${until}`;
}
