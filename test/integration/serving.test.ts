import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startCollector, type Collector } from "../../collectors/exporters/collector.ts";
import type { ScrapeJob } from "../../collectors/exporters/collector-model.ts";
import { machineClock } from "../../collectors/exporters/loop.ts";
import { TENANT_RULES, type TenantRules } from "../../collectors/exporters/serving/tenants.ts";
import { createStaticDiscovery } from "../../collectors/exporters/targets/static.ts";
import type { Target } from "../../collectors/exporters/targets/target.ts";
import { DEAD_LETTER_TOPIC, SERVING_TOPIC } from "../../domain/messages/topics.ts";
import { readDeadLetter } from "../../processors/ingest/dead-letter.ts";
import type { Intake } from "../../processors/ingest/intake.ts";
import { startServing } from "../../processors/ingest/serving.ts";
import type { Bus, OutgoingMessage } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { emptyTables } from "../../runtime/store/empty-tables.ts";
import { createScrapeSenders } from "../../services/scrape-senders.ts";
import { createTestDatabase } from "../support/database.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";
import { temporaryFolder } from "../support/folder.ts";
import { emptyLog, loggedEvents, openTestBus, silent, type ProcessorLog } from "../support/pipeline.ts";

const cleanups: (() => unknown)[] = [];
let store: StoreClient;
let bus: Bus;
let intake: Intake;
let log: ProcessorLog;

async function startIntake(): Promise<void> {
  log = emptyLog();
  const events = {
    ...loggedEvents(log),
    onStored: ({ scrapes }: { readonly scrapes: number }) => (log.stored += scrapes),
    onTraced: () => {},
  };
  intake = await startServing({ bus, store, flushMillis: 50, flushRows: 500, events, now: Date.now });
}

