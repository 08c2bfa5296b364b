import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { incurredIn } from "../../../../domain/exact/accrual.ts";
import { compare, exactDecimal, ONE, rational, subtract } from "../../../../domain/exact/rational.ts";
import { formatAmount, lastUnits } from "../../../../domain/exact/units.ts";
import type { CostKind, PriceBook } from "../../../../domain/price/book.ts";
import { ratePieces } from "../../../../domain/price/conversion.ts";
import { costSince, divideNodeCost, standingCost } from "../../../../domain/price/cost.ts";
import { at, bookOf } from "./book-of.ts";
import { HOUR_MILLIS as HOUR } from "../../../../domain/time.ts";

const BEGIN = at("2026-03-01T00:00:00Z");

const gpuHour = (others: Readonly<Record<string, unknown>>): PriceBook =>
  bookOf({
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", ...others }],
    rates: [
      { from: "2026-01-01", currency: "EUR", rate: "1.08" },
      { from: "2026-03-02", currency: "EUR", rate: "1.10" },
      { from: "2026-03-03T10:30:00Z", currency: "EUR", rate: "1.05" },
    ],
  });

const since = (originMillis: number) => ({ originMillis, part: ONE });

const costIn = (book: PriceBook, origin: number, from: number, until: number, kind: CostKind = "effective"): string => {
  const [entry] = book.prices;
  return entry === undefined ? "" : formatAmount(incurredIn(costSince(entry, kind, since(origin), book), from, until));
};

describe("the cost of a GPU", () => {
  it("is the price per hour times the hours, for each of the three prices", () => {
    const book = gpuHour({ list: "4.10", contracted: "3.60", effective: "3.50" });
    // 0.75 h × 4.10 = 3.075; × 3.60 = 2.70; × 3.50 = 2.625.
    const kinds = (["list", "contracted", "effective"] as const).map((kind) =>
      costIn(book, BEGIN, BEGIN, BEGIN + 0.75 * HOUR, kind),
    );
    expect(kinds).toEqual(["3.075", "2.7", "2.625"]);
  });

  it("equals that of the first scenario: 2 GPUs × 4 h × 3.60 = 28.80", () => {
    const one = costIn(gpuHour({ effective: "3.60" }), BEGIN, BEGIN, BEGIN + 4 * HOUR);
    expect(one).toBe("14.4");
  });
});

describe("a foreign price", () => {
  const book = gpuHour({ effective: "3", currency: "EUR" });

  it("is converted at the rate of each time", () => {
    // From noon of March 1: 12 h × 3 × 1.08 = 38.88; then 24 h × 3 × 1.10 = 79.20;
    // on March 3, 10.5 h × 3 × 1.10 + 13.5 h × 3 × 1.05 = 34.65 + 42.525 = 77.175.
    const noon = BEGIN + 12 * HOUR;
    const days = [noon, BEGIN + 24 * HOUR, BEGIN + 48 * HOUR, BEGIN + 72 * HOUR];
    expect(days.slice(1).map((day, index) => costIn(book, noon, days[index] ?? 0, day))).toEqual([
      "38.88",
      "79.2",
      "77.175",
    ]);
  });

  it("is converted before it is rounded, which happens once", () => {
    // 0.0000000004 EUR × 1.08 × 2 h = 0.000000000864: one unit. If each hour were rounded before the conversion, the result would be 0.
    const small = gpuHour({ effective: "0.0000000004", currency: "EUR" });
    expect(costIn(small, BEGIN, BEGIN, BEGIN + 2 * HOUR)).toBe("0.000000001");
  });

  it("is charged in pieces that begin where a rate begins", () => {
    const pieces = ratePieces(book, "EUR", BEGIN + 12 * HOUR);
    expect(pieces.map(({ fromMillis, rate }) => [fromMillis, exactDecimal(rate, 9)])).toEqual([
      [BEGIN + 12 * HOUR, "1.08"],
      [BEGIN + 24 * HOUR, "1.1"],
      [BEGIN + 58.5 * HOUR, "1.05"],
    ]);
    expect(ratePieces(book, "EUR", BEGIN + 24 * HOUR)[0]?.rate).toEqual(rational(11, 10));
    expect(ratePieces(book, "USD", BEGIN)).toEqual([{ fromMillis: BEGIN, rate: rational(1) }]);
    expect(() => ratePieces(book, "EUR", at("2025-12-31T00:00:00Z"))).toThrow(RangeError);
    expect(() => ratePieces(book, "GBP", BEGIN)).toThrow(RangeError);
  });
});

