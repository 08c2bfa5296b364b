import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import type { Viewer } from "../../reports/access/viewer.ts";
import { writeMark } from "../../reports/advice/marks.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { HOSTILE, NOON, createPagesDatabase, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import { ADVICE_UNTIL, CARDS, keepSampleAdvice } from "../support/sample-advice.ts";

describe("the pages of advice", () => {
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createPagesDatabase("advice_pages");
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  /** Returns the text of a page, without its tags, at a later time than the last one. */
  async function textOf(path: string, as: Viewer = FINANCE): Promise<string> {
    server.now += 3_000;
    const { body, statusCode } = await server.get(path, as);
    expect(statusCode).toBe(200);
    return body
      .slice(body.indexOf("<main"))
      .replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, " ")
      .replaceAll(/\s+/g, " ");
  }

  it("explain that there is no run yet, and the overview has nothing about it", async () => {
    expect(await textOf("/advice")).toContain("No advice yet");
    expect(await textOf("/?span=2026-03")).not.toContain("Largest saving");
    await keepSampleAdvice(store);
  });

  it("show the sums of the cards, in the window and per month, within three seconds of a new run", async () => {
    const text = await textOf("/advice");
    // 336 + 168 + 84.000000001 + 10 = 598 in seven days: 598 / 168 × 730 = 2,598.45 a month. The 10 save the organization nothing.
    expect(text).toContain("The organization can save 2,555.00 USD a month");
    expect(text).toContain("Owners would pay 2,598.45 USD less a month.");
    expect(text).toContain(
      "4 cards from the usage of 2026-03-24 to 2026-03-31 (UTC). Computed 2026-03-31 01:00:00 UTC.",
    );
    expect(text).toContain("The organization would have paid less in 7 days, if freed GPUs left the fleet, USD 588.00");
    // Only removed nodes save the organization something.
    expect(text).toContain("The same, while freed GPUs stay 336.00 1,460.00 per month of 730 h");
    expect(text).toContain("Owners would have paid less 598.00 2,598.45 per month of 730 h");
    expect(text).toContain("An owner’s saving is not the organization’s.");
    expect(text).toContain("Workloads without a card");
    expect(text).toContain("the workload held GPUs for less than the days of the window 3");
  });

  it("filter by team and kind", async () => {
    expect(await textOf("/advice?team=vision")).toContain("The organization can save 730.00 USD a month");
    expect(await textOf("/advice?team=vision&kind=fewer-replicas")).toContain("No cards");
    expect((await server.get("/advice?kind=unknown")).statusCode).toBe(400);
    // A part after the last one shows the last.
    expect(await textOf(`/advice?cards=${Number.MAX_SAFE_INTEGER}`)).toContain("vision/Job/train");
  });

  it("show a viewer the own teams only: no other name, sum or count", async () => {
    const text = await textOf("/advice", VISION);
    expect(text).toContain("The organization can save 730.00 USD a month 1 card from");
    expect(text).not.toContain("Workloads without a card");
    expect(text).not.toMatch(/nlp|platform|onerror/);
    const answer = await server.get(`/advice/card?id=${CARDS.nlp}`, VISION);
    expect(answer.statusCode).toBe(404);
    const own = await textOf(`/advice/card?id=${CARDS.vision}`, VISION);
    expect(own).not.toContain("platform");
    expect(own).toContain("The freed GPUs cost 168.00 USD more without a holder.");
  });

  it("show a card with its lines, its bills, its doubts and its file", async () => {
    const text = await textOf(`/advice/card?id=${CARDS.vision}`);
    expect(text).toContain("Workload that does nothing: vision/Job/train");
    expect(text).toContain("In cards since 2026-03-31; the evidence holds since 2026-03-25.");
    expect(text).toContain("kubectl -n vision delete job/train");
    expect(text).toContain("vision idle 168.00 0.00 168.00 platform unallocated 0.00 168.00 -168.00");
    expect(text).toContain("Highest activity in 5 minutes 0.4 %");
    expect(text).toContain("State that is only in memory is lost.");
    expect(text).toContain("Confidence: medium The evidence is from 7 days.");
    expect(text).toContain("A smaller part of a GPU is enough Request a MIG instance 1g.10gb. 7.50");
    expect(text).toContain("changes: - release: cluster: prod namespace: vision kind: Job workload: train");
    const { body } = await server.get(`/advice/card?id=${CARDS.vision}`);
    expect(body).toContain('aria-label="Activity in each hour. highest sample: 0 to 33.4 %; mean: 0 to 16.7 %."');
    expect(await textOf(`/advice/card?id=${CARDS.nodes}`)).not.toContain("Activity of the devices");
  });

  it("show the largest savings in the overview, and the team’s largest on its page", async () => {
    const overview = await textOf("/?span=2026-03");
    expect(overview).toContain("Nodes that nobody holds L4 in spot 336.00 1,460.00");
    expect(overview).toContain("All 4 cards: 2,555.00 USD a month for the organization");
    expect(await textOf("/?span=2026-03", VISION)).toContain("The card: 730.00 USD a month for the organization");
    const { body } = await server.get("/team?team=vision&span=2026-03");
    expect(body).toContain(`href="/advice/card?id=${CARDS.vision}"`);
    expect(body).not.toContain(CARDS.nlp);
    const { body: odd } = await server.get(`/team?team=${encodeURIComponent(HOSTILE)}&span=2026-03`);
    expect(odd).toContain(`href="/advice/card?id=${CARDS.odd}"`);
  });

  it("hide a dismissed card until its time, and show who dismissed it and why", async () => {
    const until = ADVICE_UNTIL + 2 * DAY_MILLIS;
    const mark = {
      what: "dismissed",
      at: ADVICE_UNTIL + 2 * HOUR_MILLIS,
      until,
      who: "ada",
      why: "the job is <b>",
    } as const;
    await writeMark(store, CARDS.vision, mark);
    expect(await textOf("/advice?team=vision")).toContain("All cards here are dismissed. 1 dismissed card not shown.");
    expect(await textOf("/advice?team=vision&all=true")).toContain("dismissed by ada until 2026-04-02");
    expect(await textOf("/?span=2026-03", VISION)).not.toContain("Largest saving");
    const text = await textOf(`/advice/card?id=${CARDS.vision}`);
    expect(text).toContain("Dismissed. dismissed by ada until 2026-04-02, on 2026-03-31: the job is &lt;b>");
    server.now = until;
    expect(await textOf("/advice?team=vision")).toContain("The organization can save 730.00 USD");
  });

  it("show the last card of a waste that ended, with a notice", async () => {
    await store.command(
      `INSERT INTO advice_runs (run_id, from_at, until_at, made_at) VALUES (generateUUIDv4(), '2026-03-25', '2026-04-01', '2026-04-01 01:00:00')`,
    );
    expect(await textOf("/advice")).toContain("No cards 0 cards from the usage of 2026-03-25 to 2026-04-01");
    const text = await textOf(`/advice/card?id=${CARDS.nlp}`);
    expect(text).toContain("The latest run has no such card. This is the card of the window that ended 2026-03-31.");
  });
});
