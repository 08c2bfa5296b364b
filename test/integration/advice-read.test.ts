import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Card } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { formatAmount, sum } from "../../domain/exact/units.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import { keepCards } from "../../processors/ledger/advice/keep-cards.ts";
import type { Advice } from "../../processors/ledger/advice/make-cards.ts";
import { readMarks, writeMark } from "../../reports/advice/marks.ts";
import {
  readAdviceCard,
  readAdviceCards,
  readAdviceRun,
  readAdviceSums,
  type AdviceRun,
  type Seeing,
} from "../../reports/advice/read-cards.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOSTILE } from "../support/pages-fleet.ts";
import { VISION } from "../support/reports-server.ts";
import { ADVICE_UNTIL, CARDS, keepSampleAdvice, sampleAdvice } from "../support/sample-advice.ts";

const NOW = ADVICE_UNTIL + 9 * HOUR_MILLIS;
const ALL = { teams: "all", now: NOW } as const;
const MOST = { limit: 1_000 };

describe("stored advice", () => {
  let store: StoreClient;
  let made: Advice;
  let run: AdviceRun;

  beforeAll(async () => {
    store = await createTestDatabase("advice_read");
    await keepSampleAdvice(store, ADVICE_UNTIL - DAY_MILLIS);
    made = await keepSampleAdvice(store);
    run = (await readAdviceRun(store))!;
  });
  afterAll(() => store.close());

  const idsOf = async (asked: object, of: Seeing = ALL): Promise<readonly string[]> =>
    (await readAdviceCards(store, run, of, { ...MOST, ...asked })).map(({ card }) => card.id);

  it("is of the latest window, or of the window with a given end", async () => {
    const { window, workloads, refusals } = made;
    expect(run).toMatchObject({ window, workloads, refusals, madeAt: ADVICE_UNTIL + HOUR_MILLIS, seconds: 12.5 });
    const before = await readAdviceRun(store, ADVICE_UNTIL - DAY_MILLIS);
    expect(before!.window).toEqual(sampleAdvice(ADVICE_UNTIL - DAY_MILLIS).window);
    expect(await readAdviceRun(store, ADVICE_UNTIL + DAY_MILLIS)).toBeUndefined();
  });

  it("has the cards as they were made, without their hours, with the largest saving first", async () => {
    const found = await readAdviceCards(store, run, ALL, MOST);
    expect(found.map(({ card }) => card)).toEqual(made.cards.map((card) => withoutHours(card)));
    expect(new Set(found.map(({ since }) => since))).toEqual(new Set([ADVICE_UNTIL - DAY_MILLIS]));
    expect(await idsOf({ limit: 2, offset: 1 })).toEqual([CARDS.vision, CARDS.nlp]);
    expect(await idsOf({ team: HOSTILE })).toEqual([CARDS.odd]);
    expect(await idsOf({ kind: "fewer-replicas" })).toEqual([CARDS.nlp]);
  });

  it("has one card with its hours, from an earlier window if the latest has no such card", async () => {
    const [, vision] = made.cards;
    expect((await readAdviceCard(store, CARDS.vision, ALL))!.stored.card).toEqual(vision);
    const gone: Advice = {
      ...sampleAdvice(ADVICE_UNTIL - 2 * DAY_MILLIS),
      cards: [{ ...vision!, id: "0000000000e4" }],
    };
    await keepCards(store, gone, { basis: "gone", madeAt: ADVICE_UNTIL, seconds: 1 });
    const found = await readAdviceCard(store, "0000000000e4", ALL);
    expect(found!.run.window.until).toBe(ADVICE_UNTIL - 2 * DAY_MILLIS);
    expect(await readAdviceCard(store, "unknown", ALL)).toBeUndefined();
  });

  it("sums to the savings of the cards, by team and kind", async () => {
    const sums = await readAdviceSums(store, run, ALL);
    expect(sums).toHaveLength(4);
    for (const name of ["owner", "freed", "organization", "organizationIfFreedLeave"] as const)
      expect(formatAmount(sum(sums.map((each) => each[name])))).toBe(
        formatAmount(sum(made.cards.map(({ saving }) => saving[name]))),
      );
    // 168 in 7 days are 24 a day: 730 in 730 h.
    const vision = sums.find(({ team }) => team === "vision")!;
    expect(vision).toMatchObject({ kind: "idle-workload", cards: 1, isDismissed: false });
    expect(formatAmount(perMonth(vision.owner, run.window))).toBe("730");
  });

  it("shows a viewer the cards of the own teams, without the lines of other payers", async () => {
    const own = { teams: VISION.teams, now: NOW };
    const found = await readAdviceCards(store, run, own, { ...MOST, withDismissed: true });
    expect(found.map(({ card }) => [card.id, card.lines.map(({ team }) => team)])).toEqual([
      [CARDS.vision, ["vision"]],
    ]);
    expect((await readAdviceSums(store, run, own)).map(({ team }) => team)).toEqual(["vision"]);
    expect(await readAdviceCard(store, CARDS.nlp, own)).toBeUndefined();
    expect((await readAdviceCard(store, CARDS.vision, own))!.stored.card.lines).toHaveLength(1);
    expect(await idsOf({ team: "nlp" }, own)).toEqual([]);
  });

  it("hides dismissed cards until the dismissal ends, and the newest decision counts", async () => {
    const mark = (what: "taken" | "dismissed" | "open", at: number, until?: number) =>
      writeMark(store, CARDS.nlp, { what, at, until, who: "ada", why: `${what} for the test` });
    const states = async (now: number): Promise<readonly [boolean, boolean]> => {
      const shown = await idsOf({}, { teams: "all", now });
      const sums = await readAdviceSums(store, run, { teams: "all", now });
      return [shown.includes(CARDS.nlp), sums.find(({ team }) => team === "nlp")!.isDismissed];
    };
    await mark("taken", NOW - 5_000);
    expect(await states(NOW)).toEqual([true, false]);
    await mark("dismissed", NOW - 4_000, NOW + HOUR_MILLIS);
    expect(await states(NOW)).toEqual([false, true]);
    expect(await idsOf({ withDismissed: true })).toContain(CARDS.nlp);
    expect(await states(NOW + HOUR_MILLIS)).toEqual([true, false]);
    await mark("dismissed", NOW - 3_000);
    expect(await states(NOW + 365 * DAY_MILLIS)).toEqual([false, true]);
    expect((await readAdviceCard(store, CARDS.nlp, ALL))!.stored.mark).toEqual({
      what: "dismissed",
      at: NOW - 3_000,
      until: undefined,
      who: "ada",
      why: "dismissed for the test",
    });
    await mark("open", NOW - 2_000);
    expect(await states(NOW)).toEqual([true, false]);
    expect([...(await readMarks(store)).entries()]).toMatchObject([[CARDS.nlp, { what: "open", at: NOW - 2_000 }]]);
  });
});

function withoutHours(card: Card): Card {
  const { hours: _, ...rest } = card;
  return rest;
}