describe("the cost of a node", () => {
  it("is divided by the number of GPUs with which the node was delivered", () => {
    // 32.77 ÷ 8 = 4.09625.
    const { gpus, nonGpu } = divideNodeCost(lastUnits(32_770_000_000n), 8, rational(1));
    expect(gpus.map(formatAmount)).toEqual(Array.from({ length: 8 }, () => "4.09625"));
    expect(nonGpu).toBe(0n);
  });

  it("has a line of its own for the part that is not for GPUs", () => {
    // 10 × 0.9 ÷ 3 = 3, and 10 × 0.1 = 1.
    const { gpus, nonGpu } = divideNodeCost(lastUnits(10_000_000_000n), 3, rational(9, 10));
    expect([...gpus.map(formatAmount), formatAmount(nonGpu)]).toEqual(["3", "3", "3", "1"]);
  });

  it("gives the remaining units to the lowest indexes", () => {
    expect(divideNodeCost(lastUnits(11n), 3, rational(1))).toEqual({ gpus: [4n, 4n, 3n], nonGpu: 0n });
  });

  it("adds up for any parts", () => {
    const part = fc
      .tuple(fc.integer({ min: 1, max: 1000 }), fc.nat(1000))
      .map(([num, more]) => rational(num, num + more));
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 15n), 10n ** 15n),
        fc.integer({ min: 1, max: 16 }),
        part,
        (cost, delivered, gpuPart) => {
          const { gpus, nonGpu } = divideNodeCost(lastUnits(cost), delivered, gpuPart);
          expect(gpus).toHaveLength(delivered);
          expect(gpus.reduce<bigint>((all, each) => all + each, nonGpu)).toBe(cost);
        },
      ),
    );
  });

  it.each([0, -1, 1.5])("is refused for %s GPUs", (delivered) => {
    expect(() => divideNodeCost(lastUnits(1n), delivered, rational(1))).toThrow(RangeError);
  });
});

describe("a cost that does not depend on usage", () => {
  it("is spread over the hours of each month, or has a price per hour", () => {
    const book = bookOf({
      commitments: [{ from: "2026-02-15", until: "2027-02-15", amount: "1000", per: "month" }],
      fixed: [{ from: "2026-02-15", amount: "2.5", per: "hour" }],
    });
    const [commitment, fixed] = [book.commitments[0], book.fixed[0]];
    // 14 of February's 28 days: 500. 14 × 24 h × 2.50 = 840.
    expect(commitment && formatAmount(standingCost(commitment, book).roundedAt(BEGIN))).toBe("500");
    expect(fixed && formatAmount(standingCost(fixed, book).roundedAt(BEGIN))).toBe("840");
  });
});

describe("any cost of an entry", () => {
  const owned = { inService: "2026-01-31T10:00:00Z", purchase: "99999.99", months: 7, overheadPerMonth: "1.01" };
  const books = [
    gpuHour({ effective: "2.989" }),
    gpuHour({ effective: "2.989", currency: "EUR" }),
    gpuHour({ per: "node-hour", effective: "32.7726" }),
    gpuHour({ per: undefined, owned }),
    gpuHour({ per: undefined, owned, currency: "EUR" }),
  ];

  it("from a later origin on is the difference of the cost from an earlier origin at both times", () => {
    const elapsed = fc.nat(300 * 24 * HOUR);
    fc.assert(
      fc.property(fc.constantFrom(...books), elapsed, elapsed, (book, one, more) => {
        const [entry] = book.prices;
        if (entry === undefined) throw new Error("a book of one entry has one");
        const [origin, time] = [BEGIN + one, BEGIN + one + more];
        const early = costSince(entry, "effective", since(BEGIN), book);
        const late = costSince(entry, "effective", since(origin), book);
        expect(late.exactAt(time)).toEqual(subtract(early.exactAt(time), early.exactAt(origin)));
        expect(() => late.exactAt(origin - 1)).toThrow(RangeError);
      }),
    );
  });

  it("never falls, and its parts add up to the whole for any cuts", () => {
    const times = fc.array(fc.nat(300 * 24 * HOUR), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(fc.constantFrom(...books), times, (book, elapsed) => {
        const [entry] = book.prices;
        if (entry === undefined) throw new Error("a book of one entry has one");
        const accrual = costSince(entry, "effective", since(BEGIN), book);
        const cuts = [0, ...elapsed].toSorted((a, b) => a - b).map((millis) => BEGIN + millis);
        const parts = cuts.slice(1).map((until, index) => incurredIn(accrual, cuts[index] ?? BEGIN, until));
        expect(parts.every((part) => part >= 0n)).toBe(true);
        expect(parts.reduce<bigint>((all, each) => all + each, 0n)).toBe(accrual.roundedAt(cuts.at(-1) ?? BEGIN));
        cuts.slice(1).forEach((until, index) => {
          expect(compare(accrual.exactAt(cuts[index] ?? BEGIN), accrual.exactAt(until)) <= 0).toBe(true);
        });
      }),
    );
  });
});
