import type { ServingLine } from "../domain/serving/line.ts";
import { isServingDimension, type ServingDimension } from "../domain/serving/dimension.ts";
import type { SplitRule } from "../domain/serving/split-rule.ts";
import { LAST_UNITS_IN_ONE, lastUnits, type Amount, type Quantity } from "../domain/exact/units.ts";
import { groupedBy } from "../domain/grouped.ts";
import { groupKey, type Dimensions } from "./dimensions.ts";

/** The amounts of a line of a service that a scenario can expect. */
export const SERVED_AMOUNTS = [
  "cost",
  "gpuHours",
  "saved",
  "gatewayPrice",
  "computedTokens",
  "cachedTokens",
  "generatedTokens",
  "requests",
  "inferences",
  "excessTokens",
] as const;

/** Exact amounts in last units. Counts are in last units too, so that all amounts are compared alike. */
export type ServedAmounts = Readonly<Record<(typeof SERVED_AMOUNTS)[number], Amount<Quantity>>>;

/** A sum of lines of services that are equal in some dimensions. */
export interface ServedGroup {
  readonly dimensions: Dimensions;
  readonly amounts: ServedAmounts;
}

/** A line of a service with the rule that split it. */
export type ServedLine = ServingLine & { readonly rule: SplitRule };

/** Adds up the lines that are equal in the given dimensions, in the order of the dimensions' values. */
export function groupServed(lines: readonly ServedLine[], by: readonly string[]): readonly ServedGroup[] {
  const valuesOf = (line: ServedLine): readonly string[] => by.map((name) => (isOfLine(name) ? line[name] : ""));
  return [...groupedBy(lines, (line) => groupKey(valuesOf(line)))]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, [first, ...others]]) => ({
      dimensions: Object.fromEntries(by.map((name, index) => [name, valuesOf(first)[index]!])),
      amounts: Object.fromEntries(
        SERVED_AMOUNTS.map((name) => [
          name,
          lastUnits([first, ...others].reduce((total, line) => total + amountOf(line, name), 0n)),
        ]),
      ) as unknown as ServedAmounts,
    }));
}

type LineDimension = Exclude<ServingDimension, "chargeDay" | "chargePeriod" | "billingPeriod">;

/** Returns whether a name is a dimension that a line itself has. */
function isOfLine(name: string): name is LineDimension {
  return isServingDimension(name) && !["chargeDay", "chargePeriod", "billingPeriod"].includes(name);
}

function amountOf({ amounts, counts, saved }: ServedLine, name: (typeof SERVED_AMOUNTS)[number]): bigint {
  if (name === "cost") return amounts.effective ?? 0n;
  if (name === "gpuHours") return amounts.gpuHours ?? 0n;
  if (name === "saved") return saved;
  if (name === "gatewayPrice") return BigInt(counts.spendNanos);
  return BigInt(counts[name]) * LAST_UNITS_IN_ONE;
}
