import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amountOf, sum } from "../../../../../domain/exact/units.ts";
import type { LineSum } from "../../../../../processors/ledger/closing/line-sums.ts";
import { sealed, statementsOf } from "../../../../../processors/ledger/closing/statement.ts";

const UNIT = 1_000_000_000n;

function line(team: string, cost: bigint, given: Partial<LineSum> = {}): LineSum {
  return {
    team,
    costCenter: "",
    state: "active",
    isCorrection: false,
    isHeld: true,
    lines: 1,
    gpuHours: UNIT,
    unpriced: 0n,
    list: cost,
    contracted: cost,
    effective: cost,
    ...given,
  };
}

describe("statements", () => {
  it("are posted in cents that add up to the posted total; the largest remainder gets a cent first", () => {
    // 3 × 3.333333333 = 9.999999999, posted 10.00: 3.33 each leaves one cent, which goes to the first of equal remainders.
    const third = 3_333_333_333n;
    const { total, statements } = statementsOf(
      [line("vision", third), line("nlp", third), line("audio", third)],
      "USD",
    );
    expect(total).toMatchObject({ effective: "9.999999999", posted: "10" });
    expect(statements.map(({ team, effective, posted }) => `${team} ${effective} ${posted}`)).toEqual([
      "audio 3.333333333 3.34",
      "nlp 3.333333333 3.33",
      "vision 3.333333333 3.33",
    ]);
  });

  it("are posted in the minor unit of the currency", () => {
    const posted = (currency: string): string => statementsOf([line("vision", 1_234_567_891n)], currency).total.posted;
    expect(["JPY", "USD", "KWD"].map(posted)).toEqual(["1", "1.23", "1.235"]);
  });

  it("contain the coverage of the held time, the unpriced time, and the time without an owner", () => {
    const { total, unowned } = statementsOf(
      [
        line("vision", 3n * UNIT, { gpuHours: 3n * UNIT }),
        line("vision", UNIT, { state: "unobserved" }),
        line("unowned", 2n * UNIT),
        line("vision", 0n, { state: "unavailable", gpuHours: 9n * UNIT, unpriced: 9n * UNIT }),
        line("platform", UNIT, { state: "unallocated", isHeld: false, gpuHours: 7n * UNIT }),
      ],
      "USD",
    );
    // Held and not unavailable: 3 + 1 + 1 GPU-hours, of which 1 is unobserved.
    expect(total).toMatchObject({ heldGpuHours: "5", unobservedGpuHours: "1", coverage: "0.8", unpricedGpuHours: "9" });
    expect(unowned).toBe("2");
    expect(statementsOf([], "USD").total).toMatchObject({ coverage: null, posted: "0", lines: 0 });
  });

  it("separate corrections and true-ups from the period's own cost", () => {
    const { total } = statementsOf(
      [
        line("vision", 5n * UNIT),
        line("vision", -2n * UNIT, { isCorrection: true }),
        line("vision", UNIT, { state: "true-up", isHeld: false, gpuHours: 0n }),
      ],
      "USD",
    );
    expect(total).toMatchObject({ effective: "4", corrections: "-2", trueUp: "1", posted: "4" });
  });

  it("have posted amounts that add up to the posted total, each less than a minor unit from its exact amount", () => {
    const amounts = fc.array(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(amounts, fc.constantFrom("USD", "JPY", "KWD"), (costs, currency) => {
        const { total, statements } = statementsOf(
          costs.map((cost, index) => line(`team-${index}`, cost)),
          currency,
        );
        const posted = statements.map((one) => amountOf<"currency">(one.posted));
        expect(sum(posted)).toBe(amountOf(total.posted));
        const unit = { USD: UNIT / 100n, JPY: UNIT, KWD: UNIT / 1000n }[currency]!;
        for (const [index, one] of statements.entries()) {
          const rest = posted[index]! - amountOf<"currency">(one.effective);
          expect(rest < unit && rest > -unit).toBe(true);
        }
      }),
    );
  });
});

describe("a document", () => {
  it("is identified by the SHA-256 of its text", () => {
    expect(sealed({ a: 1 })).toEqual({
      text: '{"a":1}',
      hash: "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
    });
  });
});
