import { z } from "zod";
import { SEVERITIES, type Finding } from "../../domain/practice/check.ts";
import { CHECK_NAMES } from "../../domain/practice/checks.ts";
import { findingJson } from "../../domain/practice/finding-json.ts";
import { filteredFindings, readPracticeSpends, readPractices } from "../read/practices.ts";
import { jsonBody } from "../server/answers.ts";
import type { Asking } from "../server/asking.ts";
import type { ApiContext } from "./context.ts";
import { addRoute, type ApiServer } from "./route.ts";
import { decimal, time } from "./words.ts";

const practicesSchema = z
  .object({
    at: time,
    days: z.number().int().describe("The days before `at` whose charges are the money at stake."),
    currency: z.string(),
    findings: z.array(
      z.object({
        check: z.string(),
        severity: z.enum(SEVERITIES),
        title: z.string(),
        cluster: z.string(),
        team: z.string().nullable().describe("The team of the objects; null if they belong to the whole cluster."),
        count: z.number().int().describe("The number of all objects."),
        atStake: decimal.nullable().describe("The money at stake of all objects; null for a check without."),
        objects: z
          .array(
            z.object({
              kind: z.string(),
              namespace: z.string(),
              name: z.string(),
              detail: z.string(),
              atStake: decimal.nullable(),
            }),
          )
          .describe("The objects with the most money, at most 20."),
        fixes: z.array(z.string()).describe("Commands or lines of manifests that mend the first objects."),
        why: z.url().describe("The page with the reason."),
      }),
    ),
  })
  .meta({ id: "Practices" });

/** The parameters of the findings, for the API and the page. */
export const practicesQuery = {
  check: z
    .enum(["", ...CHECK_NAMES])
    .optional()
    .describe("Only the findings of a check."),
  severity: z
    .enum(["", ...SEVERITIES])
    .optional()
    .describe("Only the findings of a severity."),
  team: z.string().max(1_000).optional().describe("Only the findings of a team."),
};

/** Adds `/practices`: where the clusters do not follow a practice, and the money at stake. */
export function addPractices(server: ApiServer, context: ApiContext): void {
  const { ledger, answers, practices, now } = context;
  addRoute(server, {
    path: "/practices",
    summary:
      "Where the clusters do not follow a practice: objects, money at stake, how to mend it (most urgent first).",
    query: z.strictObject(practicesQuery),
    answer: practicesSchema,
    handle: ({ query, request, reply }) =>
      answers.sendLive(request, reply, async (asking) => {
        const findings = filteredFindings(await askPractices(context, asking), givenOf(query));
        const { currency } = ledger.book;
        const at = new Date(now()).toISOString();
        return jsonBody({ at, days: practices.days, currency, findings: findings.map(findingJson) });
      }),
  });
}

/**
 * Returns the current findings that a viewer may see. Their charges are of some minutes ago at most. Fails with a `StoreError`.
 */
export async function askPractices(context: ApiContext, asking: Asking): Promise<readonly Finding[]> {
  const { ledger, answers, practices, now } = context;
  const { viewer, store } = asking;
  const { days } = practices;
  const spends = await answers.recentPart(
    asking,
    { key: "charges of practices" },
    (bounded) => readPracticeSpends(bounded, ledger, viewer, { now: now(), days }),
    ({ workloadSpends, nodeSpends }) => workloadSpends.length + nodeSpends.length,
  );
  return readPractices(store, { ledger, practices, viewer, now: now(), spends });
}

/** Returns the conditions of a question. A form sends an empty text for a condition that was not chosen. */
export function givenOf<Query extends Readonly<Record<string, string | undefined>>>(query: Query): Query {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "")) as Query;
}
