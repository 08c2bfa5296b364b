import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";
import { inspectServingPage } from "../../collectors/exporters/serving/inspect.ts";
import { readPages, readSeries } from "../../processors/ledger/serving/increases.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { insertServing, SERVING_INTERVAL as STEP, type ServingSample, type ServingScrape } from "../support/serving.ts";

const START = Date.UTC(2026, 2, 2, 10);
const SPAN = { from: START, until: START + HOUR };

describe("the increases of an engine's counters", () => {
  let store: StoreClient;
  let targets = 0;
  beforeAll(async () => {
    store = await createTestDatabase("increases");
  });
  afterAll(() => store.close());

  /** Scrapes of a new target, in steps of 15 s from `first` on. `undefined` is an attempt that failed. */
  async function scraped(
    pages: readonly (readonly ServingSample[] | undefined)[],
    { first = START, step = STEP }: { readonly first?: number; readonly step?: number } = {},
  ): Promise<string> {
    const target = `http://10.0.0.${(targets += 1)}:8000/metrics`;
    const scrapes = pages.map((series, index): ServingScrape => ({
      at: first + index * step,
      target,
      ...(series === undefined ? { failure: "timeout" } : { series }),
    }));
    await insertServing(store, "c", scrapes);
    return target;
  }
  const pages = async (target: string) => {
    const [found] = await readPages(store, [{ cluster: "c", span: SPAN }]);
    return found!.filter((each) => each.target === target);
  };
  const page = async (target: string) => (await pages(target))[0];
  const series = async (target: string, span = SPAN) => {
    const [found] = await readSeries(store, [{ cluster: "c", span }]);
    return found!.filter((each) => each.target === target);
  };
  const generated = (...counts: readonly (number | undefined)[]) =>
    counts.map((count) => (count === undefined ? undefined : [{ values: { generation_tokens: count } }]));

  test("sum the steps of a counter, and count a restart from 0", async () => {
    const target = await scraped(generated(1000, 1100, 1300, 40, 90));
    // 100 + 200, then 40 since the restart, then 50.
    expect(await series(target)).toMatchObject([{ resets: 1, increases: { generation_tokens: 390 } }]);
  });

  /** The rows that a collector reads from a page. */
  const rowsOf = (text: string): readonly ServingSample[] => {
    const read = inspectServingPage(Buffer.from(text));
    if (!("rows" in read)) throw new Error(read.detail);
    return read.rows.map((row) => ({ ...row.series, values: row.values }));
  };
  const seconds = (millis: number): number => (START + millis) / 1000;
  const OLD = -86_400_000;

  /** A series of LiteLLM, with the time at which it began if the page has it. */
  const ofUser = (user: string, tokens: number, begun?: number): string =>
    [
      `litellm_input_tokens_metric_total{model="m",team_alias="sales",end_user="${user}"} ${tokens}`,
      ...(begun === undefined
        ? []
        : [`litellm_input_tokens_metric_created{model="m",team_alias="sales",end_user="${user}"} ${seconds(begun)}`]),
      "",
    ].join("\n");

  test.each([
    ["with their times", OLD, 28_000],
    ["without them", undefined, undefined],
  ])("of series that appear behind a tenant, %s, are added to those of the others", async (_, old, young) => {
    const target = await scraped(
      [
        ofUser("u1", 1_000_000, old),
        ofUser("u1", 1_000_100, old),
        ofUser("u1", 1_000_100, old) + ofUser("u2", 50, young),
        ofUser("u1", 1_000_200, old) + ofUser("u2", 55, young),
      ].map(rowsOf),
    );
    // 100 + 0 + 100 of the first user, 50 + 5 of the second.
    expect(await series(target)).toMatchObject([{ tenant: "sales", resets: 0, increases: { prompt_tokens: 255 } }]);
  });

  test("of series that leave the page are no restart of the others", async () => {
    const both = (one: number, other: number): string => ofUser("u1", one) + ofUser("u3", other);
    const target = await scraped([both(500, 1_000_000), both(520, 1_000_010), ofUser("u3", 1_000_030)].map(rowsOf));
    expect(await series(target)).toMatchObject([{ resets: 0, increases: { prompt_tokens: 50 } }]);
    // The series comes back with its value, as from a collector of OpenTelemetry that lets series expire.
    const back = await scraped([both(500, 7), ofUser("u3", 9), both(510, 9)].map(rowsOf));
    expect(await series(back)).toMatchObject([{ resets: 0, increases: { prompt_tokens: 12 } }]);
  });

  test("of vLLM's first request that ends at its length are no restart", async () => {
    const vllm = (name: string, labels: string, value: number, begun: number): string =>
      `vllm:${name}_total{model_name="m"${labels}} ${value}\nvllm:${name}_created{model_name="m"${labels}} ${seconds(begun)}\n`;
    const page = (tokens: number, more = ""): string =>
      vllm("prompt_tokens", "", tokens, OLD) + vllm("request_success", ',finished_reason="stop"', 9000, OLD) + more;
    const length = vllm("request_success", ',finished_reason="length"', 2, 10_000);
    const target = await scraped([page(5_000_000), page(5_000_120, length)].map(rowsOf));
    const expected = { prompt_tokens: 120, requests: 2, requests_stop: 0, requests_length: 2 };
    expect(await series(target)).toMatchObject([{ resets: 0, increases: expected }]);
  });

  test("of rows that another process of a collector names otherwise do not count from 0", async () => {
    const target = `http://10.0.9.9:8000/metrics`;
    const of = (part: string, tokens: number) => [{ part, values: { prompt_tokens: tokens } }];
    await insertServing(store, "c", [{ at: START, target, series: of("", 1_000_000) }]);
    await insertServing(store, "c", [
      { at: START + STEP, target, series: of("#7", 1_000_010), epoch: START },
      { at: START + 2 * STEP, target, series: of("#7", 1_000_030), epoch: START },
    ]);
    expect(await series(target)).toMatchObject([{ resets: 0, increases: { prompt_tokens: 20 } }]);
  });

  test("that no engine can have count as nothing, so that a wrong page has no weight", async () => {
    const target = await scraped(generated(0, 9e15, 10, 9e15, 100));
    // Two impossible steps, and after each of them the value since a restart.
    expect(await series(target)).toMatchObject([{ resets: 4, increases: { generation_tokens: 110 } }]);
    const parts = Array.from({ length: 40 }, (_, part) => ({ part: String(part), values: { prompt_tokens: 9e15 } }));
    const many = await scraped([parts.map((each) => ({ ...each, values: { prompt_tokens: 0 } })), parts]);
    expect(await series(many)).toMatchObject([{ increases: { prompt_tokens: 0 } }]);
    const crowded = await scraped([[{ values: { running: 9e15 } }], [{ values: { running: 9e15 } }]]);
    expect(await page(crowded)).toMatchObject({ coveredMillis: STEP, runningMillis: STEP * 1_000_000 });
  });

  test("of an address belong to the pods that had it, one after the other", async () => {
    const address = "http://10.0.1.1:8000/metrics";
    const of = (podUid: string, from: number, counts: readonly number[]): readonly ServingScrape[] =>
      counts.map((count, index) => ({
        at: START + (from + index) * STEP,
        target: address,
        pod: podUid,
        podUid,
        series: [{ values: { generation_tokens: count } }],
      }));
    await insertServing(store, "c", [...of("one", 0, [1_000, 1_100]), ...of("two", 2, [50, 80])]);
    const found = await series(address);
    expect(found.map(({ podUid, resets, increases }) => [podUid, resets, increases["generation_tokens"]])).toEqual([
      ["one", 0, 100],
      ["two", 0, 30],
    ]);
    expect((await pages(address)).map(({ podUid, coveredMillis }) => [podUid, coveredMillis])).toEqual([
      ["one", STEP],
      ["two", STEP],
    ]);
  });

  test("belong to the hour of the later scrape, so that hours sum to the whole", async () => {
    const target = await scraped(generated(0, 10, 30, 60), { first: START + HOUR - 2 * STEP + 5000 });
    const next = { from: START + HOUR, until: START + 2 * HOUR };
    const [first] = await series(target);
    const [second] = await series(target, next);
    expect([first?.increases["generation_tokens"], second?.increases["generation_tokens"]]).toEqual([10, 50]);
  });

  test("cross a gap without a reset, whose time is not covered", async () => {
    const gap = Array.from({ length: 20 }, () => undefined);
    const target = await scraped([...generated(0, 10), ...gap, ...generated(500, 510)]);
    expect(await series(target)).toMatchObject([{ increases: { generation_tokens: 510 } }]);
    expect(await page(target)).toMatchObject({ coveredMillis: 2 * STEP, scrapes: 24, failures: 20 });
  });

  test("see a restart by the begin of the counters, even if the new values are larger", async () => {
    const rows = [
      { values: { generation_tokens: 100, created_ms: START - HOUR } },
      { values: { generation_tokens: 150, created_ms: START + 5000 } },
    ];
    const target = await scraped(rows.map((row) => [row]));
    expect(await series(target)).toMatchObject([{ resets: 1, increases: { generation_tokens: 150 } }]);
  });

  test("count a series that is new on a known page, and not one of a page that was never read before", async () => {
    const row = (tenant: string, count: number) => ({ tenant, values: { generation_tokens: count } });
    const target = await scraped([[row("a", 70)], [row("a", 75), row("b", 30)], [row("a", 80), row("b", 30)]]);
    expect((await series(target)).map(({ tenant, increases }) => [tenant, increases["generation_tokens"]])).toEqual([
      ["a", 10],
      ["b", 30],
    ]);
  });

  test("count the first page of an engine whose counters are known to be young", async () => {
    const target = await scraped([[{ values: { generation_tokens: 25, created_ms: START - 1000 } }]]);
    expect(await series(target)).toMatchObject([{ increases: { generation_tokens: 25 } }]);
  });

  test("do not have counters that the page does not have, and start late ones at 0", async () => {
    const target = await scraped([
      [{ values: { generation_tokens: 5 } }],
      [{ values: { generation_tokens: 5, requests_abort: 2 } }],
    ]);
    expect(await series(target)).toMatchObject([{ increases: { generation_tokens: 0, requests_abort: 2 } }]);
    expect(Object.keys((await series(target))[0]!.increases)).toHaveLength(2);
  });

  test("add the parts of an engine", async () => {
    const ranks = (first: number, second: number) => [
      { part: "0", values: { generation_tokens: first } },
      { part: "1", values: { generation_tokens: second } },
    ];
    const target = await scraped([ranks(0, 0), ranks(10, 1), ranks(20, 0)]);
    expect(await series(target)).toMatchObject([{ resets: 1, increases: { generation_tokens: 21 } }]);
  });

  test("count a row once that was stored twice", async () => {
    const scrapes = [0, 1].map((index) => ({
      at: START + index * STEP,
      target: "http://twice",
      series: [{ values: { generation_tokens: index * 7, running: 1 } }],
    }));
    await insertServing(store, "c", scrapes);
    await insertServing(store, "c", scrapes);
    expect(await series("http://twice")).toMatchObject([{ increases: { generation_tokens: 7 } }]);
    expect(await page("http://twice")).toMatchObject({ scrapes: 2, coveredMillis: STEP, runningMillis: STEP });
  });

  describe("the idle time of a page", () => {
    const state = (running: number, tokens?: number) => [
      { values: { running, waiting: 0, ...(tokens === undefined ? {} : { generation_tokens: tokens }) } },
    ];

    test("is the time without requests at both ends and without work between", async () => {
      const target = await scraped([state(0, 5), state(0, 5), state(0, 9), state(1, 9), state(0, 12), state(0, 12)]);
      // Of five steps the first and the last are idle: in the second tokens moved, the next two have a request at an end.
      expect(await page(target)).toMatchObject({ coveredMillis: 5 * STEP, idleMillis: 2 * STEP });
    });

    test("follows the requests of an engine without counters", async () => {
      const target = await scraped([state(0), state(0), state(2), state(0)]);
      expect(await page(target)).toMatchObject({ coveredMillis: 3 * STEP, idleMillis: STEP });
    });

    test("is what the engine has measured", async () => {
      const measured = (idle_us: number) => [{ values: { running: 1, idle_us } }];
      const target = await scraped([measured(0), measured(4_000_000), measured(10_000_000)]);
      expect(await page(target)).toMatchObject({ coveredMillis: 2 * STEP, idleMillis: 10_000 });
    });

    test("is nothing for a page without requests and without counters", async () => {
      const target = await scraped([[{ values: { kv_cache_ppm: 1 } }], [{ values: { kv_cache_ppm: 1 } }]]);
      expect(await page(target)).toMatchObject({ coveredMillis: STEP, idleMillis: 0 });
    });

    test("is cut at the ends of the hour", async () => {
      const target = await scraped([state(0, 1), state(0, 1)], { first: START - 5000 });
      expect(await page(target)).toMatchObject({ coveredMillis: 10_000, idleMillis: 10_000 });
    });
  });

  test("are none of a page that always failed", async () => {
    const target = await scraped([undefined, undefined]);
    expect(await page(target)).toMatchObject({ scrapes: 2, failures: 2, coveredMillis: 0, exporter: "" });
  });

  test("are the same, whatever the hours that are read together", async () => {
    const hours = Array.from({ length: 8 }, (_, hour) => ({
      cluster: "hours",
      span: { from: START + hour * HOUR, until: START + (hour + 1) * HOUR },
    }));
    // Pages that are silent for longer than any interval, and come back with other series and with counters that go on or began again.
    const random = fc.sample(
      fc.array(
        fc.record({ minute: fc.nat(8 * 60), tokens: fc.nat(50), tenant: fc.constantFrom("a", "b"), fails: fc.nat(5) }),
        {
          minLength: 4,
          maxLength: 14,
        },
      ),
      { seed: 7, numRuns: 20 },
    );
    for (const [index, scrapes] of random.entries()) {
      const times = new Map(scrapes.map((scrape) => [START + scrape.minute * 60_000, scrape]));
      await insertServing(
        store,
        "hours",
        [...times].map(([at, { tokens, tenant, fails }]) => ({
          at,
          target: `http://hours-${index}`,
          ...(fails === 0
            ? { failure: "timeout" }
            : { series: [{ tenant, values: { generation_tokens: tokens, running: tokens % 3 } }] }),
        })),
      );
    }
    for (const read of [readPages, readSeries]) {
      const together = await read(store, hours);
      const alone = await Promise.all(hours.map(async (hour) => (await read(store, [hour]))[0]));
      expect(together.flat().length).toBeGreaterThan(50);
      expect(together).toEqual(alone);
    }
  });
});
