import { FOCUS_VERSIONS } from "../../../../domain/focus-version.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lastUnits } from "../../../../domain/exact/units.ts";
import { COST_AND_USAGE } from "../../../../reports/focus/check/dataset.ts";
import { METHOD_DETAILS } from "../../../../reports/focus/check/objects.ts";
import { checkFocus, type WrittenCells } from "../../../../reports/focus/check/check.ts";
import type { Part } from "../../../../reports/focus/part.ts";
import { freePart, GPU, partOf, SETTING, writtenRows } from "../../../support/focus-parts.ts";

/** Held time, free time, and free time that was spread over a team, of one origin at one price. */
const quantity = fc.bigInt({ min: 1n, max: 24_000_000_000n });
const signed = fc.bigInt({ min: -24_000_000_000n, max: 24_000_000_000n });
const parts = (of: fc.Arbitrary<bigint>, isCorrection: boolean): fc.Arbitrary<readonly [Part, ...Part[]]> =>
  fc
    .array(fc.tuple(of, fc.constantFrom("held", "free", "spread")), { minLength: 1, maxLength: 8 })
    .map((all) =>
      all.map(([hours, kind], index) => {
        const cost = lastUnits<"currency">(hours * 3n);
        const origin = { ...GPU, isCorrection };
        const sums = { origin, gpuHours: lastUnits<"gpu-hour">(hours), list: cost, contracted: cost, effective: cost };
        const more = { ...sums, team: `team-${index}`, lines: 1 };
        if (kind === "held") return partOf({ ...more, holder: `uid-${index}` });
        return freePart({ ...more, payer: kind === "free" ? "platform" : "holder" });
      }),
    )
    .map((all) => all as unknown as readonly [Part, ...Part[]]);

describe.each(FOCUS_VERSIONS)("rows of any origin in FOCUS %s", (version) => {
  const setting = { ...SETTING, version };
  const detailsOf = (row: Readonly<Record<string, string | null>>): unknown =>
    JSON.parse(row["AllocatedMethodDetails"] ?? "null");

  it("have ratios from 0 to 1 that sum to 1, also of spread parts, and pass the check", async () => {
    await fc.assert(
      fc.asyncProperty(parts(quantity, false), async (all) => {
        const rows = writtenRows(all, setting);
        expect(rows.map(detailsOf).every(METHOD_DETAILS)).toBe(true);
        async function* lines(): AsyncGenerator<WrittenCells> {
          yield Object.keys(rows[0]!);
          for (const row of rows) yield Object.values(row);
        }
        const outcome = await checkFocus(lines(), COST_AND_USAGE[version], { sums: {}, isWhole: true });
        expect(outcome.violations).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("have no ratio outside of 0 and 1 in corrections, whatever their signs", () => {
    fc.assert(
      fc.property(parts(signed, true), (all) => {
        for (const row of writtenRows(all, setting)) expect(row["AllocatedMethodDetails"]).toBeNull();
      }),
      { numRuns: 200 },
    );
  });
});
