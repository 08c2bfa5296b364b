import { z } from "zod";
import type { EnergyFactors } from "../../domain/energy/factors.ts";
import { compare, ONE, parseDecimal, ZERO, type Rational } from "../../domain/exact/rational.ts";
import { instant } from "./instant.ts";
import { list } from "./words.ts";

/** Returns a schema for a quoted decimal of at least `least`, kept as text. */
function decimal(least: Rational, example: string): z.ZodType<string, string> {
  const allowed = `a decimal in quotes, ${least.num} or more, such as "${example}"`;
  return z
    .string({ error: allowed })
    .refine(
      (given) => {
        const parsed = parseDecimal(given);
        return "value" in parsed && compare(parsed.value, least) >= 0;
      },
      { error: allowed },
    )
    .meta({ description: allowed });
}

/** The schema of the energy factors: the power usage effectiveness of the site, and grams of CO₂e per kWh from a date on. */
export const energy = z.strictObject({
  pue: decimal(ONE, "1.4").default("1").describe("Power usage effectiveness of the site."),
  gramsPerKWh: list(z.strictObject({ from: instant, grams: decimal(ZERO, "380") }))
    .default([])
    .describe("Grams of CO₂e per kWh. Each value is valid from its date."),
});

/** Returns the factors of a parsed configuration. */
export function factorsOf({ pue, gramsPerKWh }: z.output<typeof energy>): EnergyFactors {
  const byTime = gramsPerKWh.toSorted((a, b) => a.from - b.from);
  return {
    pue: exact(pue),
    gramsPerKWh: byTime.map(({ from, grams }) => ({ fromMillis: from, grams: exact(grams) })),
  };
}

function exact(text: string): Rational {
  const parsed = parseDecimal(text);
  if ("value" in parsed) return parsed.value;
  throw new TypeError(`${text} is ${parsed.error}`);
}

/** Adds an issue for two values that begin at the same moment, because they contradict each other. */
export function checkEnergy(given: z.output<typeof energy> | undefined, context: z.RefinementCtx): void {
  const seen = new Set<number>();
  given?.gramsPerKWh.forEach(({ from }, index) => {
    const path = ["energy", "gramsPerKWh", index, "from"];
    if (seen.has(from)) context.addIssue({ code: "custom", path, message: "a moment that no other value begins at" });
    seen.add(from);
  });
}
