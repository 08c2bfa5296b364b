import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { incurredIn } from "../../../../domain/exact/accrual.ts";
import { compare, exactDecimal, rational } from "../../../../domain/exact/rational.ts";
import { formatAmount } from "../../../../domain/exact/units.ts";
import type { OwnedTerms } from "../../../../domain/price/book.ts";
import { millisAt, monthlyAccrual, monthsAt } from "../../../../domain/price/month.ts";
import { ownedAccrual, powerCost, writtenOffMillis } from "../../../../domain/price/owned.ts";
import { at, entryOf } from "./book-of.ts";

/** The terms of the scenarios' machine: 225,000 ÷ 48 = 4,687.50 a month, and 500 of overhead: 5,187.50. */
const DGX = {
  inService: "2025-06-15",
  purchase: "250000",
  months: 48,
  residual: "25000",
  kWhPrice: "0.12",
  pue: "1.4",
  watts: 6500,
  overheadPerMonth: "500",
};

const termsOf = (others: Readonly<Record<string, unknown>> = {}): OwnedTerms => {
  const entry = entryOf({ pool: "dgx" }, { owned: { ...DGX, ...others } });
  if (entry.per !== "owned") throw new Error("an entry with the key owned is owned");
  return entry.owned;
};

/** The cost of a machine for a time, as text, counted from its service on. */
const cost = (terms: OwnedTerms, from: string, until: string): string =>
  formatAmount(incurredIn(ownedAccrual(terms, terms.inServiceMillis), at(from), at(until)));

describe("UTC calendar months", () => {
  it.each([
    ["1970-01-01T00:00:00Z", "0"],
    ["2026-03-01T00:00:00Z", "674"],
    // 15.5 of 31 days, 14 of 28, 14.5 of 29 in a leap year.
    ["2026-03-16T12:00:00Z", "674.5"],
    ["2026-02-15T00:00:00Z", "673.5"],
    ["2028-02-15T12:00:00Z", "697.5"],
    ["1969-12-16T12:00:00Z", "-0.5"],
  ])("at %s, %s of them have passed since 1970", (time, months) => {
    expect(exactDecimal(monthsAt(at(time)), 9)).toBe(months);
  });

  it("convert back to the same millisecond", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: at("2200-01-01T00:00:00Z") }),
        (millis) => millisAt(monthsAt(millis)) === millis,
      ),
    );
    expect(writtenOffMillis(termsOf({ inService: "2026-01-16T12:00:00Z", months: 1 }))).toBe(
      at("2026-02-15T00:00:00Z"),
    );
  });

  it("have the same cost each, so an hour of a short month costs more", () => {
    const accrual = monthlyAccrual(rational(672), at("2025-12-01T00:00:00Z"));
    const month = (from: string, until: string): string => formatAmount(incurredIn(accrual, at(from), at(until)));
    expect(month("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")).toBe("672");
    expect(month("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")).toBe("672");
    // 672 ÷ (28 × 24) = 1, and 672 ÷ (31 × 24) = 0.903225806…
    expect(month("2026-02-10T07:00:00Z", "2026-02-10T08:00:00Z")).toBe("1");
    expect(month("2026-03-10T07:00:00Z", "2026-03-10T08:00:00Z")).toBe("0.903225806");
  });
});

