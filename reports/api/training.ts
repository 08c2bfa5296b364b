import { z } from "zod";
import { spanJson } from "../report/json.ts";
import { jsonBody } from "../server/answers.ts";
import type { Asking } from "../server/asking.ts";
import { Problem } from "../question/problem.ts";
import type { Span } from "../question/span.ts";
import { readRunDetail, type RunDetail } from "../training/read-detail.ts";
import { readIncidents, type NodeIncident } from "../training/read-incidents.ts";
import {
  byCost,
  readRunReports,
  runRulesOf,
  type ChargedRun,
  type TrainingQuestion,
} from "../training/read-reports.ts";
import { readRuns } from "../training/read-runs.ts";
import { incidentJson, incidentSumsJson, runDetailJson, runJson } from "../training/json.ts";
import { allowed, policyOf, type ApiContext } from "./context.ts";
import { cursorText, pageGone, readCursor } from "./page.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { incidentsSchema, runDetailSchema, runsSchema } from "./training-schemas.ts";
import type { Words } from "./words.ts";

/** Adds `/training/runs`, `/training/run` and `/training/incidents`: the bills of training runs, and the cost of faults. */
export function addTraining(server: ApiServer, context: ApiContext, words: Words): void {
  const { ledger, answers } = context;
  const { currency } = ledger.book;
  const { span, policy, limit, cursor } = words;
  addRoute(server, {
    path: "/training/runs",
    summary: "Training runs that existed in a span, whole, with the parts of their bills (highest cost first).",
    query: z.strictObject({ span, team: teamQuery, policy, limit, cursor }),
    answer: runsSchema,
    handle: ({ query, request, reply }) =>
      answers.send(request, reply, async (asking) => {
        const of = { ...query, policy: policyOf(ledger, query.policy) };
        const runs = await askRuns(context, asking, { ...of, span: query.span.span });
        const { page, next } = pageOf(runs, query, asking.ledgerVersion);
        return jsonBody({ policy: of.policy, currency, count: runs.length, runs: page.map(runJson), next });
      }),
  });
  addRoute(server, {
    path: "/training/run",
    summary: "The report of a training run: its bill, its stops, its efficiency, one suggestion.",
    query: z.strictObject({ id: runIdQuery, policy }),
    answer: runDetailSchema,
    handle: ({ query, request, reply }) =>
      answers.send(request, reply, async (asking) => {
        const of = { id: query.id, policy: policyOf(ledger, query.policy) };
        return jsonBody({ policy: of.policy, currency, ...runDetailJson(await askRun(context, asking, of)) });
      }),
  });
  addRoute(server, {
    path: "/training/incidents",
    summary: "Faults of nodes and stops of training runs that began in a span, with their cost (highest cost first).",
    query: z.strictObject({ span, policy, limit, cursor }),
    answer: incidentsSchema,
    handle: ({ query, request, reply }) =>
      answers.send(request, reply, async (asking) => {
        const of = { span: query.span.span, policy: policyOf(ledger, query.policy) };
        const incidents = await askIncidents(context, asking, of);
        const { page, next } = pageOf(incidents, query, asking.ledgerVersion);
        return jsonBody({
          policy: of.policy,
          currency,
          span: spanJson(of.span),
          ...incidentSumsJson(incidents),
          incidents: page.map(incidentJson),
          next,
        });
      }),
  });
}

/** The parameters of the routes and the pages. */
export const teamQuery = z.string().max(500).optional().describe("Only runs of a team.");
export const runIdQuery = z.string().min(1).max(2_000).describe("The id of a run, as `/training/runs` has it.");

/**
 * Returns the runs of a span that a viewer may see, highest cost first. They are read once for each ledger version. Fails with a
 * `StoreError`.
 */
export async function askRuns(
  context: ApiContext,
  asking: Asking,
  of: { readonly span: Span; readonly policy: string; readonly team?: string | undefined },
): Promise<readonly ChargedRun[]> {
  const question = questionOf(context, asking, of.policy);
  const runs = await context.answers.part(
    asking,
    `training runs ${JSON.stringify([of.span.from, of.span.until, of.policy])}`,
    async (store) => {
      const found = await readRuns(store, runRulesOf(context.training), of.span);
      return (await readRunReports(store, found, question)).toSorted(byCost);
    },
    (reports) => reports.reduce((sum, { run }) => sum + 1 + run.pods.length, 0),
  );
  return of.team === undefined || of.team === "" ? runs : runs.filter(({ team }) => team === of.team);
}

/** Returns the report of a run. Fails with a {@link Problem} if there is none that the viewer may see, and with a `StoreError`. */
export async function askRun(
  context: ApiContext,
  asking: Asking,
  { id, policy }: { readonly id: string; readonly policy: string },
): Promise<RunDetail> {
  const detail = await readRunDetail(asking.store, id, questionOf(context, asking, policy));
  if (detail === undefined) throw new Problem("not-found", "there is no training run with this id and charges");
  return detail;
}

/**
 * Returns the incidents of a span that a viewer may see, highest cost first. They are read once for each ledger version. Fails with a
 * `StoreError`.
 */
export async function askIncidents(
  context: ApiContext,
  asking: Asking,
  { span, policy }: { readonly span: Span; readonly policy: string },
): Promise<readonly NodeIncident[]> {
  const question = questionOf(context, asking, policy);
  return context.answers.part(
    asking,
    `incidents ${JSON.stringify([span.from, span.until, policy])}`,
    async (store) => (await readIncidents(store, span, question)).toSorted(byCost),
    (incidents) => incidents.length,
  );
}

function questionOf(
  { training, trainingMetrics: metrics, now }: ApiContext,
  { viewer }: Asking,
  policy: string,
): TrainingQuestion {
  return { policy, where: allowed([], viewer), training, metrics, now: now() };
}

/** Returns the page of a cursor, and the cursor of the next page. Fails with a {@link Problem} if the figures have changed since. */
function pageOf<Row>(
  rows: readonly Row[],
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  ledgerVersion: string,
): { readonly page: readonly Row[]; readonly next: string | null } {
  const at = cursor === undefined ? 0 : readCursor(cursor).at;
  if (cursor !== undefined && readCursor(cursor).ledgerVersion !== ledgerVersion) throw pageGone();
  const next = at + limit < rows.length ? cursorText({ ledgerVersion, at: at + limit }) : null;
  return { page: rows.slice(at, at + limit), next };
}
