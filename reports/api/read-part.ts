import type { ApiContext } from "./context.ts";
import type { Viewer } from "../access/viewer.ts";
import type { ReportQuestion } from "../question/question.ts";
import { readReport } from "../report/read.ts";
import type { Report } from "../report/report.ts";

/** A report that pages and the API share while an edition stands. Fails as `readReport` does. */
export function readPart(
  { store, ledger, answers, days }: Pick<ApiContext, "store" | "ledger" | "answers" | "days">,
  viewer: Viewer,
  edition: string,
  question: ReportQuestion,
): Promise<Report> {
  return answers.part(
    { edition, viewer, key: JSON.stringify(question) },
    () => readReport(store, question, ledger.book.currency, { readGroups: days.at(edition) }),
    ({ rows }) => rows.length,
  );
}
