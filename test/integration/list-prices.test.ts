import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { checkLedger } from "../../cli/check/ledger.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { makeFile } from "../../reports/delivery/make.ts";
import { readSpan } from "../../reports/question/span.ts";
import { ListPricedError } from "../../reports/read/list-priced.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { loadConfig, parseConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { beginLedger, withLedger } from "../../services/begun-ledger.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { storeScenario } from "../support/play.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer } from "../support/reports-server.ts";

const START = Date.UTC(2026, 2, 31, 22);
const NOW = START + 3 * HOUR_MILLIS;

/** Two hours of a p5.48xlarge, which the list prices at 55.04 an hour, and of two GPUs of an unknown model. Vision holds a GPU of the first. */
const fleet = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [
    {
      name: "gpu-a",
      model: "NVIDIA-H100-80GB-HBM3",
      gpus: 8,
      instanceType: "p5.48xlarge",
      until: "2026-04-01T00:00:00Z",
    },
    { name: "gpu-b", model: "Own-Silicon", gpus: 2, instanceType: "ours", until: "2026-04-01T00:00:00Z" },
  ],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
});

const DELIVERY = { name: "costs", schedule: "0 6 3 * *", to: [{ name: "archive", folder: "/tmp" }] };

describe("a ledger without a price book", () => {
  let folder: CommandFolder;
  let store: StoreClient;
  let file: string;
  let config: Config;

  /** A configuration of a database, with more keys. */
  function written(database: string, more: object): string {
    const { url, user } = sharedStore();
    return folder.write(`${database}-${Object.keys(more).join("-")}.yaml`, {
      store: { kind: "clickhouse", database, clickhouse: { url, ...user } },
      ...more,
    });
  }

  async function charge(by: Config, generation = 0): Promise<void> {
    const windows = [0, 1].map((hour) => ({ cluster: "default", windowStart: START + hour * HOUR_MILLIS }));
    await settle(store, windows, rulesOfConfig(by).rules, { generation, now: NOW });
  }

  beforeAll(async () => {
    folder = createCommandFolder();
    file = written("list_prices", { deliveries: [DELIVERY] });
    store = await createTestDatabase("list_prices");
    config = await beginLedger(loadConfig(file, {}).config, store, START);
    await storeScenario(store, fleet);
    await charge(config);
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });
  const run = (...args: readonly string[]) => folder.call([...args, "--config", file]);

  it("begins with list prices, which the audit trail has, and keeps them", async () => {
    expect(config).toMatchObject({ listPrices: true, server: { moneyOnMetrics: false } });
    expect((await run("audit")).stdout).toMatch(/configuration +list prices +prices +the ledger is new/);
    const later = await beginLedger(loadConfig(file, {}).config, store, NOW);
    expect(later.listPrices).toBe(true);
    expect((await run("audit")).stdout.match(/list prices/g)).toHaveLength(1);
  });

  it("has them on every bill, row and page, with the command that replaces them", async () => {
    const report = await run("report", "2026-03", "--format", "csv");
    expect(report.stdout).toContain(",vision,USD,list,2,2,2,13.76,13.76,13.76,");
    expect(report.stderr).toContain("gpu-ledger prices list > prices.yaml");
    const json = await run("report", "2026-03", "--format", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({ reports: [{ prices: "list", total: { cost: "110.08" } }] });
    expect((await run("report", "2026-03", "--format", "html")).stdout).toMatch(
      /class="list-prices">.*gpu-ledger prices list/s,
    );
    for (const command of [
      ["bill", "2026-03"],
      ["statement", "2026-03"],
      ["explain", "--month", "2026-03"],
    ])
      expect((await run(...command)).stderr).toContain("public list prices");
    expect((await run("explain", "--month", "2026-03", "--team", "vision")).stdout).toContain(
      "list price: p5.48xlarge",
    );
    const server = await createReportsServer(store, NOW, JSON.stringify({ listPrices: true }));
    for (const path of ["/", "/fleet", "/statement", "/prices", "/team?name=vision"]) {
      const page = (await server.get(path)).body;
      expect(page).toMatch(/<main id="content" class="list-prices">.*<strong>List prices:<\/strong>/s);
    }
    const charges = await server.get("/api/v1/charges?span=2026-03");
    expect(charges.json()).toMatchObject({ prices: "list" });
    await server.close();
  });

  it("is checked with a warning, and with the GPUs that no list has", async () => {
    const found = [];
    for await (const finding of checkLedger(config, NOW)) found.push(finding);
    const [prices] = found.filter(({ what }) => what.startsWith("prices"));
    expect(prices).toMatchObject({ ok: false });
    expect(prices!.answer).toMatch(/4 GPU-hours of Own-Silicon ours.*public list prices/);
  });

  it("is not closed, delivered or exported as FOCUS without being asked for", async () => {
    const close = await run("close", "2026-03", "--dry-run");
    expect(close).toMatchObject({ code: 1 });
    expect(close.stderr).toContain("not closed by list prices without --list-prices");
    expect((await run("close", "2026-03", "--dry-run", "--list-prices")).stdout).toContain("110.08");
    const focus = await run("report", "2026-03", "--format", "focus");
    expect(focus).toMatchObject({ code: 1, stdout: "" });
    expect(focus.stderr).toContain("--list-prices writes them");
    expect((await run("report", "2026-03", "--format", "focus", "--list-prices")).stdout).toContain(
      "list price: p5.48xlarge",
    );
    const server = await createReportsServer(store, NOW, JSON.stringify({ listPrices: true }));
    expect(await server.get("/api/v1/focus?span=2026-03")).toMatchObject({ statusCode: 400 });
    expect(await server.get("/api/v1/focus?span=2026-03&listPrices=true")).toMatchObject({ statusCode: 200 });
    await server.close();
    const into = mkdtempSync(join(tmpdir(), "gpu-ledger-list-prices-"));
    const [delivery] = config.deliveries;
    const { focus: names } = config;
    const of = { store, ledger: ledgerOf(config), focus: names, version: "0", env: {} };
    const read = readSpan("2026-03", NOW);
    if (!("span" in read)) throw new Error("no span");
    const made = { folder: into, madeAt: NOW, signal: new AbortController().signal };
    await expect(makeFile(of, delivery!, read.span, made)).rejects.toThrow(ListPricedError);
    const asked = { ...delivery!, report: { ...delivery!.report, listPrices: true } };
    expect(await makeFile(of, asked, read.span, made)).toMatchObject({ figures: { cost: "110.08" } });
    rmSync(into, { recursive: true });
  });

  it("charges by the book alone once there is one, and never corrects a closed month by the list", async () => {
    const priced = written("list_prices", {
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1.00" }],
    });
    const book = await withLedger(loadConfig(priced, {}).config, store);
    expect(ledgerOf(book).book.prices).toHaveLength(1);
    await charge(book, 10);
    const cost = async () =>
      (await store.query<{ cost: string }>("SELECT toString(sum(effective_cost)) AS cost FROM charges_published"))[0]!
        .cost;
    expect(await cost()).toBe("20");
    expect(await folder.call(["close", "2026-03", "--why", "over", "--config", priced])).toMatchObject({ code: 0 });
    const again = await withLedger(loadConfig(file, {}).config, store);
    expect(again.listPrices).toBe(true);
    await charge(again, 20);
    expect(await cost()).toBe("20");
  });

  it("of an older release keeps GPU-hours until it asks for list prices", async () => {
    const older = await createTestDatabase("list_prices_older");
    await older.insertJson("runs", [{ kind: "election", cluster: "", window_start: 0, window_end: 0, generation: 1 }]);
    const path = written("list_prices_older", {});
    expect(await beginLedger(loadConfig(path, {}).config, older, NOW)).toMatchObject({ listPrices: false });
    expect(await older.query("SELECT what FROM audit")).toEqual([]);
    const asking = written("list_prices_older", { listPrices: true });
    expect(await beginLedger(loadConfig(asking, {}).config, older, NOW)).toMatchObject({ listPrices: true });
    await older.close();
  });
});

describe("the version of FOCUS of a ledger", () => {
  const configOf = (text: string) => parseConfig(text, { source: "the test", folder: ".", env: {} });

  it("is 1.4 if the ledger began with it, which the audit trail has, and stays so", async () => {
    const store = await createTestDatabase("focus_new");
    expect((await beginLedger(configOf("prices: []"), store, NOW)).focus.version).toBe("1.4");
    expect(await store.query("SELECT who, what, why, subject FROM audit")).toEqual([
      { who: "configuration", what: "FOCUS 1.4", why: "the ledger is new", subject: "focus" },
    ]);
    await store.insertJson("runs", [{ kind: "election", cluster: "", window_start: 0, window_end: 0, generation: 1 }]);
    for (const decide of [withLedger, beginLedger])
      expect((await decide(configOf("prices: []"), store, NOW)).focus.version).toBe("1.4");
    expect(await store.query("SELECT what FROM audit")).toHaveLength(1);
    await store.close();
  });

  it("is 1.3 for a ledger of an older release, until the configuration has another one", async () => {
    const store = await createTestDatabase("focus_older");
    await store.insertJson("runs", [{ kind: "election", cluster: "", window_start: 0, window_end: 0, generation: 1 }]);
    expect((await beginLedger(configOf(""), store, NOW)).focus.version).toBe("1.3");
    expect((await withLedger(configOf("focus: { version: 1.4 }"), store)).focus.version).toBe("1.4");
    expect(await store.query("SELECT what FROM audit")).toEqual([]);
    await store.close();
  });
});

test("an empty ledger is a guide: what is seen, what is missing, and the next command", async () => {
  const store = await createTestDatabase("guide");
  const server = await createReportsServer(store, NOW, JSON.stringify({ listPrices: true }));
  const guide = async (): Promise<string> => {
    server.now += 10_000;
    const { body } = await server.get("/");
    return body.slice(body.indexOf("<h1>"), body.indexOf("<footer>"));
  };
  expect(await guide()).toMatch(
    /Nothing is charged yet.*Nothing was scraped yet.*gpu-ledger inspect.*No cluster is watched.*Public list prices.*import prometheus/s,
  );
  const scrape = {
    cluster: "default",
    collector: "c",
    epoch: 0,
    sequence: 1,
    interval_ms: 30_000,
    scraped_at: new Date(NOW).toISOString(),
  };
  const failed = { ...scrape, target: "http://b:9400", failure: "timeout" };
  await store.insertJson("scrapes", [{ ...scrape, node: "a", target: "http://a:9400", devices: 8 }, failed]);
  expect(await guide()).toMatch(
    /GPUs ✓.*8 GPUs and parts of GPUs of 1 target\. 1 target did not answer: http:\/\/b:9400: timeout.*gpu-ledger check/s,
  );
  await storeScenario(store, fleet);
  expect(await guide()).toMatch(/Holders ✓.*2 nodes and 1 pod of watched clusters/s);
  expect(await guide()).not.toContain("0.00");
  const windows = [{ cluster: "default", windowStart: START }];
  const listed = loadConfig(undefined, {}).config;
  await settle(store, windows, rulesOfConfig({ ...listed, listPrices: true }).rules, { generation: 0, now: NOW });
  expect(await guide()).toMatch(/USD.* in March 2026|No charges yet/s);
  await server.close();
  await store.close();
});
