import { labelOfDimension } from "../../domain/charge/dimension.ts";
import type { ChargesQuestion } from "../question/question.ts";

/** What charges are added up from: their lines, or sums that were made of them. Columns are called the same in each. */
export interface ChargesTable {
  readonly name: string;
  /** In ClickHouse's SQL: how many lines there are, and whether somebody holds what they are of. */
  readonly lines: string;
  readonly held: string;
  /** What the dearest line of a row costs; undefined where rows are lines. */
  readonly dearest: string | undefined;
}

/** Chooses what a question is answered from that asks for these dimensions beside its own. Fails with a `StoreError`. */
export type ChooseTable = (question: ChargesQuestion, dimensions: readonly string[]) => Promise<ChargesTable>;

/** The ledger itself. */
export const LINES: ChargesTable = {
  name: "charges_published",
  lines: "count()",
  held: "holder != ''",
  dearest: undefined,
};

/** Answers everything from the ledger itself. */
export const fromLines: ChooseTable = () => Promise.resolve(LINES);

const SUMS: ChargesTable = { name: "charge_sums_published", lines: "sum(lines)", held: "is_held", dearest: "dearest" };
const WORKLOAD_SUMS: ChargesTable = { ...SUMS, name: "charge_workload_sums_published" };

/** What lines alone tell, beside labels. */
const OF_LINES: ReadonlySet<string> = new Set(["node", "gpu", "pod"]);

/** The smallest table that tells some dimensions. */
export function smallestTable(dimensions: readonly string[]): ChargesTable {
  if (dimensions.some((name) => OF_LINES.has(name) || labelOfDimension(name) !== undefined)) return LINES;
  return dimensions.includes("workload") ? WORKLOAD_SUMS : SUMS;
}
