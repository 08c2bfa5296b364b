import { describe, expect, it } from "vitest";
import { canPrice, fits, winnerAt, type PriceFacts } from "../../../../domain/price/match.ts";
import { rankEntries } from "../../../../domain/price/rank.ts";
import { at, bookOf, entryOf, KNOWN } from "./book-of.ts";

const UNSEEN: PriceFacts = { cluster: "prod", node: "dgx-1", labels: {} };

describe("an entry matches", () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [{ cluster: "prod", region: "eu-west-1", zone: "eu-west-1a", instanceType: "p4d.24xlarge", pool: "dgx" }, true],
    [{ model: "NVIDIA-A100-SXM4-40GB", capacityType: "on-demand", nodeLabel: { rack: "r7" } }, true],
    [{ model: "NVIDIA-A100*" }, true],
    [{ model: "NVIDIA-A100-SXM" }, false],
    [{ model: "NVIDIA-H100*" }, false],
    // The exporter's name of the model, the clouds' names, and names that people use.
    [{ model: "NVIDIA A100-SXM4-40GB" }, true],
    [{ model: "nvidia-tesla-a100" }, true],
    [{ model: "a100" }, true],
    [{ model: "A100-40*" }, true],
    [{ model: "A100-80GB" }, false],
    [{ pool: "dgx", zone: "eu-west-1b" }, false],
    [{ nodeLabel: { rack: "r7", row: "c" } }, false],
    [{ nodeLabel: { shelf: "1" } }, false],
    [{ nodeLabel: { constructor: "x" } }, false],
  ])("%o: %s", (match, isFitting) => {
    expect(fits(entryOf(match).match, KNOWN)).toBe(isFitting);
  });

  it("nothing if one of its keys is unknown", () => {
    expect(fits(entryOf({ model: "*" }).match, UNSEEN)).toBe(false);
    expect(fits(entryOf({ pool: "dgx" }).match, UNSEEN)).toBe(false);
  });
});

describe("a machine that an owned entry lists", () => {
  const owned = { inService: "2026-01-01", purchase: "1", months: 12, machines: ["dgx-1"] };

  it("has a price before more than its name is known", () => {
    const entry = entryOf({ pool: "dgx", model: "NVIDIA-A100*", nodeLabel: "rack=r7" }, { owned });
    expect(canPrice(entry, UNSEEN)).toBe(true);
    expect(canPrice(entry, { ...UNSEEN, node: "dgx-2" })).toBe(false);
  });

  it("has no price if its known facts contradict the entry", () => {
    expect(canPrice(entryOf({ pool: "dgx" }, { owned }), { ...UNSEEN, pool: "hgx" })).toBe(false);
    expect(canPrice(entryOf({ cluster: "test" }, { owned }), UNSEEN)).toBe(false);
    expect(canPrice(entryOf({ model: "*H100*" }, { owned }), { ...UNSEEN, model: "NVIDIA-A100" })).toBe(false);
  });
});

describe("a GPU at a time", () => {
  const entry = (match: unknown, from: string, others = {}): unknown => ({
    match,
    from,
    per: "gpu-hour",
    list: "1",
    ...others,
  });
  const book = bookOf({
    prices: [
      entry({ model: "NVIDIA-A100*" }, "2026-01-01"),
      entry({ pool: "dgx" }, "2026-02-01"),
      entry({ pool: "dgx", zone: "eu-west-1a" }, "2026-03-01", { until: "2026-04-01" }),
      entry({ nodeLabel: { rack: "r7" } }, "2026-05-01"),
      entry({ nodeLabel: { row: "b" } }, "2026-05-01", { until: "2026-06-01" }),
    ],
  });
  const ranked = rankEntries(book.prices);

  it.each([
    ["2026-01-31T23:59:59.999Z", "prices[0]"],
    ["2026-02-01T00:00:00Z", "prices[0]"],
    ["2026-03-01T00:00:00Z", "prices[2]"],
    ["2026-03-31T23:59:59.999Z", "prices[2]"],
    ["2026-04-01T00:00:00Z", "prices[0]"],
    ["2026-06-01T00:00:00Z", "prices[3]"],
  ])("is priced at %s by %s", (time, key) => {
    expect(winnerAt(ranked, KNOWN, at(time))).toMatchObject({ kind: "priced", entry: { key } });
  });

  it("is unpriced before the first entry, and where none matches", () => {
    expect(winnerAt(ranked, KNOWN, at("2025-12-31T23:59:59.999Z"))).toEqual({ kind: "unpriced" });
    expect(winnerAt(ranked, UNSEEN, at("2026-03-01T00:00:00Z"))).toEqual({ kind: "unpriced" });
  });

  it("has the price of the longest name of its model", () => {
    const models = rankEntries(
      bookOf({ prices: [entry({ model: "H100" }, "2026-01-01"), entry({ model: "NVIDIA-H100-NVL" }, "2026-01-01")] })
        .prices,
    );
    const priceOf = (model: string) => winnerAt(models, { ...UNSEEN, model }, Date.UTC(2026, 5, 1));
    expect(priceOf("NVIDIA-H100-NVL")).toMatchObject({
      kind: "priced",
      entry: { match: { model: "NVIDIA-H100-NVL" } },
    });
    expect(priceOf("NVIDIA-H100-80GB-HBM3")).toMatchObject({ kind: "priced", entry: { match: { model: "H100" } } });
  });

  it("is an error that names both entries if two win", () => {
    expect(winnerAt(ranked, KNOWN, at("2026-05-01T00:00:00Z"))).toMatchObject({
      kind: "tied",
      entries: [{ key: "prices[3]" }, { key: "prices[4]" }],
    });
  });

  it("has no price from an owned entry before the machine is in service; the next entry applies until then", () => {
    const owned = { inService: "2026-03-01", purchase: "1", months: 12 };
    const prices = [entry({}, "2026-01-01"), { match: { pool: "dgx" }, from: "2026-01-01", owned }];
    const order = rankEntries(bookOf({ prices }).prices);
    expect(winnerAt(order, KNOWN, at("2026-02-28T23:59:59Z"))).toMatchObject({ entry: { key: "prices[0]" } });
    expect(winnerAt(order, KNOWN, at("2026-03-01T00:00:00Z"))).toMatchObject({ entry: { key: "prices[1]" } });
  });

  it("has no tie between entries of equal rank if only one matches it", () => {
    const other = { ...KNOWN, labels: { row: "b" } };
    expect(winnerAt(ranked, other, at("2026-05-01T00:00:00Z"))).toMatchObject({ entry: { key: "prices[4]" } });
  });
});
