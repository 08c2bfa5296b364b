import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DAY_MILLIS } from "../../domain/time.ts";
import { readCameTrue, type CameTrue } from "../../reports/advice/came-true.ts";
import { formatAmount } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { outcomesSchema } from "../../reports/api/advice-schemas.ts";
import { createTestDatabase } from "../support/database.ts";
import { createReportsServer, VISION, type ReportsServer } from "../support/reports-server.ts";

const START = Date.UTC(2026, 2, 2);
const DAYS = 20;
/** The card is in the windows that end on the days 7 to 10, and the change is made on the day after. */
const LAST = 10;
const runOf = (at: number): string => `11111111-1111-1111-1111-1111111111${at + 10}`;
const day = (number: number): string => new Date(START + number * DAY_MILLIS).toISOString();

describe("the outcomes of cards", () => {
  let store: StoreClient;

  beforeAll(async () => {
    store = await createTestDatabase("advice_outcomes");
    await store.insertJson(
      "runs",
      Array.from({ length: DAYS }, (_, at) => ({
        kind: "charge",
        cluster: "prod",
        window_start: day(at),
        window_end: day(at + 1),
        run_id: runOf(at),
        generation: 1,
        hash: "1",
      })),
    );
    // The service costs 48 a day, and 24 after the change. Its neighbor costs 10 and then 11, the other one begins later.
    const costs: Readonly<Record<string, (day: number) => number | undefined>> = {
      service: (at) => (at <= LAST ? 48 : 24),
      neighbor: (at) => (at <= LAST ? 10 : 11),
      newcomer: (at) => (at < 12 ? undefined : 99),
      kept: () => 7,
    };
    for (const [workload, costOf] of Object.entries(costs))
      await store.insertJson(
        "charges",
        Array.from({ length: DAYS }, (_, at) => ({ at, cost: costOf(at) })).flatMap(({ at, cost }) =>
          cost === undefined
            ? []
            : [
                {
                  run_id: runOf(at),
                  policy: "default",
                  cluster: "prod",
                  team: "nlp",
                  namespace: "nlp",
                  workload_kind: "Deployment",
                  workload,
                  workload_type: "inference",
                  holder: `uid-${workload}`,
                  node: "a",
                  from_at: day(at),
                  until_at: day(at + 1),
                  effective_cost: cost,
                },
              ],
        ),
      );
    for (let until = 7; until <= DAYS; until++) {
      const runId = `33333333-0000-0000-0000-0000000000${String(until).padStart(2, "0")}`;
      const of = { run_id: runId, until_at: day(until) };
      const card = (workload: string, owner: string): object => ({
        id: workload,
        kind: "fewer-replicas",
        subject: {
          cluster: "prod",
          namespace: "nlp",
          kind: "Deployment",
          workload,
          team: "nlp",
          type: "inference",
          pool: "",
          model: "",
        },
        window: { from: START + (until - 7) * DAY_MILLIS, until: START + until * DAY_MILLIS },
        saving: { owner, freed: "0", organization: "0", organizationIfFreedLeave: owner },
        lines: [],
        alternatives: [],
      });
      const cards = [...(until <= LAST ? [card("service", "168")] : []), card("kept", "7")];
      await store.insertJson(
        "advice_cards",
        cards.map((each) => ({
          ...of,
          id: (each as { id: string }).id,
          team: "nlp",
          kind: "fewer-replicas",
          owner_saving: "168",
          card: JSON.stringify(each),
        })),
      );
      await store.insertJson("advice_runs", [{ ...of, from_at: day(until - 7), made_at: day(until) }]);
    }
  });
  afterAll(() => store.close());

  const NOW = START + DAYS * DAY_MILLIS;
  const read = (teams: readonly string[] | "all" = "all"): Promise<readonly CameTrue[]> =>
    readCameTrue(store, { policy: "default", now: NOW, teams });

  it("are found by themselves for cards that have ended, beside similar workloads", async () => {
    const [found, ...others] = await read();
    expect(others).toEqual([]);
    const { promised, before, after, expected, came, verdict, days, similar } = found!.outcome;
    // 168 in 7 days is 1.00 an hour. 48 a day is 2.00, and 24 a day 1.00. The two similar workloads cost 17 and then 18 a day, so the
    // service was expected to cost 2 × 18/17 an hour.
    const amounts = [promised, before, after, expected, came].map((amount) => formatAmount(amount));
    expect(amounts).toEqual(["1", "2", "1", "2.117647059", "1.117647059"]);
    expect({ verdict, days, similar }).toEqual({ verdict: "came-true", days: DAYS - LAST - 1, similar: 2 });
    expect(found).toMatchObject({ isMarked: false, changedAt: START + (LAST + 1) * DAY_MILLIS });
  });

  it("have the costs that the teams of the viewer paid, and not those of another team", async () => {
    const of = { policy: "default", cluster: "prod", namespace: "nlp", workload_type: "inference" };
    const moved = {
      ...of,
      workload_kind: "Deployment",
      workload: "service",
      holder: "uid-other",
      node: "a",
      team: "vision",
    };
    const at = LAST + 1;
    await store.insertJson("charges", [
      { ...moved, run_id: runOf(at), from_at: day(at), until_at: day(at + 1), effective_cost: 4_800 },
    ]);
    const afterOf = async (teams: readonly string[] | "all"): Promise<string> =>
      formatAmount((await read(teams)).find(({ card }) => card.id === "service")!.outcome.after);
    expect(await afterOf(["nlp"])).toBe("1");
    expect(Number(await afterOf("all"))).toBeGreaterThan(20);
    await store.command("DELETE FROM charges WHERE team = 'vision'");
  });

  it("are followed from the mark on if a card is marked as taken", async () => {
    await store.insertJson("advice_marks", [{ id: "kept", what: "taken", at: day(12), who: "ann", why: "done" }]);
    const kept = (await read()).find(({ card }) => card.id === "kept")!;
    expect(kept).toMatchObject({ isMarked: true, changedAt: START + 13 * DAY_MILLIS });
    expect(kept.outcome.verdict).toBe("gone");
  });

  it("are shown to viewers of the team alone", async () => {
    expect(await read(["vision"])).toEqual([]);
    expect((await read(["nlp"])).length).toBeGreaterThan(0);
  });

  describe("on the server", () => {
    let server: ReportsServer;
    beforeAll(async () => {
      server = await createReportsServer(store, NOW, "currency: USD");
    });
    afterAll(() => server.close());

    it("are in the API with their amounts per hour, for viewers of the team alone", async () => {
      const answer = await server.get("/api/v1/advice/outcomes");
      const { currency, outcomes } = outcomesSchema.parse(answer.json());
      expect({ currency, ids: outcomes.map(({ id }) => id) }).toEqual({ currency: "USD", ids: ["kept", "service"] });
      expect(outcomes[1]).toMatchObject({
        kind: "fewer-replicas",
        changedAt: day(LAST + 1),
        isMarked: false,
        verdict: "came-true",
        // The other workload is marked as taken now, so the neighbor alone is similar: 2 × 11/10 minus 1.
        perHour: { promised: "1", before: "2", after: "1", came: "1.2" },
      });
      const ofOthers = await server.get("/api/v1/advice/outcomes", VISION);
      expect(outcomesSchema.parse(ofOthers.json()).outcomes).toEqual([]);
    });

    it("are on their page, with the sums of what was promised and what came", async () => {
      const page = (await server.get("/advice/outcomes")).body;
      const text = page.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
      expect(text).toMatch(/Saved .* promised per hour/);
      expect(text).toContain("came true");
      expect(text).toContain("nlp/Deployment/service");
      expect(page).toContain("/advice/card?id=service");
      const ofOthers = (await server.get("/advice/outcomes", VISION)).body;
      expect(ofOthers).toContain("No outcomes yet");
      expect(ofOthers).not.toContain("nlp/Deployment");
    });
  });
});
