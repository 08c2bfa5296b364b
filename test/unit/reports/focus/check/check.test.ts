import type { FocusVersion } from "../../../../../domain/focus-version.ts";
import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../../domain/exact/units.ts";
import { checkFocus, type CheckOutcome, type WrittenCells } from "../../../../../reports/focus/check/check.ts";
import { COST_AND_USAGE } from "../../../../../reports/focus/check/dataset.ts";
import { FocusCheckError } from "../../../../../reports/focus/check/error.ts";
import type { WrittenRow } from "../../../../../reports/focus/check/rule.ts";
import { freePart, GPU, partOf, SETTING, writtenRows } from "../../../../support/focus-parts.ts";

const six = { gpuHours: lastUnits<"gpu-hour">(6_000_000_000n) };
/** Two origins of two rows each. */
const ROWS = [0, 1].flatMap((slot) => {
  const origin = { ...GPU, slot };
  return writtenRows([partOf({ origin }), freePart({ origin, ...six })]);
});
const SUMS = { EffectiveCost: "216", x_GpuHours: "48", x_Lines: "72", x_PowerCost: "0" };

async function check(
  rows: readonly WrittenRow[],
  given: { readonly isWhole?: boolean; readonly sums?: Readonly<Record<string, string>> } = {},
  heads = Object.keys(ROWS[0]!),
): Promise<CheckOutcome> {
  async function* lines(): AsyncGenerator<WrittenCells> {
    yield heads;
    for (const row of rows) yield heads.map((name) => row[name] ?? null);
  }
  return checkFocus(lines(), COST_AND_USAGE["1.3"], { sums: SUMS, isWhole: true, ...given });
}

describe("the check of a FOCUS file", () => {
  it("finds nothing in a file as we make it", async () => {
    expect(await check(ROWS)).toEqual({ rows: 4, count: 0, violations: [] });
  });

  it("names the rule, the row and the column, and the value", async () => {
    const { count, violations } = await check([ROWS[0]!, { ...ROWS[1]!, PricingCategory: "Spot" }, ...ROWS.slice(2)]);
    expect({ count, violations }).toEqual({
      count: 1,
      violations: [
        {
          rule: "allowed-word",
          text: "the value is one of the values that FOCUS allows",
          column: "PricingCategory",
          row: 2,
          key: "2026-03-02T00:00:00Z prod/gpu-a/0 unallocated",
          found: "Spot",
        },
      ],
    });
    expect(new FocusCheckError({ rows: 4, count, violations }).message).toBe(
      'the file breaks rules of FOCUS, 1 times:\n  row 2 (2026-03-02T00:00:00Z prod/gpu-a/0 unallocated), PricingCategory: the value is one of the values that FOCUS allows [allowed-word]; found "Spot"',
    );
  });

  it("finds that the ratios of an origin do not sum to 1, at its last row", async () => {
    const details = '{"Elements":[{"AllocatedRatio":0.250000000000001,"UsageUnit":"GPU-Hours","UsageQuantity":6}]}';
    const broken = (place: number): WrittenRow[] =>
      ROWS.map((row, index) => (index === place ? { ...row, AllocatedMethodDetails: details } : row));
    for (const place of [1, 3]) {
      const { violations } = await check(broken(place));
      expect(violations).toMatchObject([{ rule: "ratios", row: place + 1, column: "AllocatedMethodDetails" }]);
      expect(violations[0]!.found).toMatch(/^1\.000000000000001 for /);
    }
  });

  it("requires all rows of an origin if nothing was left out, and otherwise at most the whole origin", async () => {
    const some = [ROWS[0]!, ROWS[2]!];
    expect((await check(some, { sums: {} })).violations.map(({ rule, row }) => [rule, row])).toEqual([
      ["ratios", 1],
      ["ratios", 2],
    ]);
    expect((await check(some, { sums: {}, isWhole: false })).count).toBe(0);
    expect((await check([ROWS[0]!, ROWS[0]!], { sums: {}, isWhole: false })).count).toBe(1);
  });

  it.each(Object.keys(SUMS))("finds that %s does not add up to its expected value", async (column) => {
    const { violations } = await check(ROWS, { sums: { ...SUMS, [column]: "5.000000001" } });
    expect(violations).toMatchObject([
      { rule: "sums", column, found: expect.stringMatching(/ and not 5\.000000001$/) as string },
    ]);
  });

  const heads = Object.keys(ROWS[0]!);
  it.each([
    {
      what: "a missing column",
      given: heads.filter((name) => name !== "ChargeClass"),
      rule: "columns",
      column: "ChargeClass",
    },
    { what: "a column that appears twice", given: [...heads, "ListCost"], rule: "columns", column: "ListCost" },
    { what: "a column that FOCUS does not have", given: [...heads, "Team"], rule: "custom-columns", column: "Team" },
    {
      what: "an own column that is not last",
      given: ["x_Before", ...heads],
      rule: "custom-columns",
      column: "x_Before",
    },
  ])("finds $what", async ({ given, rule, column }) => {
    const { violations } = await check(ROWS, {}, given);
    expect(violations).toContainEqual(expect.objectContaining({ rule, column, row: 0 }));
  });

  it.each([
    { what: "FOCUS's columns out of order", first: "AvailabilityZone", second: "BilledCost" },
    { what: "own columns out of order", first: "x_Because", second: "x_CarbonGrams" },
  ])("finds $what in 1.4, and not in 1.3", async ({ first, second }) => {
    const swapped: Readonly<Record<string, string>> = { [first]: second, [second]: first };
    const ordersIn = async (version: FocusVersion): Promise<readonly string[]> => {
      const made = writtenRows([partOf()], { ...SETTING, version })[0]!;
      async function* lines(): AsyncGenerator<WrittenCells> {
        yield Object.keys(made).map((name) => swapped[name] ?? name);
      }
      const { violations } = await checkFocus(lines(), COST_AND_USAGE[version], { sums: {}, isWhole: false });
      return violations.map(({ rule, column }) => `${rule} ${column}`);
    };
    expect([await ordersIn("1.3"), await ordersIn("1.4")]).toEqual([[], [`order ${first}`]]);
  });

  it("finds a row that lacks a cell, and a file without a header", async () => {
    async function* lines(): AsyncGenerator<WrittenCells> {
      yield heads;
      yield heads.slice(1).map((name) => ROWS[0]![name]!);
    }
    const { violations } = await checkFocus(lines(), COST_AND_USAGE["1.3"], { sums: {}, isWhole: false });
    expect(violations).toContainEqual(expect.objectContaining({ rule: "cells", row: 1 }));
    async function* none(): AsyncGenerator<WrittenCells> {}
    expect(await checkFocus(none(), COST_AND_USAGE["1.3"], { sums: {}, isWhole: true })).toMatchObject({
      count: 1,
      violations: [{ rule: "columns" }],
    });
  });

  it("lists the first twenty, with the total number", async () => {
    const many = Array.from({ length: 15 }, () => ({
      ...ROWS[0]!,
      AllocatedMethodDetails: null,
      RegionId: "",
      BillingCurrency: "x",
    }));
    const { count, violations } = await check(many, { sums: {} });
    expect({ count, told: violations.length }).toEqual({ count: 30, told: 20 });
  });
});
