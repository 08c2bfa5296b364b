import { z } from "zod";
import { reconcile } from "../reconcile/reconcile.ts";
import { statementsOf } from "../reconcile/statement.ts";
import { jsonBody } from "../server/answers.ts";
import { policyOf, type ApiContext } from "./context.ts";
import { invoicesSchema } from "./invoices-schema.ts";
import { addRoute, type ApiServer } from "./route.ts";
import type { Words } from "./words.ts";

/** Adds `/invoices`: a month of the exports of providers' bills, reconciled. */
export function addInvoices(server: ApiServer, { ledger, answers }: ApiContext, words: Words): void {
  addRoute(server, {
    path: "/invoices",
    summary: "Where each part of a month's bill of the providers went, and what it has that no node was.",
    query: z.strictObject({ period: words.period }),
    answer: invoicesSchema,
    async handle({ query: { period }, request, reply }) {
      return answers.send(request, reply, async ({ store }) => {
        const month = await reconcile(store, { period, policy: policyOf(ledger, undefined) });
        const { machines, freeNodes, charged, doubled } = month;
        const accounts = statementsOf(month);
        return jsonBody({ billingPeriod: period.name, accounts, machines, freeNodes, charged, doubled });
      });
    },
  });
}
