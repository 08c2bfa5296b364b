import { expect, it, onTestFinished } from "vitest";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { openBooks } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";
import { insertServing, SERVING_INTERVAL as STEP, type ServingScrape } from "../support/serving.ts";

const START = Date.UTC(2026, 2, 31, 22);
const APRIL_3 = Date.UTC(2026, 3, 3);
const APRIL_10 = Date.UTC(2026, 3, 10);

/** A GPU for the last two hours of March and the first of April. The price of a GPU-hour is the parameter. */
function fleet(price: string): Scenario {
  return scenarioWith({
    period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T01:00:00Z" },
    nodes: [
      { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 1, instanceType: "p4d", until: "2026-04-01T01:00:00Z" },
    ],
    namespaces: { chat: { labels: { team: "chat" } } },
    pods: [{ name: "llm-0", namespace: "chat", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: price }],
  });
}

/** Pages of llm-0 from the first hour on, with prefill and decode as 1 to 2. */
function pages(hours: number): readonly ServingScrape[] {
  return Array.from({ length: (hours * HOUR) / STEP + 1 }, (_, index) => ({
    at: START + index * STEP,
    target: "http://10.0.0.1:8000/metrics",
    pod: "llm-0",
    series: [
      {
        values: {
          prompt_tokens: index * 30,
          generation_tokens: index * 3,
          prefill_us: index * 1_000_000,
          decode_us: index * 2_000_000,
          running: 1,
        },
      },
    ],
  }));
}

it("corrections of closed hours correct the lines of services, which stay the sum of the charges", async () => {
  const store = await createTestDatabase("closing_serving");
  onTestFinished(() => store.close());
  const books = openBooks(store, fleet("3.00"));
  await books.arrive(fleet("3.00"), undefined);
  // The pages of the second hour are not there yet.
  await insertServing(store, "default", pages(1));
  expect((await books.settle(APRIL_3)).breaches).toEqual([]);
  await books.close("2026-03", APRIL_3);
  const closed = await linesOf(store);
  expect(closed).toEqual([
    // 239 steps of 3 and 30 tokens. The scrape at 23:00 ends the last step, whose tokens belong to the hour that is not covered.
    "2026-03-01 22 decode 2 717",
    "2026-03-01 22 prefill 1 7170",
    "2026-03-01 23 decode 0 3",
    "2026-03-01 23 prefill 0 30",
    "2026-03-01 23 unmeasured 3 0",
  ]);

  // Another price, and the pages of the second hour.
  books.use(fleet("6.00"));
  await insertServing(store, "default", pages(2));
  expect((await books.settle(APRIL_10)).breaches).toEqual([]);
  expect(await linesOf(store)).toEqual([
    ...closed,
    // The price of 22:00 is twice as high. The hour from 23:00 has its own 240 steps, of which the first was there, and twice the price.
    "2026-04-01 22 decode 2 0",
    "2026-04-01 22 prefill 1 0",
    "2026-04-01 23 decode 4 717",
    "2026-04-01 23 prefill 2 7170",
    "2026-04-01 23 unmeasured -3 0",
    "2026-04-01 0 decode 0 3",
    "2026-04-01 0 prefill 0 30",
    "2026-04-01 0 unmeasured 6 0",
  ]);
  const ofCharges = await sumsOf(store, "charges_published", "from_at");
  expect(ofCharges).toHaveLength(5);
  expect(await sumsOf(store, "serving_charges_published", "hour")).toEqual(ofCharges);
});

const linesOf = async (store: StoreClient): Promise<readonly string[]> => {
  const rows = await store.query<{ line: string }>(
    `SELECT concat(toString(billing_period), ' ', toString(toHour(hour)), ' ', phase, ' ', toString(sum(ifNull(effective_cost, 0))), ' ',
       toString(sum(computed_tokens + generated_tokens))) AS line
     FROM serving_charges_published GROUP BY billing_period, hour, phase ORDER BY billing_period, hour, phase`,
  );
  return rows.map(({ line }) => line);
};

const sumsOf = async (store: StoreClient, table: string, time: string): Promise<readonly string[]> => {
  const rows = await store.query<{ sum: string }>(
    `SELECT concat(formatDateTime(toStartOfHour(${time}, 'UTC'), '%H', 'UTC'), ' ', toString(billing_period), ' ', toString(sum(effective_cost)), ' ', toString(sum(gpu_hours))) AS sum
     FROM ${table} WHERE workload = 'llm-0' GROUP BY toStartOfHour(${time}, 'UTC'), billing_period ORDER BY sum`,
  );
  return rows.map(({ sum }) => sum);
};
