import { z } from "zod";
import { perMonth } from "../../domain/advice/card-json.ts";
import type { Window } from "../../domain/advice/evidence.ts";
import { formatAmount, sum } from "../../domain/exact/units.ts";
import { isoText } from "../../domain/time.ts";
import { seesAll, type Viewer } from "../access/viewer.ts";
import { cardJson, windowJson } from "../advice/stored-card-json.ts";
import { outcomeJson } from "../advice/outcome-json.ts";
import {
  readAdviceCard,
  readAdviceCards,
  readAdviceRun,
  readAdviceSums,
  type AdviceRun,
  type AdviceSum,
  type StoredCard,
} from "../advice/read-cards.ts";
import { readCameTrue } from "../advice/came-true.ts";
import { jsonBody } from "../server/answers.ts";
import { adviceSchema, cardKindSchema, outcomesSchema } from "./advice-schemas.ts";
import type { ApiContext } from "./context.ts";
import { pageGone, readCursorOf, writeCursor } from "./page.ts";
import { addRoute, type ApiServer } from "./route.ts";
import type { Words } from "./words.ts";

/** The run of the first page, and the number of cards before the page. */
const position = z.tuple([z.string().max(100), z.number().int().min(0)]);

/** Adds `/advice`: the cards of a window with their savings, or one card with the hours of its window, and `/advice/outcomes`. */
export function addAdvice(server: ApiServer, { ledger, answers, now }: ApiContext, words: Words): void {
  const { currency } = ledger.book;
  addRoute(server, {
    path: "/advice",
    summary: "Recommended changes with the savings that they would have had (highest first), or one of them.",
    query: z.strictObject({
      team: z.string().max(500).optional().describe("Only cards of a team."),
      kind: cardKindSchema.optional().describe("Only cards of a kind."),
      id: z.string().max(100).optional().describe("One card with its hours, of the newest run that has the card."),
      until: z.iso.date().optional().describe("The end of the window, such as 2026-03-31. Default: the latest."),
      all: z.literal("true").optional().describe("Dismissed cards too."),
      limit: words.limit,
      cursor: words.cursor,
    }),
    answer: adviceSchema,
    async handle({ query, request, reply }) {
      const { team, kind, id, until, all, limit, cursor } = query;
      const { viewer } = request;
      const [runOfFirst, offset] = cursor === undefined ? [undefined, 0] : readCursorOf(position, cursor);
      return answers.send(request, reply, async ({ store }) => {
        if (id !== undefined) {
          const found = await readAdviceCard(store, id, viewer);
          const cards = found === undefined ? [] : [cardJson(found.stored)];
          const total = totalOf(found === undefined ? [] : [sumOf(found.stored)], found?.run.window);
          return jsonBody({ currency, run: runJson(found?.run, viewer), total, cards, next: null });
        }
        const run = await readAdviceRun(store, until === undefined ? undefined : Date.parse(until));
        if (runOfFirst !== undefined && runOfFirst !== run?.id) throw pageGone();
        if (run === undefined)
          return jsonBody({ currency, run: null, total: totalOf([], undefined), cards: [], next: null });
        const seeing = { teams: viewer.teams, now: now() };
        const asked = { team, kind, withDismissed: all === "true", limit: limit + 1, offset };
        const [sums, found] = await Promise.all([
          readAdviceSums(store, run, seeing),
          readAdviceCards(store, run, seeing, asked),
        ]);
        const ofAsked = sums.filter(
          (each) => (team === undefined || each.team === team) && (kind === undefined || each.kind === kind),
        );
        return jsonBody({
          currency,
          run: runJson(run, viewer),
          total: totalOf(ofAsked, run.window, all === "true"),
          cards: found.slice(0, limit).map(cardJson),
          next: found.length > limit ? writeCursor([run.id, offset + limit]) : null,
        });
      });
    },
  });
  addRoute(server, {
    path: "/advice/outcomes",
    summary: "What cards promised that have ended or were marked as taken, and what came (largest promise first).",
    query: z.strictObject({}),
    answer: outcomesSchema,
    async handle({ request, reply }) {
      const of = { policy: ledger.policies[0].name, teams: request.viewer.teams };
      return answers.send(request, reply, async ({ store }) => {
        const outcomes = await readCameTrue(store, { ...of, now: now() });
        return jsonBody({ currency, outcomes: outcomes.map(outcomeJson) });
      });
    },
  });
}

function runJson(run: AdviceRun | undefined, viewer: Viewer): object | null {
  if (run === undefined) return null;
  const { window, madeAt, seconds, workloads, refusals } = run;
  const counts = seesAll(viewer) ? { workloads, refusals } : { workloads: null, refusals: null };
  return { window: windowJson(window), madeAt: isoText(madeAt), seconds, ...counts };
}

function totalOf(sums: readonly AdviceSum[], window: Window | undefined, withDismissed = false): object {
  const shown = sums.filter(({ isDismissed }) => withDismissed || !isDismissed);
  const count = (of: readonly AdviceSum[]): number => of.reduce((total, { cards }) => total + cards, 0);
  const of = (name: "owner" | "freed" | "organization" | "organizationIfFreedLeave") =>
    sum(shown.map((each) => each[name]));
  const owner = of("owner");
  return {
    cards: count(shown),
    dismissed: count(sums) - count(shown),
    owner: formatAmount(owner),
    ownerPerMonth: window === undefined ? "0" : formatAmount(perMonth(owner, window)),
    freed: formatAmount(of("freed")),
    organization: formatAmount(of("organization")),
    organizationIfFreedLeave: formatAmount(of("organizationIfFreedLeave")),
  };
}

function sumOf({ card: { subject, kind, saving } }: StoredCard): AdviceSum {
  return { team: subject.team, kind, isDismissed: false, cards: 1, ...saving };
}
