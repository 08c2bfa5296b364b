import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";
import { readEngineDemand } from "../../processors/ledger/advice/engine-demand.ts";
import { makeCards } from "../../processors/ledger/advice/make-cards.ts";
import { advice as adviceSchema } from "../../runtime/config/advice.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { playWithRollups } from "../support/advice/play.ts";
import { createTestDatabase } from "../support/database.ts";
import { insertServing, type ServingScrape } from "../support/serving.ts";

const START = Date.UTC(2026, 2, 2);
const HOURS = 6;
const WINDOW = { from: START, until: START + HOURS * HOUR_MILLIS };
const PRICES = [{ match: { model: "NVIDIA-A100*" }, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }];
const REPLICAS = [0, 1, 2, 3];

/** Four replicas on GPUs that are always active, although each has few requests. */
const SCENARIO = {
  title: "a service with more replicas than its requests need",
  period: { start: "2026-03-02T00:00:00Z", end: "2026-03-02T06:00:00Z" },
  scrapeInterval: "5m",
  nodes: [{ name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 4 }],
  namespaces: { chat: { labels: { team: "chat" } } },
  pods: REPLICAS.map((replica) => ({
    name: `llm-${replica}`,
    namespace: "chat",
    node: "gpu-a",
    holds: { gpus: 1 },
    devices: [replica],
    type: "inference",
    activity: 1,
    memoryUsedMiB: 36_000,
    workload: { kind: "Deployment", name: "llm" },
  })),
  prices: PRICES,
};

/** The pages of a replica, one in each minute. From 3:00 until 3:10 requests wait in llm-0. */
const pagesOf = (replica: number): readonly ServingScrape[] =>
  Array.from({ length: HOURS * 60 }, (_, minute): ServingScrape => {
    const isBusy = replica === 0 && minute >= 3 * 60 && minute < 3 * 60 + 10;
    return {
      at: START + minute * MINUTE_MILLIS,
      target: `http://10.0.0.${replica}:8000/metrics`,
      pod: `llm-${replica}`,
      series: [
        {
          values: {
            kv_cache_ppm: isBusy ? 400_000 : 150_000,
            running: isBusy ? 64 : 8,
            waiting: isBusy ? 3 : 0,
            // A tenth of each minute. llm-1 was restarted at 2:00.
            prefill_us: 6_000_000 * (replica === 1 && minute >= 2 * 60 ? minute - 2 * 60 : minute),
          },
        },
      ],
    };
  });

describe("the demand on the engines of a service", () => {
  let store: StoreClient;
  const ledger = ledgerOf(
    parseConfig(JSON.stringify({ prices: PRICES }), { source: "the test", folder: ".", env: {} }),
  );
  const cards = async () => (await makeCards(store, ledger, { window: WINDOW, advice: adviceSchema.parse({}) })).cards;
  beforeAll(async () => {
    store = await createTestDatabase("advice_engines");
    await playWithRollups(store, readScenario(JSON.stringify(SCENARIO), "the test"));
  }, 300_000);
  afterAll(() => store.close());

  it("makes no card by activity alone, which is high with few requests", async () => {
    expect(await cards()).toEqual([]);
  });

  it("makes no card until all replicas have a page in all of their hours", async () => {
    for (const replica of REPLICAS.slice(1)) await insertServing(store, "default", pagesOf(replica));
    await insertServing(store, "default", pagesOf(0).slice(0, 5 * 60));
    expect(await cards()).toEqual([]);
  });

  it("is the use of the key-value cache or of prefill, and a full replica while requests wait", async () => {
    await insertServing(store, "default", pagesOf(0).slice(5 * 60));
    const demand = await readEngineDemand(store, "default", WINDOW, ["chat"]);
    const [first, second] = ["chat\nllm-0", "chat\nllm-1"].map((key) => demand.get(key)!);
    expect([first!.limit, second!.limit]).toEqual([64, 0]);
    expect(first!.hours.size).toBe(HOURS);
    expect([first!.hours.get(2), first!.hours.get(3)]).toEqual([
      { ppm: 150_000, running: 8 },
      { ppm: 1_000_000, running: 64 },
    ]);
    expect(second!.hours.get(2)).toEqual({ ppm: 150_000, running: 8 });
    const prefill = [0, 1, 2].map((minute) => ({
      ...pagesOf(2)[0]!,
      at: WINDOW.until + minute * MINUTE_MILLIS,
      // 45 s of each minute.
      series: [{ values: { kv_cache_ppm: 100_000, prefill_us: 45_000_000 * minute } }],
    }));
    await insertServing(store, "default", prefill);
    const next = { from: WINDOW.until, until: WINDOW.until + HOUR_MILLIS };
    expect((await readEngineDemand(store, "default", next, ["chat"])).get("chat\nllm-2")!.hours.get(0)!.ppm).toBe(
      750_000,
    );
    expect(await readEngineDemand(store, "default", WINDOW, ["other"])).toEqual(new Map());
  });

  it("makes a card with the replicas that the highest demand of an hour needs", async () => {
    const [card, ...others] = await cards();
    expect(others).toEqual([]);
    // 1 + 3 × 0.15 = 1.45 full replicas; ÷ 0.7 × 1.15 of headroom = 2.38: one of four is not needed, and costs 6 × 3.60.
    expect(card).toMatchObject({
      kind: "fewer-replicas",
      remedy: { what: "Run 3 replicas instead of 4.", lines: "kubectl -n chat scale deployment/llm --replicas=3" },
    });
    expect(Object.fromEntries(card!.figures.map(({ name, value }) => [name, value]))).toMatchObject({
      "Demand by": "pages of the engines: key-value cache, prefill, queue",
      "Highest demand in an hour": "1.45 full replicas",
      Needed: "3, each at most 70.0 % full",
      "Most requests at a time in a replica": "64.0",
      "Limit of a replica": "64 requests",
    });
    expect(card!.saving.organizationIfFreedLeave).toBe(21_600_000_000n);
  });
});
