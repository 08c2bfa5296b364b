import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rational } from "../../../../domain/exact/rational.ts";
import { lastUnits, sum, type Carbon, type GpuHours, type Money } from "../../../../domain/exact/units.ts";
import { DEFAULT_POLICY, payerOf, type Payer } from "../../../../domain/policy/policy.ts";
import { spreadLines, type PaidLine } from "../../../../domain/policy/spread.ts";

function line(payer: Payer, team: string, cost: number | undefined, given: Partial<PaidLine> = {}): PaidLine {
  const money = lastUnits<"currency">(BigInt(cost ?? 0));
  return {
    scope: "node-a",
    payer,
    team,
    costCenter: "",
    shareMillis: rational(cost ?? 1),
    gpuHours: lastUnits<"gpu-hour">(BigInt(cost ?? 1)),
    costs: cost === undefined ? undefined : { list: money, contracted: money, effective: money },
    ...given,
  };
}

describe("the payer", () => {
  it("is the holder for held time and the platform for the rest, by default", () => {
    expect(payerOf("active", DEFAULT_POLICY)).toBe("holder");
    expect(payerOf("idle", DEFAULT_POLICY)).toBe("holder");
    expect(payerOf("unobserved", DEFAULT_POLICY)).toBe("holder");
    expect(payerOf("unavailable", DEFAULT_POLICY)).toBe("platform");
    expect(payerOf("unallocated", DEFAULT_POLICY)).toBe("platform");
  });

  it("is the platform for idle time under a policy by usage, and for no other held time", () => {
    const usage = { ...DEFAULT_POLICY, basis: "usage" } as const;
    expect(payerOf("idle", usage)).toBe("platform");
    expect(payerOf("unobserved", usage)).toBe("holder");
    expect(payerOf("starting", usage)).toBe("holder");
  });
});

describe("a line that is spread", () => {
  it("goes to the payers in its scope alone, in proportion to what they pay", () => {
    const lines = [
      line("holder", "vision", 60),
      line("holder", "nlp", 30),
      line("holder", "speech", 500, { scope: "node-b" }),
      line("spread", "platform", 9),
    ];
    const { parts } = spreadLines(lines, "cost");
    expect(parts.map(({ team, costs }) => [team, costs!.effective])).toEqual([
      ["nlp", 3n],
      ["vision", 6n],
    ]);
  });

  it("stays with the platform if there is no payer, or if the line has no price", () => {
    const nobody = line("spread", "platform", 9);
    expect(spreadLines([nobody, line("platform", "platform", 5)], "time")).toMatchObject({
      parts: [],
      unspread: [{ line: nobody, because: "nobody" }],
    });
    const unpriced = line("spread", "platform", undefined);
    expect(spreadLines([unpriced, line("holder", "vision", 5)], "even").unspread).toEqual([
      { line: unpriced, because: "unpriced" },
    ]);
  });

  it("is not weighted by cost if a holder of its scope has no price; the result names the scope", () => {
    const lines = [line("holder", "vision", 60), line("holder", "nlp", undefined), line("spread", "platform", 9)];
    const { parts, refused } = spreadLines(lines, "cost");
    expect({ parts, refused }).toEqual({ parts: [], refused: ["node-a"] });
    expect(spreadLines(lines, "even").parts).toHaveLength(2);
  });

  it("has a part for each cost center of a team, and each counts once if it is spread evenly", () => {
    const lines = [
      line("holder", "vision", 1, { costCenter: "1" }),
      line("holder", "vision", 99, { costCenter: "2" }),
      line("holder", "vision", 99, { costCenter: "2" }),
      line("spread", "platform", 10),
    ];
    expect(spreadLines(lines, "even").parts.map(({ costCenter, costs }) => [costCenter, costs!.effective])).toEqual([
      ["1", 5n],
      ["2", 5n],
    ]);
  });
});

it("the spread parts and the unspread lines sum to the original lines, in hours, money, energy and carbon", () => {
  const some = fc.record({
    payer: fc.constantFrom<Payer>("holder", "platform", "spread"),
    team: fc.constantFrom("a", "b", "c"),
    scope: fc.constantFrom("x", "y"),
    cost: fc.nat(10_000),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 30 }), fc.constantFrom("cost", "time", "even"), (given, by) => {
      const lines = given.map(({ payer, team, scope, cost }) => {
        const more = { power: lastUnits<"currency">(BigInt(cost) / 3n), millijoules: BigInt(cost) * 7n };
        return line(payer, team, cost, { scope, ...more, carbon: lastUnits<"gram">(BigInt(cost) + 5n) });
      });
      const spread = lines.filter(({ payer }) => payer === "spread");
      const { parts, unspread } = spreadLines(lines, by as "cost");
      const hours = (of: readonly { readonly gpuHours: GpuHours }[]): GpuHours =>
        sum(of.map(({ gpuHours }) => gpuHours));
      const money = (of: readonly Pick<PaidLine, "costs">[]): Money => sum(of.map(({ costs }) => costs!.effective));
      const power = (of: readonly Pick<PaidLine, "power">[]): Money => sum(of.map((each) => each.power!));
      const energy = (of: readonly Pick<PaidLine, "millijoules">[]): bigint =>
        of.reduce((total, { millijoules }) => total + millijoules!, 0n);
      const carbon = (of: readonly Pick<PaidLine, "carbon">[]): Carbon => sum(of.map((each) => each.carbon!));
      const stays = unspread.map((each) => each.line);
      expect(hours(parts) + hours(stays)).toBe(hours(spread));
      expect(money(parts) + money(stays)).toBe(money(spread));
      expect(power(parts) + power(stays)).toBe(power(spread));
      expect(energy(parts) + energy(stays)).toBe(energy(spread));
      expect(carbon(parts) + carbon(stays)).toBe(carbon(spread));
    }),
  );
});