beforeAll(async () => {
  store = await createTestDatabase("serving");
});
afterAll(() => store.close());
beforeEach(async () => {
  await emptyTables(store);
  const opened = await openTestBus();
  cleanups.push(opened.close);
  ({ bus } = opened);
  await startIntake();
  cleanups.push(() => intake.stop());
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function startPage(text: string): Promise<ExporterDouble> {
  const double = await startExporterDouble((_, response, exporter) => exporter.page(response, text));
  cleanups.push(() => double.close());
  return double;
}

const pageOf = (file: string): string => readFileSync(`test/fixtures/pages/serving/${file}`, "utf8");

/** Collects pages as the service does: over the spools and the bus, into the store. */
function collect(targets: readonly Target[], rules: Partial<TenantRules> = {}): Collector {
  const senders = createScrapeSenders({
    bus,
    data: temporaryFolder("data"),
    shard: { index: 0, count: 1 },
    maxBytes: 1e8,
    onDropped: (count, reason) => expect.unreachable(`${count} messages: ${reason}`),
    logger: silent,
  });
  cleanups.push(() => senders.stop());
  const job: ScrapeJob = {
    name: "engines",
    reads: { kind: "serving", tenants: { ...TENANT_RULES, ...rules } },
    discoveries: [createStaticDiscovery(targets)],
    intervalMillis: 200,
    timeoutMillis: 200,
    bodyLimitBytes: 1e7,
    gzip: false,
    redirects: "origin",
    credentials: {},
    tls: undefined,
  };
  const collector = startCollector({
    name: "c-0",
    cluster: "prod",
    jobs: [job],
    shard: { index: 0, count: 1 },
    templateBytes: 1e7,
    limits: {},
    sink: senders.send,
    events: {
      onScrape: () => {},
      onSkipped: () => {},
      onTargets: () => {},
      onRefused: () => {},
      onDiscoveryError: () => {},
      onSinkError: (_job, _target, error) => expect.unreachable(String(error)),
    },
    startTrace: () => undefined,
    clock: machineClock,
  });
  cleanups.push(() => collector.stop());
  return collector;
}

const inChat = (url: string, pod: string): Target => ({
  url,
  labels: { namespace: "chat", pod, node: "gpu-a" },
  pod: { name: pod, nodeName: "gpu-a", uid: `uid-${pod}` },
});

/** Returns rows of a query as soon as they pass a check. */
async function rows(sql: string, check: (found: readonly Record<string, unknown>[]) => void) {
  await expect
    .poll(
      async () => {
        const found = await store.query<Record<string, unknown>>(sql);
        try {
          check(found);
          return "";
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      },
      { timeout: 30_000 },
    )
    .toBe("");
}

describe("the way of an engine's page from the pod to the store", () => {
  it("has a row for each model, part and tenant, with the pod", async () => {
    const engine = await startPage(pageOf("vllm-0.33.prom"));
    const gateway = await startPage(pageOf("litellm-1.110.prom"));
    const collector = collect([inChat(engine.url, "qwen-0"), inChat(gateway.url, "gateway-0")]);
    // The buckets of a row are added.
    const sums = [
      "prompt_tokens",
      "computed_prompt_tokens",
      "cached_tokens",
      "requests",
      "queue_us",
      "gigaflops",
      "spend_nanos",
    ];
    const newest = `SELECT cluster, node, namespace, pod, pod_uid, exporter, kind, model, row AS part, tenant,
        ${sums.map((name) => `sum(samples.${name}) AS ${name}`).join(", ")},
        max(samples.kv_cache_ppm) AS kv_cache_ppm, max(samples.asleep) AS asleep, min(samples.created_ms) AS created_ms, interval_ms
      FROM (SELECT *, replaceRegexpOne(part, '#[0-9]+$', '') AS row FROM serving_samples) AS samples
      GROUP BY cluster, node, namespace, pod, pod_uid, exporter, kind, model, part, tenant, interval_ms, scraped_at ORDER BY scraped_at DESC LIMIT 1 BY pod, part, tenant`;
    const pod = { cluster: "prod", node: "gpu-a", namespace: "chat", interval_ms: 200 };
    const ofEngine = { ...pod, pod: "qwen-0", pod_uid: "uid-qwen-0", exporter: "vllm", kind: "engine", tenant: "" };
    const ofGateway = { ...pod, pod: "gateway-0", exporter: "litellm", kind: "gateway", part: "", asleep: null };
    await rows(`SELECT * FROM (${newest}) ORDER BY pod DESC, part, tenant`, (found) =>
      expect(found).toMatchObject([
        {
          ...ofEngine,
          part: "0",
          prompt_tokens: "500000",
          computed_prompt_tokens: "300000",
          cached_tokens: null,
          requests: "126",
          queue_us: "31500000",
          gigaflops: "750000000",
          kv_cache_ppm: "812500",
          asleep: "0",
          created_ms: null,
        },
        { ...ofEngine, part: "1", prompt_tokens: "0", requests: null, asleep: "1" },
        { ...ofGateway, tenant: "", prompt_tokens: "5400", spend_nanos: "31250000" },
        { ...ofGateway, tenant: "batch-job", prompt_tokens: "800", requests: "2" },
        { ...ofGateway, tenant: "vision", prompt_tokens: "40000", created_ms: "1790000000000" },
      ]),
    );
    await rows(
      "SELECT pod, exporter, series, failure, dropped FROM serving_scrapes ORDER BY scraped_at DESC LIMIT 1 BY pod",
      (found) =>
        expect(found).toEqual(
          expect.arrayContaining([
            { pod: "qwen-0", exporter: "vllm", series: 2, failure: "", dropped: {} },
            { pod: "gateway-0", exporter: "litellm", series: 5, failure: "", dropped: { "email-tenant": 5 } },
          ]),
        ),
    );
    expect(collector.targets()).toMatchObject([
      { reads: "serving", node: "gpu-a", rows: 2, gpus: 0, failure: undefined },
      { reads: "serving", rows: 5, dropped: { "email-tenant": 5 } },
    ]);
    expect(await store.query("SELECT count() AS n FROM gpu_samples")).toEqual([{ n: "0" }]);
  });

  it("keeps the pod of failed attempts, with the reason", async () => {
    const down = await startPage("");
    await down.close();
    const foreign = await startPage("go_goroutines 7\n");
    collect([inChat(down.url, "down-0"), inChat(foreign.url, "web-0")]);
    await rows(
      "SELECT namespace, pod, pod_uid, failure, series, exporter FROM serving_scrapes ORDER BY pod LIMIT 1 BY pod",
      (found) =>
        expect(found).toEqual([
          { namespace: "chat", pod: "down-0", pod_uid: "uid-down-0", failure: "refused", series: 0, exporter: "" },
          { namespace: "chat", pod: "web-0", pod_uid: "uid-web-0", failure: "foreign-page", series: 0, exporter: "" },
        ]),
    );
    expect(await store.query("SELECT count() AS n FROM serving_samples")).toEqual([{ n: "0" }]);
  });

  it("stores a counter that falls as it is, a renamed model as another row, and a page of two programs", async () => {
    const tokens = (model: string, count: number): string =>
      `vllm:generation_tokens_total{engine="0",model_name="${model}"} ${count}.0\n`;
    const double = await startPage(tokens("first", 900));
    collect([inChat(double.url, "qwen-0")]);
    const steps = [
      ["first", 900],
      ["first", 12],
      ["second", 40],
    ] as const;
    for (const [model, count] of steps) {
      double.behave((_, response, exporter) => exporter.page(response, tokens(model, count)));
      await rows(`SELECT generation_tokens FROM serving_samples WHERE model = '${model}'`, (found) =>
        expect(found).toContainEqual({ generation_tokens: String(count) }),
      );
    }
    double.behave((_, response, exporter) => exporter.page(response, pageOf("dynamo-worker-vllm.prom")));
    await rows("SELECT DISTINCT exporter, kind FROM serving_samples WHERE model = 'qwen3-32b'", (found) =>
      expect(found).toEqual([{ exporter: "vllm", kind: "engine" }]),
    );
  });

  it("stores 10,000 tenants of one page, and the tokens of all others in one row", async () => {
    const text = Array.from(
      { length: 10_500 },
      (_, tenant) => `litellm_output_tokens_metric_total{model="qwen",team="team-${tenant}"} 3.0\n`,
    ).join("");
    const double = await startPage(text);
    collect([inChat(double.url, "gateway-0")]);
    await rows(
      `SELECT uniqExact(tenant) AS tenants, sum(generation_tokens) AS tokens, sumIf(generation_tokens, tenant = 'other') AS others
       FROM serving_samples GROUP BY scraped_at LIMIT 1`,
      (found) => expect(found).toEqual([{ tenants: "10001", tokens: "31500", others: "1500" }]),
    );
  });
});

describe("the intake of gpu.serving", () => {
  /** Returns what a collector has sent for one page, as messages that can be sent again. */
  async function collected(file: string): Promise<readonly OutgoingMessage[]> {
    const double = await startPage(pageOf(file));
    const collector = collect([inChat(double.url, "qwen-0")]);
    await expect.poll(() => log.stored).toBeGreaterThan(2);
    await collector.stop();
    const watermarks = await bus.watermarks(SERVING_TOPIC);
    const received = await Promise.all(
      watermarks.map(({ partition, high }) => bus.read({ topic: SERVING_TOPIC, partition }, 0, high)),
    );
    // All scrapes of a pod share a partition.
    expect(received.filter((messages) => messages.length > 0)).toHaveLength(1);
    return received.flat().map(({ key, value, schemaVersion }) => ({ key, value, schemaVersion }));
  }

  it("has the same rows after a replay", async () => {
    const messages = await collected("vllm-0.33.prom");
    await expect.poll(() => log.stored).toBe(messages.length);
    await bus.send(SERVING_TOPIC, messages);
    await expect.poll(() => log.stored).toBe(2 * messages.length);
    for (const [table, count] of [
      ["serving_scrapes", messages.length],
      ["serving_samples", 2 * messages.length],
    ] as const)
      expect(await store.query(`SELECT count() AS n FROM ${table} FINAL`)).toEqual([{ n: String(count) }]);
  });

  it("makes a dead letter of a broken message, pauses at a newer schema, and continues at its position", async () => {
    const messages = await collected("vllm-0.9.prom");
    await expect.poll(() => log.stored).toBe(messages.length);
    const [message] = messages;
    await bus.send(SERVING_TOPIC, [{ ...message!, value: new Uint8Array([1, 2, 3]) }]);
    await expect.poll(() => log.deadLetters).toEqual(["not-a-scrape"]);
    await expect
      .poll(() =>
        bus
          .read({ topic: DEAD_LETTER_TOPIC, partition: 0 }, 0, 10)
          .then(([letter]) => letter && readDeadLetter(letter)),
      )
      .toMatchObject({ topic: SERVING_TOPIC, cause: "3 bytes are shorter than a header" });
    await bus.send(SERVING_TOPIC, [{ ...message!, schemaVersion: 99 }]);
    await expect.poll(() => [log.futures, intake.paused.length]).toEqual([1, 1]);
    await intake.stop();
    await startIntake();
    await expect.poll(() => log.futures).toBe(1);
    expect([log.stored, log.deadLetters, log.fatal]).toEqual([0, [], []]);
  });
});
