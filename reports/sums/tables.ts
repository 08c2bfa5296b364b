import { labelOfDimension } from "../../domain/charge/dimension.ts";
import type { StoreParameters } from "../../runtime/store/client.ts";
import type { ChargesQuestion } from "../question/question.ts";

/** What charges are added up from: their lines, or sums that were made of them. Columns are called the same in each. */
export interface ChargesTable {
  readonly name: string;
  /** Which of its rows count, in ClickHouse's SQL, with the values of its placeholders. */
  readonly where: string;
  readonly parameters: StoreParameters;
  /** How many lines there are, and whether somebody holds what they are of. */
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
  where: "true",
  parameters: {},
  lines: "count()",
  held: "holder != ''",
  dearest: undefined,
};

/** Answers everything from the ledger itself. */
export const fromLines: ChooseTable = () => Promise.resolve(LINES);

/** The tables that sums are in. */
export type SumsTable = "charge_sums" | "charge_workload_sums";

/** What lines alone tell, beside labels. */
const OF_LINES: ReadonlySet<string> = new Set(["node", "gpu", "pod"]);

/** The smallest table of sums that tells some dimensions; undefined where only lines do. */
export function smallestTable(dimensions: readonly string[]): SumsTable | undefined {
  if (dimensions.some((name) => OF_LINES.has(name) || labelOfDimension(name) !== undefined)) return undefined;
  return dimensions.includes("workload") ? "charge_workload_sums" : "charge_sums";
}

/** Some parts of a table of sums, with what closings did to lines that waited to be spread. */
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
    dearest: "dearest",
  };
}
