import type { ApiContext } from "./context.ts";
import type { Viewer } from "../access/viewer.ts";
import type { ChargesQuestion, ReportQuestion } from "../question/question.ts";
import { readReports } from "../report/read-report.ts";
import type { Report } from "../report/report.ts";
import type { Asking } from "../server/asking.ts";

type PartContext = Pick<ApiContext, "ledger" | "answers" | "sums">;

/** Reads a report that pages and the API share while a ledger version is current. Fails like `readReport`. */
export async function readPart(
  context: PartContext,
  asking: Asking,
  { by, ...question }: ReportQuestion,
): Promise<Report> {
  const [report] = await readParts(context, asking, question, [by]);
  return report!;
}

/** Reads one report for each list of dimensions, with one query of the store. */
export function readParts(
  { ledger, answers, sums }: PartContext,
  asking: Asking,
  question: ChargesQuestion,
  bys: readonly (readonly string[])[],
): Promise<readonly Report[]> {
  return answers.part(
    asking,
    keyOf(question, bys),
    (store) => readReports(store, question, bys, ledger.book, { chooseTable: sums.at(asking.ledgerVersion) }),
    (reports) => reports.reduce((count, { rows }) => count + rows.length, 0),
  );
}

/** Returns the report of {@link readPart} for a ledger version that may have ended; undefined if it is not remembered. */
export async function readPastPart(
  { answers }: Pick<PartContext, "answers">,
  viewer: Viewer,
  ledgerVersion: string,
  { by, ...question }: ReportQuestion,
): Promise<Report | undefined> {
  const reports = await answers.pastPart<readonly Report[]>({ ledgerVersion, viewer, key: keyOf(question, [by]) });
  return reports?.[0];
}

function keyOf(question: ChargesQuestion, bys: readonly (readonly string[])[]): string {
  return JSON.stringify([question, bys]);
}
