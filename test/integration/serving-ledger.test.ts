import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS as HOUR, MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { staleCharges } from "../../processors/ledger/hours/stale-hours.ts";
import type { ServingDimension } from "../../domain/serving/dimension.ts";
import type { ServingQuestion } from "../../reports/serving/question.ts";
import { readServing } from "../../reports/serving/read-serving.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { createPut, messagesOf } from "../support/play.ts";
import { insertServing, type ServingScrape } from "../support/serving.ts";
import { SERVED_FLEET, SERVED_PAGES, SERVED_START as START } from "../support/served-fleet.ts";

describe("the ledger of a service", () => {
  let store: StoreClient;
  const scenario = readScenario(SERVED_FLEET, "fleet");
  const rules = ledgerRules(rulesOf(scenario), "");
  let generation = 0;
  beforeAll(async () => {
    store = await createTestDatabase("serving_ledger");
    await createPut(store)([...messagesOf(scenario)]);
    await insertServing(store, "default", SERVED_PAGES);
  });
  afterAll(() => store.close());

  const compute = (windowStart: number) =>
    computeLedger(store, { cluster: "default", windowStart }, rules, {
      generation: (generation += 1),
      facts: new Map(),
      now: START + 2 * HOUR,
      closed: NOTHING_CLOSED,
      weights: createFrozenWeights(store),
    });
  const linesOf = (hour: number, policy = "default") =>
    store.query<Record<string, string>>(
      `SELECT phase, team, toString(sum(effective_cost)) AS cost, toString(sum(gpu_hours)) AS hours,
         toString(sum(computed_tokens)) AS prompt, toString(sum(generated_tokens)) AS generated, any(basis) AS basis
       FROM serving_charges_published
       WHERE policy = {policy:String} AND hour = fromUnixTimestamp64Milli({hour:Int64})
       GROUP BY phase, team ORDER BY phase, team`,
      { hour, policy },
    );

  test("has the phases of an hour, which sum to the charges of the workload under each policy", async () => {
    expect((await compute(START)).breaches).toEqual([]);
    // Each pod costs 3.60. llm-1 has no page and no gang, so it costs as llm-0 does: 1.80 idle, and of 1.80 a quarter for prefill.
    expect(await linesOf(START)).toEqual([
      { phase: "decode", team: "chat", cost: "2.7", hours: "0.75", prompt: "0", generated: "12000", basis: "time" },
      { phase: "idle", team: "chat", cost: "3.6", hours: "1", prompt: "0", generated: "0", basis: "" },
      { phase: "prefill", team: "chat", cost: "0.9", hours: "0.25", prompt: "120000", generated: "0", basis: "time" },
    ]);
    const sums = await store.query(
      `SELECT policy, toString(sum(effective_cost)) AS cost, toString(sum(gpu_hours)) AS hours, uniqExact(run_id) AS runs
       FROM serving_charges_published GROUP BY policy
       UNION ALL
       SELECT policy, toString(sum(effective_cost)), toString(sum(gpu_hours)), uniqExact(run_id)
       FROM charges_published WHERE workload = 'llm' GROUP BY policy`,
    );
    expect(sums).toHaveLength(4);
    expect(sums.every((sum) => JSON.stringify(sum).includes('"cost":"7.2","hours":"2"'))).toBe(true);
  });

  test("has an hour without a page as unmeasured only if a page was to be read", async () => {
    expect((await compute(START + HOUR)).breaches).toEqual([]);
    // The last scrape, at 9:00, touches this hour: its page was read at the first moment and never after.
    expect(await linesOf(START + HOUR)).toEqual([
      expect.objectContaining({ phase: "unmeasured", cost: "7.2", prompt: "0" }),
    ]);
  });

  test("has unit costs, by any dimensions and in total", async () => {
    const ask = (by: readonly ServingDimension[], more: Partial<ServingQuestion> = {}) =>
      readServing(
        store,
        {
          policy: "default",
          rule: "gpu-time",
          kind: "showback",
          span: { name: "hour", from: START, until: START + HOUR },
          by,
          where: [],
          ...more,
        },
        "USD",
      );
    const { total, rows } = await ask(["model", "phase"]);
    expect(rows.map(({ dimensions, cost }) => [dimensions, cost])).toEqual([
      [{ model: "m", phase: "idle" }, "3.6"],
      [{ model: "m", phase: "decode" }, "2.7"],
      [{ model: "m", phase: "prefill" }, "0.9"],
    ]);
    expect(total).toMatchObject({
      cost: "7.2",
      phases: { prefill: "0.9", decode: "2.7", idle: "3.6" },
      computedTokens: "120000",
      generatedTokens: "12000",
      requests: "120",
      gatewayPrice: null,
      // 7.20 ÷ 0.132 million; 3.60 ÷ 0.132; 0.90 ÷ 0.12; 2.70 ÷ 0.012; 7.20 ÷ 0.12; 7.20 ÷ 2.
      unitCosts: {
        millionTokens: { loaded: "54.545454545", busy: "27.272727273" },
        millionPromptTokens: "7.5",
        millionGeneratedTokens: "225",
        thousandRequests: "60",
        thousandInferences: null,
        gpuHour: "3.6",
      },
    });
    const nothing = await ask([], { where: [{ dimension: "team", values: ["other"] }] });
    expect([nothing.rows, nothing.total.cost, nothing.total.unitCosts.millionTokens.loaded]).toEqual([[], "0", null]);
    const byTeam = await ask(["chargeDay", "team"], { policy: "platform-idle" });
    expect(byTeam.rows.map(({ dimensions, cost, generatedTokens }) => [dimensions, cost, generatedTokens])).toEqual([
      [{ chargeDay: "2026-03-02", team: "chat" }, "5.4", "12000"],
      [{ chargeDay: "2026-03-02", team: "platform" }, "1.8", "0"],
    ]);
  });

  test("is charged again after engines were metered again, and the same input gives the same lines", async () => {
    const stale = () => staleCharges(store, { ...rules, hasFleetCosts: false }, { from: START, openSince: 0 });
    expect(await stale()).toEqual([]);
    const before = await linesOf(START);
    await compute(START);
    expect(await linesOf(START)).toEqual(before);
    expect(await stale()).toEqual([]);
    const late: ServingScrape = {
      at: START + 30 * MINUTE + 7000,
      target: "http://10.0.0.1:8000/metrics",
      pod: "llm-0",
      series: [{ values: { prompt_tokens: 121_000, generation_tokens: 12_000, running: 0, waiting: 0 } }],
    };
    await insertServing(store, "default", [late]);
    await compute(START);
    expect(await linesOf(START)).not.toEqual(before);
  });
});
