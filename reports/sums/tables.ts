import { labelOfDimension } from "../../domain/charge/dimension.ts";
import type { StoreParameters } from "../../runtime/store/store-parameters.ts";
import type { ChargesQuestion } from "../question/question.ts";

/** The source of added charges: lines, or sums of lines. Columns have the same names in each. */
export interface ChargesTable {
  readonly name: string;
  /** The condition on its rows in ClickHouse's SQL, with the values of its placeholders. */
  readonly where: string;
  readonly parameters: StoreParameters;
  /** The SQL of the number of lines, and of whether a holder exists. */
  readonly lines: string;
  readonly held: string;
  /** The SQL of the highest line cost in a row; undefined if rows are lines. */
  readonly highestCost: string | undefined;
}

/** Returns the table for a question with further dimensions. Fails with a `StoreError`. */
export type ChooseTable = (question: ChargesQuestion, dimensions: readonly string[]) => Promise<ChargesTable>;

/** The ledger's lines. */
export const LINES: ChargesTable = {
  name: "charges_published",
  where: "true",
  parameters: {},
  lines: "count()",
  held: "holder != ''",
  highestCost: undefined,
};

/** Always returns the ledger's lines. */
export const fromLines: ChooseTable = () => Promise.resolve(LINES);

/** The tables of sums. */
export type SumsTable = "charge_sums" | "charge_workload_sums";

/** Dimensions that only lines have, beside labels. */
const OF_LINES: ReadonlySet<string> = new Set(["node", "gpu", "pod"]);

/** Returns the smallest table of sums that has some dimensions; undefined if only lines have them. */
export function smallestTable(dimensions: readonly string[]): SumsTable | undefined {
  if (dimensions.some((name) => OF_LINES.has(name) || labelOfDimension(name) !== undefined)) return undefined;
  return dimensions.includes("workload") ? "charge_workload_sums" : "charge_sums";
}

/** Returns some parts of a table of sums, with the changes by closings to lines that waited to be spread. */
export function partsOf(
  name: SumsTable,
  { parts, closed }: { readonly parts: readonly string[]; readonly closed: readonly string[] },
): ChargesTable {
  return {
    name,
    where: "part_id IN {parts:Array(UUID)} AND NOT (payer = 'spread' AND billing_period IN {closed:Array(Date)})",
    parameters: { parts, closed },
    lines: "sum(lines)",
    held: "is_held",
    highestCost: "dearest",
  };
}
