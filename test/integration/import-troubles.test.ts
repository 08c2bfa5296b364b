import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { surveyServer } from "../../collectors/prometheus/import/survey.ts";
import { createPrometheusClient } from "../../collectors/prometheus/read/client.ts";
import { openSource } from "../../collectors/prometheus/read/source.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { chargeMessages, sumsOf } from "../support/import/charge.ts";
import { importInto, type ImportedMessages } from "../support/import/both-bills.ts";
import { proxyOf } from "../support/import/proxy.ts";
import { fillPrometheus, type ScrapedTarget } from "../support/import/scraped-prometheus.ts";
import { requirePart } from "../support/parts.ts";
import { startPrometheusOn, startWritablePrometheus, type PrometheusServer } from "../support/prometheus-server.ts";

const FROM = Date.UTC(2026, 4, 4, 6);
const MINUTE = 60_000;
const NODES = ["gpu-a", "gpu-b"];

interface Fill {
  readonly minutes: number;
  readonly everyMillis?: number;
  /** Milliseconds after each full interval. */
  readonly phaseMillis?: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels of the target, of which some are dropped. */
  readonly targetOf?: (node: string) => Readonly<Record<string, string>>;
  /** Returns whether a scrape was made, failed, or not made. */
  readonly outcome?: (minute: number, node: string) => "page" | "failed" | "none";
  readonly rewrite?: (page: string) => string;
}

/** Fills a server with scrapes of two nodes of two GPUs. */
async function fill(url: string, given: Fill): Promise<void> {
  const { minutes, everyMillis = 30_000, phaseMillis = 0, labels = {}, outcome = () => "page", rewrite } = given;
  const { targetOf = (node: string) => ({ job: "dcgm", instance: `${node}:9400`, node }) } = given;
  const prometheus = fillPrometheus(url);
  const targets = new Map<string, ScrapedTarget>(
    NODES.map((node) => [node, { labels: { ...targetOf(node), ...labels }, honorLabels: false }]),
  );
  for (let at = FROM; at < FROM + minutes * MINUTE; at += everyMillis) {
    for (const [node, target] of targets) {
      const minute = (at - FROM) / MINUTE;
      const page = dcgmPage({
        gpus: 2,
        host: node,
        value: (family, gpu) => String((minute + gpu + family.length) % 90),
      });
      const of = outcome(minute, node);
      if (of === "none") continue;
      prometheus.scrape(target, at + phaseMillis, of === "failed" ? undefined : (rewrite?.(page) ?? page));
    }
  }
  await prometheus.flush();
}

function scrapesOf({ messages }: Pick<ImportedMessages, "messages">): readonly Scrape[] {
  const decoder = createScrapeDecoder();
  return messages
    .filter(({ topic }) => topic === SAMPLES_TOPIC)
    .map(({ value }) => {
      const scrape = decoder.decode(value);
      if ("invalid" in scrape) throw new TypeError(String(scrape.invalid));
      return scrape;
    });
}

/** Returns the minutes of the scrapes of a node after the beginning. */
function minutesOf(scrapes: readonly Scrape[], node: string): readonly number[] {
  return scrapes
    .filter((scrape) => scrape.node === node)
    .map(({ scrapedAtMillis }) => (scrapedAtMillis - FROM) / MINUTE);
}

async function withPrometheus(flags: readonly string[] = []): Promise<PrometheusServer> {
  const server = await startWritablePrometheus(flags);
  onTestFinished(() => server.stop());
  return server;
}

/** Returns the address of a proxy that has no remote read, as VictoriaMetrics and Thanos. */
const withoutRemoteRead = (url: string): Promise<string> =>
  proxyOf(url, (path, _, response) => {
    if (path !== "/api/v1/read") return false;
    response.writeHead(404).end("404 page not found");
    return true;
  });

const spanOf = (minutes: number) => ({ fromMillis: FROM, untilMillis: FROM + minutes * MINUTE });

