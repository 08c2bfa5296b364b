import { z } from "zod";
import { seesAll } from "../access/viewer.ts";
import { nodeOf, readExportLines } from "../explain/export-lines.ts";
import { explain } from "../explain/read-explanation.ts";
import type { Explanation, Question } from "../explain/explanation.ts";
import { readGpuAt } from "../question/line.ts";
import { objectionTo } from "../question/question.ts";
import { fixedSpan, spanJson } from "../report/json.ts";
import { jsonBody } from "../server/answers.ts";
import { Problem } from "../question/problem.ts";
import { allowed, policyOf, type ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { explanationSchema } from "./schemas.ts";
import { readText, type Words } from "./words.ts";

/** Adds `/explain`: the reasons of charges, down to the samples. */
export function addExplain(server: ApiServer, { ledger, answers, sums }: ApiContext, words: Words): void {
  const { span, kind, where, policy } = words;
  addRoute(server, {
    path: "/explain",
    summary:
      "Explains charges down to the samples: states, owners, prices, workloads, evidence, and the lines with the highest cost.",
    query: z.strictObject({
      span,
      kind,
      where,
      policy,
      line: z
        .string()
        .transform(readText(readGpuAt))
        .optional()
        .describe("A GPU at a moment instead of a span: prod/gpu-a/3@2026-03-02T10:15:00Z."),
    }),
    answer: explanationSchema,
    async handle({ query, request, reply }) {
      const objection = objectionTo({ kind: query.kind, span: query.span.span });
      if (objection !== undefined)
        throw new Problem("wrong-parameter", `kind: ${objection}`, [{ parameter: "kind", message: objection }]);
      const of = { policy: policyOf(ledger, query.policy), where: allowed(query.where, request.viewer) };
      const question: Question =
        query.line === undefined
          ? { ...of, kind: query.kind, span: fixedSpan(query.span.span) }
          : { ...of, ...query.line.line };
      return answers.send(request, reply, async ({ ledgerVersion, store }) =>
        jsonBody({
          ...explanationJson(
            await explain(store, question, { chooseTable: sums.at(ledgerVersion) }),
            ledger.book.currency,
          ),
          exportLines:
            "gpu" in question && seesAll(request.viewer) ? await readExportLines(store, nodeOf(question)) : null,
        }),
      );
    },
  });
}

/** Returns an explanation as JSON, with times in ISO 8601. */
function explanationJson({ question, ...explanation }: Explanation, currency: string): object {
  const { policy, where } = question;
  return { policy, currency, span: "span" in question ? spanJson(question.span) : null, where, ...explanation };
}
