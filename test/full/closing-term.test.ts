import { insertMessages } from "../support/insert-facts.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { closePeriod } from "../../processors/ledger/closing/close.ts";
import type { Closed } from "../../processors/ledger/closed/closed.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import { readPeriod } from "../../domain/period.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { SCHEDULE_TIMING } from "../../processors/ledger/term/schedule.ts";
import { TERM_TIMING } from "../../processors/ledger/term/term-timing.ts";
import { workTerm } from "../../processors/ledger/term/term-work.ts";
import { factsOf } from "../../scenarios/play/facts.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { openTestBus, withFactsStored } from "../support/pipeline.ts";
import { scenarioWith } from "../support/played.ts";
import { storeScenario } from "../support/play.ts";

const LONG = { timeout: 120_000, interval: 250 };
const TIMING = {
  ...SCHEDULE_TIMING,
  ...TERM_TIMING,
  refreshMillis: 500,
  quietMillis: 50,
  lookMillis: 250,
  dropMillis: 1e9,
};
/** Soon after the end of the fleet: each hour since would be metered too. */
const NOW = Date.UTC(2026, 3, 1, 4);

/** Three hours around the end of March: vision's pod on one GPU of two, at 3 an hour. */
const fleet = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T01:00:00Z" },
  nodes: [{ name: "gpu-a", model: "A100", gpus: 2, until: "2026-04-01T01:00:00Z" }],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

describe("a leader of books that people close", () => {
  it("meters late facts of closed hours, leaves the closed lines unchanged, and books the difference in the open period", async () => {
    const store = await createTestDatabase("closing_term");
    const { bus, close } = await openTestBus();
    // At first there is no fact of the pod: only an exporter's label names it, and its namespace's labels are missing.
    await storeScenario(store, fleet, WORKLOADS_TOPIC);
    const charge = rulesOf(fleet);
    const rules = ledgerRules(charge, "books");
    const errors: unknown[] = [];
    let seen: Closed | undefined;
    const abort = new AbortController();
    const offset = NOW - Date.now();
    const now = (): number => Date.now() + offset;
    const done = workTerm(
      {
        bus: withFactsStored(bus),
        store,
        now,
        timing: TIMING,
        events: {
          onRun: () => {},
          onCharged: () => {},
          onWaiting: () => {},
          onLooked: ({ closed }) => (seen = closed),
          onDropped: () => {},
          onError: (error) => errors.push(error),
        },
        ledger: { rules, meteredSince: () => 0 },
      },
      { generation: 1, signal: abort.signal },
    );
    onTestFinished(async () => {
      abort.abort();
      await done;
      await store.close();
      await close();
    });
    const sums = async (): Promise<readonly string[]> => {
      const rows = await store.query<{ key: string; hours: string; cost: string }>(
        `SELECT concat(formatDateTime(billing_period, '%m'), formatDateTime(from_at, ' of %m '), team) AS key,
           toString(sum(gpu_hours)) AS hours, toString(sum(effective_cost)) AS cost
         FROM charges_published GROUP BY key ORDER BY key`,
      );
      return rows.map(({ key, hours, cost }) => `${key} ${hours} ${cost}`);
    };
    const settled = ["03 of 03 platform 2 6", "03 of 03 vision 2 6", "04 of 04 platform 1 3", "04 of 04 vision 1 3"];
    await expect.poll(async () => (await sums()).length, LONG).toBe(4);
    const setting = {
      rules,
      policies: [charge.policies[0]!, ...charge.policies.slice(1)] as const,
      closingDay: 1,
      priceBookHash: "",
      accounts: undefined,
    };
    const request = { period: readPeriod("2026-03")!, by: "finance", why: "it is over", invoice: [], isDryRun: false };
    await expect
      .poll(() => closePeriod(store, request, setting, now()).then(({ isDryRun }) => isDryRun, String), LONG)
      .toBe(false);
    await expect.poll(() => seen?.openSince, LONG).toBe(Date.UTC(2026, 3, 1));
    expect(await sums()).toEqual(settled);
    const closed = await verifyClosings(store, undefined);

    // The pod had ended an hour before March did.
    const ended = scenarioWith({
      period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T01:00:00Z" },
      nodes: [{ name: "gpu-a", model: "A100", gpus: 2, until: "2026-04-01T01:00:00Z" }],
      namespaces: { vision: { labels: { team: "vision" } } },
      pods: [
        {
          name: "v-0",
          namespace: "vision",
          node: "gpu-a",
          holds: { gpus: 1 },
          devices: [0],
          activity: 1,
          finished: "2026-03-31T23:00:00Z",
        },
      ],
    });
    const workloads = [...factsOf(ended)].filter(({ topic }) => topic === WORKLOADS_TOPIC);
    await insertMessages(store, workloads, 1000);
    await expect
      .poll(sums, LONG)
      .toEqual([
        "03 of 03 platform 2 6",
        "03 of 03 vision 2 6",
        "04 of 03 platform 1 3",
        "04 of 03 vision -1 -3",
        "04 of 04 platform 2 6",
      ]);
    expect(await verifyClosings(store, undefined)).toEqual(closed);
    expect(errors).toEqual([]);
  });
});
