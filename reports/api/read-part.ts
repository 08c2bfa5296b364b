import type { ApiContext } from "./context.ts";
import type { Viewer } from "../access/viewer.ts";
import type { ReportQuestion } from "../question/question.ts";
import { readReport } from "../report/read.ts";
import type { Report } from "../report/report.ts";

/** A report that pages and the API share while an edition stands. Fails as `readReport` does. */
export function readPart(
  { store, ledger, answers, sums }: Pick<ApiContext, "store" | "ledger" | "answers" | "sums">,
  viewer: Viewer,
  edition: string,
  question: ReportQuestion,
): Promise<Report> {
  return answers.part(
    { edition, viewer, key: JSON.stringify(question) },
    () => readReport(store, question, ledger.book.currency, { chooseTable: sums.at(edition) }),
    ({ rows }) => rows.length,
  );
}
