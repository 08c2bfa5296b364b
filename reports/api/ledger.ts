import { z } from "zod";
import { readAllocations } from "../read/allocations.ts";
import { findUnowned } from "../read/unowned.ts";
import { readPeriods } from "../read/periods.ts";
import { shownEntries } from "../read/price-entries.ts";
import { jsonBody } from "../server/answers.ts";
import { spanJson, fixedSpan } from "../report/json.ts";
import { allowed, policyOf, type ApiContext } from "./context.ts";
import { readCursorOf, writeCursor } from "./page.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { allocationsSchema, ownersSchema, periodsSchema, pricesSchema } from "./schemas.ts";
import type { Words } from "./words.ts";

const name = z.string().max(1_000);
const position = z.tuple([name, name, z.number().int().min(0), name, name, name]);

/** Adds `/allocations`, `/periods`, `/prices`, `/owners`: the sources and rules of charges. */
export function addLedger(server: ApiServer, context: ApiContext, words: Words): void {
  const { ledger, answers, now } = context;

  addRoute(server, {
    path: "/allocations",
    summary: "The holders of GPUs in a time, by cluster, node and GPU, with evidence and cost.",
    query: z.strictObject({
      span: words.span,
      where: words.where,
      policy: words.policy,
      limit: words.limit,
      cursor: words.cursor,
    }),
    answer: allocationsSchema,
    async handle({ query, request, reply }) {
      const { limit, cursor } = query;
      const span = fixedSpan(query.span.span);
      const where = allowed(query.where, request.viewer);
      const question = { policy: policyOf(ledger, query.policy), kind: "showback", span, where } as const;
      const after = cursor === undefined ? undefined : readCursorOf(position, cursor);
      return answers.send(request, reply, async ({ store }) => {
        const { rows, next } = await readAllocations(store, question, { after, rows: limit });
        const { policy } = question;
        const { currency } = ledger.book;
        const cursorOfNext = next === undefined ? null : writeCursor(next);
        return jsonBody({ policy, currency, span: spanJson(span), where, allocations: rows, next: cursorOfNext });
      });
    },
  });

  addRoute(server, {
    path: "/periods",
    summary:
      "Billing periods (newest first) with their status and the person who closed them. Only finance sees the sums of all teams.",
    query: z.strictObject({}),
    answer: periodsSchema,
    async handle({ request, reply }) {
      const { teams } = request.viewer;
      return answers.send(request, reply, async ({ store }) => {
        const periods = await readPeriods(store, { closingDay: ledger.closing.day, now: now() });
        const seen = teams === "all" ? periods : periods.map(withoutSums);
        return jsonBody({ currency: ledger.book.currency, periods: seen });
      });
    },
  });

  addRoute(server, {
    path: "/prices",
    summary: "The price book: all entries with their dates, matches and unit prices.",
    query: z.strictObject({}),
    answer: pricesSchema,
    async handle({ request, reply }) {
      const { currency, markup } = ledger.book;
      const body = { currency, entries: shownEntries(ledger.book), markup: markup.map(({ team }) => team) };
      return answers.send(request, reply, () => Promise.resolve(jsonBody(body)));
    },
  });

  addRoute(server, {
    path: "/owners",
    summary: "Workloads without a team in a time (highest cost first), and the register of teams.",
    query: z.strictObject({ span: words.span }),
    answer: ownersSchema,
    async handle({ query, request, reply }) {
      const { from, until } = query.span.span;
      const { owners, policies, book } = ledger;
      return answers.send(request, reply, async ({ store }) => {
        const unowned = await findUnowned(store, owners, { policy: policies[0].name, from, until });
        const register = owners.register === undefined ? null : [...owners.register];
        return jsonBody({ currency: book.currency, span: spanJson(fixedSpan(query.span.span)), register, ...unowned });
      });
    },
  });
}

function withoutSums<Of extends { readonly closed: object | null }>(period: Of): object {
  const { closed, ...rest } = period;
  if (closed === null) return period;
  const { by, at } = closed as { readonly by: string; readonly at: string };
  return { ...rest, closed: { by, at } };
}
