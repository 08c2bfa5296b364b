import { z } from "zod";
import { CHANGE_CAUSES } from "../../domain/change/divide.ts";
import { changeJson } from "../change/change-json.ts";
import { readChange, timeBefore, type Change } from "../change/read-change.ts";
import type { Filter } from "../question/question.ts";
import type { Span } from "../question/span.ts";
import { fixedSpan } from "../report/json.ts";
import { jsonBody } from "../server/answers.ts";
import type { Asking } from "../server/asking.ts";
import { allowed, policyOf, type ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { filterSchema, spanSchema } from "./schemas.ts";
import { decimal, time, type Words } from "./words.ts";

const changeSchema = z
  .object({
    policy: z.string(),
    span: spanSchema,
    comparedWith: spanSchema,
    where: z.array(filterSchema),
    currency: z.string(),
    costBefore: decimal,
    costAfter: decimal,
    change: decimal.describe("The sum of all parts."),
    causes: z.array(
      z.object({ cause: z.enum(CHANGE_CAUSES), cost: decimal, parts: z.number().int().describe("Their number.") }),
    ),
    parts: z
      .array(
        z.object({
          team: z.string(),
          cluster: z.string(),
          namespace: z.string(),
          workloadKind: z.string(),
          workload: z.string().describe("Empty for GPUs that nobody held, and for costs without GPUs."),
          cause: z.enum(CHANGE_CAUSES),
          cost: decimal.describe("Negative if it costs less."),
        }),
      )
      .describe("The largest amount first, whatever its sign."),
    total: z.number().int().describe("The number of all parts."),
    chargedSince: time
      .nullable()
      .describe("The first charge if it is after the beginning of comparedWith, whose cost is then not known in full."),
    rest: decimal.describe("The sum of the parts that are left out."),
  })
  .meta({ id: "Change" });

/** Adds `/change`: the difference between the costs of two spans, divided by its causes. */
export function addChange(server: ApiServer, context: ApiContext, words: Words): void {
  const { ledger, answers } = context;
  const { span, compare, where, policy, limit } = words;
  addRoute(server, {
    path: "/change",
    summary: "Why a cost changed: the difference between two spans, divided exactly by teams, workloads and causes.",
    query: z.strictObject({ span, compare, where, policy, limit }),
    answer: changeSchema,
    handle: ({ query, request, reply }) =>
      answers.send(request, reply, async (asking) => {
        const of = {
          policy: policyOf(ledger, query.policy),
          where: allowed(query.where, request.viewer),
          span: query.span.span,
          compared: query.compare?.span,
        };
        return jsonBody(changeJson(await askChange(context, asking, of), ledger.book.currency, query.limit));
      }),
  });
}

/** Reads a change that pages and the API share while a ledger version is current. Fails like {@link readChange}. */
export async function askChange(
  { answers, sums }: Pick<ApiContext, "answers" | "sums">,
  asking: Asking,
  of: {
    readonly policy: string;
    readonly where: readonly Filter[];
    readonly span: Span;
    /** By default the time before. */
    readonly compared: Span | undefined;
  },
): Promise<Change> {
  const { policy, where, span, compared } = of;
  const before = compared ?? (await timeBefore(asking.store, span));
  const question = { policy, where, before: fixedSpan(before), after: fixedSpan(span) };
  return answers.part(
    asking,
    JSON.stringify(["change", question]),
    (store) => readChange(store, question, sums.at(asking.ledgerVersion)),
    ({ parts }) => parts.length,
  );
}
