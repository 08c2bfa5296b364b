import { describe, expect, it } from "vitest";
import { exactDecimal } from "../../../../domain/exact/rational.ts";
import { readBook } from "../../../../domain/price/read.ts";
import { at, bookOf, entryOf } from "./book-of.ts";

/** The problems of a book in USD, as `key: allowed values`. */
function wrongWith(content: Readonly<Record<string, unknown>>): readonly string[] {
  const read = readBook({ currency: "USD", ...content });
  return "book" in read ? [] : read.problems.map(({ key, allowed }) => `${key}: ${allowed}`);
}

const wrongWithEntry = (entry: Readonly<Record<string, unknown>>): readonly string[] =>
  wrongWith({ prices: [{ match: { pool: "dgx" }, from: "2026-01-01", ...entry }] });

describe("the entries of the scenarios", () => {
  it("per gpu-hour and per node-hour are read with their dates and prices", () => {
    const match = { model: "NVIDIA-A100*" };
    const entry = entryOf(match, { until: "2027-01-01", list: "4.10", contracted: "3.60", effective: "3.50" });
    expect(entry).toMatchObject({
      key: "prices[0]",
      match: { model: "NVIDIA-A100*", nodeLabels: {} },
      fromMillis: at("2026-01-01T00:00:00Z"),
      untilMillis: at("2027-01-01T00:00:00Z"),
      currency: "USD",
      per: "gpu-hour",
      prices: { list: { num: 41n, den: 10n }, contracted: { num: 18n, den: 5n }, effective: { num: 7n, den: 2n } },
    });
    const spot = entryOf(
      { instanceType: "p4d.24xlarge", capacityType: "spot" },
      { per: "node-hour", list: "32.77", gpuPart: "1" },
    );
    expect(spot).toMatchObject({ per: "node-hour", untilMillis: Infinity, gpuPart: { num: 1n, den: 1n } });
  });

  it("of an owned machine are read with their defaults", () => {
    const owned = { inService: "2025-06-15", purchase: "250000", months: 48 };
    expect(entryOf({ pool: "dgx" }, { owned })).toMatchObject({
      per: "owned",
      owned: {
        inServiceMillis: at("2025-06-15T00:00:00Z"),
        months: 48,
        residual: { num: 0n },
        overheadPerMonth: { num: 0n },
        retiredMillis: Infinity,
        machines: [],
      },
    });
    const full = {
      ...owned,
      residual: "25000",
      kWhPrice: "0.12",
      pue: "1.4",
      watts: 6500,
      overheadPerMonth: "500",
      retired: "2027-01-01T12:00:00Z",
      machines: ["dgx-1"],
    };
    expect(entryOf(undefined, { owned: full })).toMatchObject({
      match: { nodeLabels: {} },
      owned: { machines: ["dgx-1"], power: { pue: { num: 7n, den: 5n }, watts: { num: 6500n } } },
    });
  });

  it.each([
    [{ list: "4" }, ["4", "4", "4"]],
    [{ contracted: "3" }, ["3", "3", "3"]],
    [{ effective: "2" }, ["2", "2", "2"]],
    [{ list: "4", contracted: "3" }, ["4", "3", "3"]],
    [{ list: "4", effective: "2" }, ["4", "4", "2"]],
    [{ contracted: "3", effective: "2" }, ["3", "3", "2"]],
  ])("with %o are filled in to %o", (given, filled) => {
    const [entry] = bookOf({ prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", ...given }] }).prices;
    const prices = entry?.per === "gpu-hour" ? Object.values(entry.prices) : [];
    expect(prices.map((price) => exactDecimal(price, 9))).toEqual(filled);
  });

  it("name node labels as a mapping or as a selector", () => {
    expect(entryOf({ nodeLabel: { rack: "r7", row: "b" } }).match.nodeLabels).toEqual({ rack: "r7", row: "b" });
    expect(entryOf({ nodeLabel: "rack==r7" }).match.nodeLabels).toEqual({ rack: "r7" });
    expect(entryOf({ nodeLabel: "example.com/rack=r7" }).match.nodeLabels).toEqual({ "example.com/rack": "r7" });
  });

  it("are read for commitments, fixed costs, rates and markups", () => {
    const book = bookOf({
      commitments: [
        { from: "2026-01-01", until: "2027-01-01", amount: "1000", per: "month", scope: { pool: "a" }, quantity: 8 },
      ],
      fixed: [{ from: "2026-01-01", amount: "2.5", per: "hour", currency: "EUR" }],
      rates: [
        { from: "2026-02-01", currency: "EUR", rate: "1.10" },
        { from: "2026-01-01", currency: "EUR", rate: "1.08" },
      ],
      markup: [
        { team: "nlp", percent: "-2.5" },
        { team: "vision", percent: 5 },
      ],
    });
    expect(book.commitments).toMatchObject([{ key: "commitments[0]", scope: { pool: "a" }, quantity: { num: 8n } }]);
    expect(book.fixed).toMatchObject([{ per: "hour", currency: "EUR", untilMillis: Infinity }]);
    expect(book.rates.map(({ rate }) => exactDecimal(rate, 9))).toEqual(["1.08", "1.1"]);
    expect(book.markup).toMatchObject([{ percent: { num: -5n, den: 2n } }, { percent: { num: 5n } }]);
  });
});

describe("a price book", () => {
  it("is refused with all problems at once, each with its path, its value and the allowed values", () => {
    const read = readBook({
      currency: "EURO",
      prices: [
        { macth: { pool: "a" }, from: "2026-02-30", per: "gpu-day", list: 3.6 },
        { match: { capacityType: "rented", model: 7 }, from: "2026-01-01", per: "gpu-hour", effective: "-1" },
      ],
      markup: { team: "a" },
    });
    const problems = "problems" in read ? read.problems : [];
    expect(problems.map(({ key, value }) => [key, value])).toEqual([
      ["currency", "EURO"],
      ["prices[0].macth", { pool: "a" }],
      ["prices[0].match", undefined],
      ["prices[0].from", "2026-02-30"],
      ["prices[0].per", "gpu-day"],
      ["prices[0].list", 3.6],
      ["prices[1].match.model", 7],
      ["prices[1].match.capacityType", "rented"],
      ["prices[1].effective", "-1"],
      ["markup", { team: "a" }],
    ]);
    expect(problems[5]).toEqual({
      path: ["prices", 0, "list"],
      key: "prices[0].list",
      value: 3.6,
      allowed: `a decimal in quotes, such as "3.60": money never passes through a floating-point number`,
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a price that is a whole number", { per: "gpu-hour", list: 3 }, "prices[0].list: a decimal in quotes"],
    ["a negative price", { per: "gpu-hour", list: "-0.01" }, "prices[0].list: 0 or more"],
    ["a price with an exponent", { per: "gpu-hour", list: "1e3" }, "prices[0].list: a decimal written out"],
    ["no price", { per: "gpu-hour" }, "prices[0]: an entry with a price"],
    ["no unit", { list: "1" }, "prices[0].per: required: gpu-hour or node-hour"],
    ["no beginning", { from: null, per: "gpu-hour", list: "1" }, "prices[0].from: required: a date"],
    ["an end before the beginning", { until: "2025-01-01", per: "gpu-hour", list: "1" }, "prices[0].until: after from"],
    ["a GPU's part of 0", { per: "node-hour", list: "1", gpuPart: "0" }, "prices[0].gpuPart: above 0"],
    [
      "a GPU's part above 1",
      { per: "node-hour", list: "1", gpuPart: "1.01" },
      "prices[0].gpuPart: above 0 and at most 1",
    ],
    [
      "a fraction that is a number",
      { per: "node-hour", list: "1", gpuPart: 0.9 },
      "prices[0].gpuPart: an integer, or a decimal",
    ],
    [
      "a GPU's part of a GPU's price",
      { per: "gpu-hour", list: "1", gpuPart: "1" },
      "prices[0].gpuPart: a key of a price per",
    ],
    [
      "an invalid currency",
      { per: "gpu-hour", list: "1", currency: "DM" },
      "prices[0].currency: a currency of ISO 4217",
    ],
    [
      "a currency without a rate",
      { per: "gpu-hour", list: "1", currency: "EUR" },
      "prices[0].currency: a currency with a rate",
    ],
    ["half GPUs", { per: "node-hour", list: "1", delivered: 7.5 }, "prices[0].delivered: an integer from 1"],
    [
      "a label that is not a text",
      { match: { nodeLabel: { rack: 7 } }, per: "gpu-hour", list: "1" },
      "prices[0].match.nodeLabel.rack: a text",
    ],
    [
      "an invalid selector",
      { match: { nodeLabel: "rack" }, per: "gpu-hour", list: "1" },
      "prices[0].match.nodeLabel: a mapping",
    ],
    [
      "an empty text",
      { match: { pool: "" }, per: "gpu-hour", list: "1" },
      "prices[0].match.pool: a text with something in it",
    ],
  ])("is refused with %s", (_, entry, sentence) => {
    expect(wrongWithEntry(entry)).toEqual([expect.stringContaining(sentence)]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["a residual above the purchase", { residual: "2" }, "owned.residual: at most the purchase price"],
    ["no months", { months: 0 }, "owned.months: an integer from 1"],
    ["half months", { months: "4.5" }, "owned.months: an integer from 1"],
    ["a retirement before the service", { retired: "2024-01-01" }, "owned.retired: after inService"],
    ["a PUE below 1", { kWhPrice: "0.1", pue: "0.9" }, "owned.pue: 1 or more"],
    ["watts without a price of power", { watts: 6500 }, "owned.kWhPrice: required"],
    ["a machine without a name", { machines: [7] }, "owned.machines[0]: the name of a node"],
    ["an unknown key", { vendor: "x" }, "owned.vendor: a known key"],
  ])("is refused if an owned machine has %s", (_, terms, sentence) => {
    const owned = { inService: "2025-01-01", purchase: "1", months: 48, ...terms };
    expect(wrongWithEntry({ owned })).toEqual([expect.stringContaining(`prices[0].${sentence}`)]);
  });

  it("is refused if an owned machine has a unit price beside its cost", () => {
    const owned = { inService: "2025-01-01", purchase: "1", months: 48 };
    expect(wrongWithEntry({ owned, per: "node-hour", list: "1" })).toEqual([
      "prices[0].per: no value, because owned gives the price",
      "prices[0].list: no value, because owned gives the price",
    ]);
  });

  it("is refused if two entries have the same match and the same beginning, but not if their beginnings differ", () => {
    const entry = {
      match: { pool: "a", nodeLabel: { x: "1", y: "2" } },
      from: "2026-01-01",
      per: "gpu-hour",
      list: "1",
    };
    const turned = { ...entry, match: { nodeLabel: { y: "2", x: "1" }, pool: "a" } };
    expect(wrongWith({ prices: [entry, turned] })).toEqual([
      "prices[1].match: distinct: prices[0] has the same match and the same from",
    ]);
    expect(wrongWith({ prices: [entry, { ...turned, from: "2026-02-01" }] })).toEqual([]);
  });

  it("is refused if a rate does not hold from the beginning of a cost in its currency", () => {
    const fixed = [{ from: "2026-01-01", amount: "1", per: "hour", currency: "EUR" }];
    const rate = { currency: "EUR", rate: "1.08" };
    expect(wrongWith({ fixed, rates: [{ ...rate, from: "2026-01-02" }] })).toEqual([
      "fixed[0].currency: a currency with a rate from the entry's first day on (rates)",
    ]);
    expect(wrongWith({ fixed, rates: [{ ...rate, from: "2026-01-01" }] })).toEqual([]);
    // An owned machine in service since February needs none for January.
    const owned = { inService: "2026-02-01", purchase: "1", months: 12 };
    const prices = [{ match: {}, from: "2026-01-01", owned, currency: "EUR" }];
    expect(wrongWith({ prices, rates: [{ ...rate, from: "2026-02-01" }] })).toEqual([]);
  });

  it("is refused if it has a rate for its own currency, or a rate of 0", () => {
    const rates = [
      { from: "2026-01-01", currency: "USD", rate: "1" },
      { from: "2026-01-01", currency: "EUR", rate: "0" },
    ];
    expect(wrongWith({ rates })).toEqual([
      "rates[0].currency: another currency than the book's",
      "rates[1].rate: above 0",
    ]);
  });

  it("is refused if two rates of one currency have the same beginning", () => {
    const rate = { from: "2026-01-01", currency: "EUR", rate: "1.08" };
    expect(wrongWith({ rates: [rate, { ...rate, rate: "1.09" }, { ...rate, currency: "GBP" }] })).toEqual([
      "rates: a time with one rate: it has two",
    ]);
  });

  it("is refused if a commitment has no end; a fixed cost may have none", () => {
    const entry = { from: "2026-01-01", amount: "1", per: "month" };
    expect(wrongWith({ commitments: [entry], fixed: [entry] })).toEqual([
      expect.stringContaining("commitments[0].until: required: the end of the commitment"),
    ]);
  });

  it.each([[undefined], [null], ["prices"], [[]]])("cannot be %o", (content) => {
    expect(readBook(content)).toMatchObject({ problems: [{ key: "(the whole price book)" }] });
  });

  it("is refused without a currency, but not without prices", () => {
    expect(readBook({})).toMatchObject({ problems: [{ key: "currency" }] });
    expect(bookOf({})).toEqual({ currency: "USD", prices: [], commitments: [], fixed: [], rates: [], markup: [] });
  });
});
