import { describe, expect, it } from "vitest";
import { readBook } from "../../../domain/price/read.ts";
import { examineBook } from "../../../domain/price/examine.ts";
import { winnerAt, type PriceFacts } from "../../../domain/price/match.ts";
import { rankEntries } from "../../../domain/price/rank.ts";
import { readPriceFile } from "../../../runtime/config/price-book.ts";
import { listPrices, listPricesText } from "../../../snapshot/list-prices.ts";

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
    expect(readBook(read.value)).toEqual({ book: listPrices() });
    expect(examineBook(listPrices()).filter(({ kind }) => kind === "tie")).toEqual([]);
  });
});
