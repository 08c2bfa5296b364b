import { z } from "zod";
import { questionText } from "../question/question.ts";
import { jsonBody } from "../server/answers.ts";
import { readStatements, type MonthStatements } from "../read/statements.ts";
import { allowed, policyOf, type ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { statementsSchema } from "./schemas.ts";
import type { Words } from "./words.ts";

/** Adds `/statements`: the amount that each team and cost center pays for a month. */
export function addStatements(server: ApiServer, { ledger, answers, sums }: ApiContext, words: Words): void {
  addRoute(server, {
    path: "/statements",
    summary: "The cost of a month by team and cost center: exact, and posted if the month is closed.",
    query: z.strictObject({
      period: words.period,
      policy: words.policy,
      team: z.string().optional().describe("One team. platform and unowned are teams too."),
    }),
    answer: statementsSchema,
    async handle({ query: { period, team, ...query }, request, reply }) {
      const own = team === undefined ? [] : [{ dimension: "team", values: [team] }];
      const of = { period, policy: policyOf(ledger, query.policy), where: allowed(own, request.viewer) };
      return answers.send(request, reply, async ({ ledgerVersion, store }) =>
        jsonBody(withExplanations(await readStatements(store, of, ledger.book.currency, sums.at(ledgerVersion)), of)),
      );
    },
  });
}

function withExplanations(
  { statements, ...month }: MonthStatements,
  { period, policy }: { readonly period: Parameters<typeof questionText>[0]["span"]; readonly policy: string },
): object {
  const kind = "chargeback";
  return {
    ...month,
    statements: statements.map((statement) => {
      const { team, costCenter } = statement;
      const where = [
        { dimension: "team", values: [team] },
        { dimension: "costCenter", values: [costCenter] },
      ];
      return { ...statement, explain: `explain?${questionText({ policy, kind, span: period, where })}` };
    }),
  };
}
