import { groupedBy } from "../../../domain/grouped.ts";
import type { LeftOut, OpenCostPrices } from "./carried.ts";

/** The most names of left-out values in a comment. */
const MOST_NAMES = 5;

/** Returns the prices of OpenCost as a price book in YAML. Comments have what is left out, with the reasons. */
export function bookText(
  { prices, leftOut, notes }: OpenCostPrices,
  of: { readonly currency: string; readonly from: string; readonly file: string },
): string {
  const entries = prices.map(({ match, per, list }) => `  - ${JSON.stringify({ match, from: of.from, per, list })}`);
  return [
    `# The prices of OpenCost in ${JSON.stringify(of.file)}. docs/prices.md explains the entries.`,
    ...notes.map((note) => `# ${note}`),
    ...leftOutLines(leftOut).map((line) => `# ${line}`),
    `currency: ${of.currency}`,
    "prices:",
    ...entries,
    "",
  ].join("\n");
}

/** Returns a line with the count of left-out values, and a line for each reason. Line breaks of the file become blanks. */
export function leftOutLines(leftOut: readonly LeftOut[]): readonly string[] {
  if (leftOut.length === 0) return [];
  const reasons = [...groupedBy(leftOut, ({ why }) => why)].map(([why, group]) => {
    const names = group.slice(0, MOST_NAMES).map(({ what }) => what.replaceAll(/\s+/g, " "));
    const more = group.length > MOST_NAMES ? `, and ${group.length - MOST_NAMES} more` : "";
    return `  ${group.length}: ${why} (${names.join(", ")}${more})`;
  });
  return [`Left out: ${leftOut.length}`, ...reasons];
}