describe.skipIf(!requirePart("prometheus"))("an import in trouble", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("import_troubles");
  });
  afterAll(() => store.close());

  test("both ways return the same messages, with failed scrapes", async () => {
    const { url } = await withPrometheus();
    await fill(url, {
      minutes: 60,
      outcome: (minute, node) => (node === "gpu-a" && minute >= 20 && minute < 25 ? "failed" : "page"),
    });
    const read = await importInto(store, url, spanOf(60));
    const queried = await importInto(store, await withoutRemoteRead(url), spanOf(60));
    expect([read.way, queried.way]).toEqual(["remote read", "queries"]);
    const texts = ({ messages }: ImportedMessages) =>
      messages.map(({ value }) => Buffer.from(value).toString("base64"));
    expect(texts(queried).toSorted()).toEqual(texts(read).toSorted());
    const scrapes = scrapesOf(read);
    expect(scrapes).toHaveLength(240);
    expect(
      scrapes.filter(({ failure }) => failure !== undefined).map(({ node, failure }) => [node, failure?.reason]),
    ).toEqual(Array.from({ length: 10 }, () => ["gpu-a", "refused"]));
    expect(new Set(scrapes.map(({ intervalMillis }) => intervalMillis))).toEqual(new Set([30_000]));
  });

  test("answers that are too large are requested in parts, with the server's own limit", async () => {
    const { url } = await withPrometheus(["--query.max-samples=4000"]);
    await fill(url, { minutes: 90 });
    const imported = await importInto(store, await withoutRemoteRead(url), spanOf(90));
    expect(minutesOf(scrapesOf(imported), "gpu-b")).toEqual(Array.from({ length: 180 }, (_, index) => index / 2));
  });

  test("a server that refuses queries over more than five minutes is read in parts, from the survey on", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 30 });
    let refused = 0;
    const limited = await proxyOf(await withoutRemoteRead(url), (path, form, response) => {
      const range = Number(/\[(\d+)ms\]/.exec(form.get("query") ?? "")?.[1] ?? 0);
      const length = path.endsWith("/query_range")
        ? (Number(form.get("end")) - Number(form.get("start"))) * 1000
        : range;
      if (length <= 5 * MINUTE) return false;
      refused += 1;
      response.writeHead(422).end('{"status":"error","error":"the query exceeded the maximum number of chunks"}');
      return true;
    });
    const imported = await importInto(store, limited, spanOf(30));
    expect(minutesOf(scrapesOf(imported), "gpu-b")).toEqual(Array.from({ length: 60 }, (_, index) => index / 2));
    expect(refused).toBeGreaterThan(2);
  });

  test("a server that is killed in the middle: the same import continues after its last window", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gpu-ledger-killed-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "data"));
    writeFileSync(join(folder, "prometheus.yaml"), "global: {}\n");
    const start = () =>
      startPrometheusOn(join(folder, "prometheus.yaml"), join(folder, "data"), ["--web.enable-remote-write-receiver"]);
    const minutes = 20 * 60;
    const first = await start();
    await fill(first.url, { minutes });
    const progress = join(folder, "progress");
    let isKilled = false;
    const before: ImportedMessages["messages"][number][] = [];
    const failure = await importInto(store, first.url, spanOf(minutes), {
      folder: progress,
      patienceMillis: 0,
      onSend(messages) {
        before.splice(0, before.length, ...messages);
        if (messages.length > 1_500 && !isKilled) process.kill(first.processId, "SIGKILL");
        isKilled ||= messages.length > 1_500;
      },
    }).catch((error: unknown) => error);
    expect(String(failure)).toContain("no answer from");
    const second = await start();
    onTestFinished(() => second.stop());
    const rest = await importInto(store, second.url, spanOf(minutes), { folder: progress });
    const times = minutesOf(scrapesOf({ messages: [...before, ...rest.messages] }), "gpu-a");
    expect([...new Set(times)].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: minutes * 2 }, (_, index) => index / 2),
    );
    // Most of the first part was not sent again.
    expect(rest.messages.length).toBeLessThan(minutes * 4 - 1_000);
  });

  test("a server that answers 503 for a while", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 30 });
    let refused = 0;
    const proxy = await proxyOf(url, (path, _, response) => {
      if (path !== "/api/v1/read" || (refused += 1) % 2 === 1) return false;
      response.writeHead(503, { "retry-after": "0" }).end("Service Unavailable");
      return true;
    });
    expect(scrapesOf(await importInto(store, proxy, spanOf(30)))).toHaveLength(120);
    expect(refused).toBeGreaterThan(1);
  });

  test("a lost block is a gap that the survey has, and no scrape", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 180, outcome: (minute) => (minute >= 60 && minute < 120 ? "none" : "page") });
    const client = createPrometheusClient({
      url,
      headers: {},
      maxLoad: 1,
      patienceMillis: 0,
      timeoutMillis: 10_000,
      mostBytes: 1e8,
      onRetry: () => {},
    });
    onTestFinished(() => client.close());
    const survey = await surveyServer(client, await openSource(client, FROM), [], spanOf(180));
    expect(survey.gaps).toHaveLength(1);
    const [gap] = survey.gaps;
    // Prometheus looks back five minutes.
    expect((gap!.fromMillis - FROM) / MINUTE).toBeGreaterThanOrEqual(59);
    expect((gap!.fromMillis - FROM) / MINUTE).toBeLessThanOrEqual(65);
    expect((gap!.untilMillis - FROM) / MINUTE).toBe(120);
    const minutes = minutesOf(scrapesOf(await importInto(store, url, spanOf(180))), "gpu-a");
    expect(minutes.filter((minute) => minute >= 60 && minute < 120)).toEqual([]);
    expect(minutes).toHaveLength(240);
  });

  test("samples of every five minutes are scrapes at this interval", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 120, everyMillis: 5 * MINUTE });
    const scrapes = scrapesOf(await importInto(store, url, spanOf(120)));
    expect(scrapes).toHaveLength(48);
    expect(new Set(scrapes.map(({ intervalMillis }) => intervalMillis))).toEqual(new Set([300_000]));
  });

  test("two replicas of one Prometheus count once, and fill each other's gaps", async () => {
    const { url } = await withPrometheus();
    await fill(url, {
      minutes: 60,
      labels: { prometheus_replica: "one" },
      outcome: (minute) => (minute >= 30 && minute < 40 ? "none" : "page"),
    });
    await fill(url, {
      minutes: 60,
      labels: { prometheus_replica: "two" },
      phaseMillis: 13_000,
      outcome: (minute) => (minute >= 25 && minute < 50 ? "page" : "none"),
    });
    const minutes = minutesOf(scrapesOf(await importInto(store, url, spanOf(60))), "gpu-a");
    const whole = minutes.filter((minute) => Number.isInteger(minute * 2));
    const filled = minutes.filter((minute) => !Number.isInteger(minute * 2));
    expect(whole).toHaveLength(100);
    expect(filled.length).toBeGreaterThanOrEqual(19);
    expect(filled.length).toBeLessThanOrEqual(20);
    expect(filled.every((minute) => minute > 29.5 && minute < 40)).toBe(true);
  });

  test("names in lower case, and a node under another label", async () => {
    const { url } = await withPrometheus();
    await fill(url, {
      minutes: 30,
      targetOf: (node) => ({ job: "gpus", instance: "10.0.0.1:9400", kubernetes_node: node }),
      rewrite: (page) =>
        page.replace(/DCGM_FI_(DEV|PROF)_\w+/g, (name) => name.toLowerCase()).replaceAll("Hostname", "hostname"),
    });
    const scrapes = scrapesOf(await importInto(store, url, spanOf(30)));
    expect(new Set(scrapes.map(({ node }) => node))).toEqual(new Set(NODES));
    expect(scrapes[0]!.shape.columns).toContain("gr_engine_active_ratio");
  });

  test("a federation that dropped the labels of targets", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 30, targetOf: () => ({}) });
    const scrapes = scrapesOf(await importInto(store, url, spanOf(30)));
    expect(scrapes).toHaveLength(120);
    expect(new Set(scrapes.map(({ node }) => node))).toEqual(new Set(NODES));
  });

  test("minutes in which a collector scraped a node are left out", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 30 });
    const own = await createTestDatabase("import_collected_minutes");
    onTestFinished(() => own.close());
    await own.command(
      `INSERT INTO scrapes (cluster, node, target, collector, scraped_at, epoch, sequence, interval_ms)
       SELECT 'demo', 'gpu-a', 'http://gpu-a:9400/metrics', 'collector-0',
         fromUnixTimestamp64Milli({from:Int64} + number * 30000), fromUnixTimestamp64Milli({from:Int64}), number, 30000
       FROM numbers(20)`,
      { from: FROM + 5 * MINUTE },
    );
    const imported = await importInto(own, url, spanOf(30));
    expect(imported.counts.leftOut).toBe(20);
    const minutes = minutesOf(scrapesOf(imported), "gpu-a");
    expect(minutes.filter((minute) => minute >= 5 && minute < 15)).toEqual([]);
    expect(minutes).toHaveLength(40);
    expect(minutesOf(scrapesOf(imported), "gpu-b")).toHaveLength(60);
  });

  test("only the series with a label are read", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 30, labels: { cluster: "one" } });
    const of = (value: string) =>
      importInto(store, url, spanOf(30), { conditions: [{ label: "cluster", is: "=", value }] });
    expect(scrapesOf(await of("one"))).toHaveLength(120);
    expect(scrapesOf(await of("other"))).toHaveLength(0);
  });

  test("a job that existed for a short time is read", async () => {
    const { url } = await withPrometheus();
    await fill(url, {
      minutes: 600,
      targetOf: (node) => ({ job: `of-${node}`, instance: `${node}:9400`, node }),
      outcome: (minute, node) => (node === "gpu-a" || (minute >= 130 && minute < 150) ? "page" : "none"),
    });
    const minutes = minutesOf(scrapesOf(await importInto(store, url, spanOf(600))), "gpu-b");
    expect(minutes).toEqual(Array.from({ length: 40 }, (_, index) => 130 + index / 2));
  });

  test("without kube-state-metrics, a GPU exists until the end of its import", async () => {
    const { url } = await withPrometheus();
    await fill(url, {
      minutes: 120,
      outcome: (minute, node) => (node === "gpu-a" && minute >= 20 ? "failed" : "page"),
    });
    const gpuMinutes = async (name: string, laterNodes: readonly string[]): Promise<readonly number[]> => {
      const own = await createTestDatabase(`import_end_${name}`);
      onTestFinished(() => own.close());
      const { messages } = await importInto(own, url, spanOf(30));
      const at = `fromUnixTimestamp64Milli(${FROM + 100 * MINUTE})`;
      for (const node of laterNodes)
        await own.command(
          `INSERT INTO scrapes (cluster, node, target, collector, scraped_at, epoch, sequence, interval_ms, failure)
           VALUES ('demo', '${node}', 'a', 'collector-0', ${at}, ${at}, 0, 30000, 'timeout')`,
        );
      const sums = sumsOf(await chargeMessages(own, messages, "demo", spanOf(180)), ["node"]);
      return NODES.map((node) => Number(((sums.get(node)?.gpuHours ?? 0) * 60).toFixed(3)));
    };
    // Of two GPUs each, to the last attempt at 29.5 minutes. A sample covers 75 s.
    expect(await gpuMinutes("alone", [])).toEqual([2 * 29.5, 2 * 30.75]);
    expect(await gpuMinutes("watched", ["gpu-b"])).toEqual([2 * 29.5, 2 * 180]);
  });

  test("an import waits until the processors have stored the messages", async () => {
    const { url } = await withPrometheus();
    await fill(url, { minutes: 30 });
    const own = await createTestDatabase("import_waits");
    onTestFinished(() => own.close());
    const backlogs: number[] = [];
    let storing = Promise.resolve();
    await importInto(own, url, spanOf(30), {
      onBus: () => 120,
      onWaiting(backlog) {
        backlogs.push(backlog);
        if (backlogs.length > 1) return;
        storing = own.command(
          `INSERT INTO scrapes (cluster, node, target, collector, scraped_at, epoch, sequence, interval_ms, partition, position)
           VALUES ('demo', 'gpu-a', 'a', 'prometheus-import', now64(3), now64(3), 0, 30000, 0, 119)`,
        );
      },
    });
    await storing;
    expect(backlogs).toEqual([120]);
  });
});