describe("an owned machine", () => {
  it("costs (purchase − residual) ÷ months + overhead in each whole month", () => {
    expect(cost(termsOf(), "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")).toBe("5187.5");
    expect(cost(termsOf(), "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z")).toBe("5187.5");
  });

  it("costs pro rata in its first month", () => {
    // 16 of 30 days: 5,187.50 × 16 ÷ 30 = 2,766.666…
    expect(cost(termsOf(), "2025-06-15T00:00:00Z", "2025-07-01T00:00:00Z")).toBe("2766.666666667");
  });

  it("is depreciated pro rata in its last month, and costs only its overhead afterwards", () => {
    // 14 of 30 days: 4,687.50 × 14 ÷ 30 = 2,187.50, and 500 of overhead for the whole month.
    expect(cost(termsOf(), "2029-06-01T00:00:00Z", "2029-07-01T00:00:00Z")).toBe("2687.5");
    expect(cost(termsOf(), "2029-06-15T00:00:00Z", "2029-06-30T00:00:00Z")).toBe("250");
    expect(cost(termsOf({ overheadPerMonth: null }), "2029-06-15T00:00:00Z", "2035-01-01T00:00:00Z")).toBe("0");
  });

  it("is written off when the fraction of the last month that has passed equals the fraction of the first month before its service", () => {
    // Service begins when 12 of June's 30 days are over: 2/5. Of December's 31 days, 2/5 are 12.4: the 13th, 09:36.
    const terms = termsOf({ inService: "2026-06-13", months: 18, overheadPerMonth: null });
    expect(cost(terms, "2026-06-13T00:00:00Z", "2027-12-13T09:36:00Z")).toBe("225000");
    expect(cost(terms, "2027-12-13T09:36:00Z", "2028-12-01T00:00:00Z")).toBe("0");
    // The last hour still costs 225,000 ÷ 18 ÷ 744 = 16.801075268…
    expect(cost(terms, "2027-12-13T08:36:00Z", "2027-12-13T09:36:00Z")).toBe("16.801075269");
  });

  it("costs nothing after it is retired, and in total less than its purchase price", () => {
    const terms = termsOf({ retired: "2026-03-16T12:00:00Z" });
    // Half of March: 5,187.50 ÷ 2.
    expect(cost(terms, "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")).toBe("2593.75");
    expect(cost(terms, "2026-03-16T12:00:00Z", "2029-01-01T00:00:00Z")).toBe("0");
  });

  it("costs nothing for the time before the price holds", () => {
    const since = ownedAccrual(termsOf(), at("2026-03-16T12:00:00Z"));
    expect(formatAmount(since.roundedAt(at("2026-04-01T00:00:00Z")))).toBe("2593.75");
    const tooLate = ownedAccrual(termsOf({ overheadPerMonth: null }), at("2030-01-01T00:00:00Z"));
    expect(tooLate.roundedAt(at("2031-01-01T00:00:00Z"))).toBe(0n);
    const tooEarly = ownedAccrual(termsOf(), at("2025-01-01T00:00:00Z"));
    expect(formatAmount(tooEarly.roundedAt(at("2025-07-01T00:00:00Z")))).toBe("2766.666666667");
    expect(tooEarly.roundedAt(at("2025-06-15T00:00:00Z"))).toBe(0n);
  });

  const moment = fc.integer({ min: at("2024-01-01T00:00:00Z"), max: at("2034-01-01T00:00:00Z") });
  const terms = fc
    .record({
      inServiceMillis: moment,
      months: fc.integer({ min: 1, max: 72 }),
      retiredMillis: fc.oneof(fc.constant(Infinity), moment),
      overhead: fc.nat(1000),
    })
    .map(({ overhead, ...others }): OwnedTerms => ({
      ...termsOf(),
      ...others,
      overheadPerMonth: rational(overhead, 7),
    }));

  it("costs purchase − residual in its life, independent of its beginning", () => {
    fc.assert(
      fc.property(terms, (each) => {
        const whole = { ...each, overheadPerMonth: rational(0), retiredMillis: Infinity };
        const accrual = ownedAccrual(whole, whole.inServiceMillis);
        expect(accrual.exactAt(at("2050-01-01T00:00:00Z"))).toEqual(rational(225_000));
      }),
    );
  });

  it("has a cost that never falls with time, and parts that add up to the whole for any cuts", () => {
    fc.assert(
      fc.property(terms, moment, fc.array(moment, { minLength: 2, maxLength: 12 }), (each, origin, times) => {
        const accrual = ownedAccrual(each, origin);
        const cuts = [origin, ...times.filter((time) => time >= origin).toSorted((a, b) => a - b)];
        const parts = cuts.slice(1).map((until, index) => incurredIn(accrual, cuts[index] ?? origin, until));
        expect(parts.every((part) => part >= 0n)).toBe(true);
        expect(parts.reduce<bigint>((all, part) => all + part, 0n)).toBe(accrual.roundedAt(cuts.at(-1) ?? origin));
        cuts.slice(1).forEach((until, index) => {
          expect(compare(accrual.exactAt(cuts[index] ?? origin), accrual.exactAt(until)) <= 0).toBe(true);
        });
      }),
    );
  });
});

describe("power", () => {
  const { power } = termsOf();
  const costOf = (joules: number, unmeasuredMillis: number): string | undefined =>
    power &&
    exactDecimal(powerCost(power, { joules: rational(joules), unmeasuredMillis: rational(unmeasuredMillis) }), 9);

  it("costs measured kWh × PUE × price", () => {
    // 3.6 MJ are 1 kWh: 1 × 1.4 × 0.12.
    expect(costOf(3_600_000, 0)).toBe("0.168");
  });

  it("costs the entry's watts for time without a measurement", () => {
    // 6.5 kW × 2 h = 13 kWh; 13 × 1.4 × 0.12 = 2.184. With a measured kWh 0.168 more.
    expect(costOf(0, 7_200_000)).toBe("2.184");
    expect(costOf(3_600_000, 7_200_000)).toBe("2.352");
  });

  it("costs nothing if nothing is measured and the entry has no watts, and has no price without a price per kWh", () => {
    const measuredOnly = termsOf({ watts: null, pue: null }).power;
    expect(measuredOnly && powerCost(measuredOnly, { joules: rational(0), unmeasuredMillis: rational(1000) })).toEqual(
      rational(0),
    );
    expect(measuredOnly?.pue).toEqual(rational(1));
    expect(termsOf({ kWhPrice: null, watts: null, pue: null }).power).toBeUndefined();
  });
});
