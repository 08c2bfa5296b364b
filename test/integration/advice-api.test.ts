import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { writeCard } from "../../domain/advice/card-json.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";
import type { Advice } from "../../processors/ledger/advice/make-cards.ts";
import type { Viewer } from "../../reports/access/viewer.ts";
import { writeMark } from "../../reports/advice/marks.ts";
import { adviceSchema } from "../../reports/api/advice-schemas.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { NOON, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createReportsServer, VISION, type ReportsServer } from "../support/reports-server.ts";
import { ADVICE_UNTIL, CARDS, keepSampleAdvice } from "../support/sample-advice.ts";

describe("GET /api/v1/advice", () => {
  let store: StoreClient;
  let server: ReportsServer;
  let made: Advice;

  beforeAll(async () => {
    store = await createTestDatabase("advice_api");
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  async function read(query = "", as?: Viewer): Promise<z.output<typeof adviceSchema>> {
    server.now += 3_000;
    const answer = await server.get(`/api/v1/advice${query}`, as);
    expect(answer).toMatchObject({ statusCode: 200 });
    return adviceSchema.parse(answer.json());
  }
  const idsOf = ({ cards }: { readonly cards: readonly { readonly id: string }[] }) => cards.map(({ id }) => id);

  it("has no run before the first one", async () => {
    expect(await read()).toMatchObject({ run: null, cards: [], total: { cards: 0, owner: "0", ownerPerMonth: "0" } });
    expect(await read("?id=unknown")).toMatchObject({ run: null, cards: [] });
    made = await keepSampleAdvice(store);
  });

  it("returns the run, the sums and the cards, with amounts to the last digit", async () => {
    const { run, total, cards, next } = await read();
    expect(run).toEqual({
      window: { from: "2026-03-24T00:00:00.000Z", until: "2026-03-31T00:00:00.000Z" },
      madeAt: "2026-03-31T01:00:00.000Z",
      seconds: 12.5,
      workloads: 9,
      refusals: { coverage: 2, days: 3 },
    });
    // 598.000000001 × 730 / 168
    expect(total).toEqual({
      cards: 4,
      dismissed: 0,
      owner: "598.000000001",
      ownerPerMonth: "2598.452380957",
      freed: "-73.999999999",
      organization: "336",
      organizationIfFreedLeave: "588.000000001",
    });
    expect(idsOf({ cards })).toEqual(made.cards.map(({ id }) => id));
    expect(next).toBeNull();
    const { saving, lines, figures, remedy, changes } = writeCard(made.cards[1]!);
    expect(cards[1]).toMatchObject({
      saving: { ...saving, ownerPerMonth: "730" },
      lines,
      figures,
      remedy,
      changes,
      confidence: "medium",
      since: "2026-03-31T00:00:00.000Z",
      from: "2026-03-25T00:00:00.000Z",
      mark: null,
    });
    expect(cards[1]!.hours).toBeUndefined();
  });

  it("filters by team, kind and end, and returns one card with its hours", async () => {
    expect(idsOf(await read("?team=nlp"))).toEqual([CARDS.nlp]);
    const ofKind = await read("?kind=idle-workload");
    expect([idsOf(ofKind), ofKind.total.owner]).toEqual([[CARDS.vision], "168"]);
    expect((await read("?until=2026-03-30")).run).toBeNull();
    expect(idsOf(await read("?until=2026-03-31&team=nlp"))).toEqual([CARDS.nlp]);
    const { cards, total } = await read(`?id=${CARDS.vision}`);
    expect(total).toMatchObject({ cards: 1, owner: "168", ownerPerMonth: "730" });
    expect(cards[0]!.hours).toEqual(made.cards[1]!.hours);
    for (const wrong of ["kind=other", "until=soon", "what=else"])
      expect((await server.get(`/api/v1/advice?${wrong}`)).statusCode).toBe(400);
  });

  it("has pages, and refuses the next page of a run that is not the latest any more", async () => {
    const first = await read("?limit=3");
    const second = await read(`?limit=3&cursor=${first.next}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(made.cards.map(({ id }) => id));
    expect([second.next, second.total]).toEqual([null, first.total]);
    await keepSampleAdvice(store, ADVICE_UNTIL + DAY_MILLIS);
    server.now += 3_000;
    expect((await server.get(`/api/v1/advice?limit=3&cursor=${first.next}`)).statusCode).toBe(410);
  });

  it("shows a viewer the cards of the own teams, and no count of others", async () => {
    const { run, total, cards } = await read("", VISION);
    expect(run).toMatchObject({ workloads: null, refusals: null });
    expect([idsOf({ cards }), total.cards, total.owner]).toEqual([[CARDS.vision], 1, "168"]);
    expect(cards[0]!.lines.map(({ team }) => team)).toEqual(["vision"]);
    expect((await read("?team=nlp&all=true", VISION)).cards).toEqual([]);
    expect((await read(`?id=${CARDS.nlp}`, VISION)).cards).toEqual([]);
  });

  it("shows who decided, why, and until when, and hides dismissed cards", async () => {
    const [at, until] = [NOON, NOON + 30 * DAY_MILLIS];
    await writeMark(store, CARDS.nlp, { what: "dismissed", at, until, who: "ada", why: "a demo" });
    await writeMark(store, CARDS.vision, { what: "taken", at: at + HOUR_MILLIS, until: undefined, who: "bo", why: "" });
    const { cards, total } = await read();
    expect(idsOf({ cards })).not.toContain(CARDS.nlp);
    expect(total).toMatchObject({ cards: 3, dismissed: 1, owner: "514" });
    expect(cards.find(({ id }) => id === CARDS.vision)!.mark).toMatchObject({ what: "taken", who: "bo", until: null });
    const all = await read("?all=true");
    expect(all.total).toMatchObject({ cards: 4, dismissed: 0 });
    expect(all.cards.find(({ id }) => id === CARDS.nlp)!.mark).toEqual({
      what: "dismissed",
      at: "2026-03-31T12:00:00.000Z",
      until: "2026-04-30T12:00:00.000Z",
      who: "ada",
      why: "a demo",
    });
  });

  it("is in the OpenAPI document", async () => {
    const answer = await server.get("/api/v1/openapi.json");
    expect(answer).toMatchObject({ statusCode: 200 });
    const openapi = answer.json<{ paths: object; components: object }>();
    expect(openapi.paths).toHaveProperty(["/api/v1/advice", "get"]);
    expect(openapi.components).toHaveProperty("schemas.AdviceCard");
  });
});
