import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { inspectPage } from "../../collectors/exporters/inspect.ts";
import { ownerKinds } from "../../collectors/kubernetes/owners/kinds.ts";
import { startDemoRole } from "../../services/demo.ts";
import { decodeWorkload } from "../../domain/messages/fact-message.ts";
import { createScrapeDecoder } from "../../domain/messages/scrape-message.ts";
import { createServingDecoder } from "../../domain/messages/serving-message.ts";
import { SAMPLES_TOPIC, SERVING_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { Scrape } from "../../domain/scrape.ts";
import type { ServingScrape } from "../../domain/serving/scrape.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { createFleet } from "../../demo/fleet/fleet.ts";
import { isExporterAway } from "../../demo/fleet/troubles.ts";
import { startHistory, type History } from "../../demo/history/history.ts";
import { livesBetween } from "../../demo/kubernetes/cluster/lives.ts";
import { startExporterServers, type ExporterServers } from "../../demo/servers.ts";
import { enginesOf } from "../../demo/serving/engine.ts";
import { gatewayPodOf } from "../../demo/serving/gateway.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { createConfigSchema } from "../../runtime/config/schema.ts";
import { openTestBus, silent } from "../support/pipeline.ts";
import { HOUR_MILLIS, MINUTE_MILLIS } from "../../domain/time.ts";

const NOW = Date.UTC(2026, 5, 2, 12, 0, 10);
const fleet = createFleet({ seed: 4, gpus: 96, cluster: "test" });
const projection = { pods: { kinds: ownerKinds() }, nodes: {} };

describe("the exporters of the demo fleet", () => {
  let clock = NOW;
  let servers: ExporterServers;
  beforeAll(async () => {
    servers = await startExporterServers(fleet, () => clock);
  });
  afterAll(() => servers.stop());

  const urlOf = (name: string): string => servers.targets.find(({ node }) => node === name)!.url;

  test("answer over HTTP, each with its node's GPUs, and send the length of the page", async () => {
    expect(servers.targets.map(({ node }) => node)).toEqual(fleet.nodes.map(({ name }) => name));
    for (const node of fleet.nodes.filter((each) => !isExporterAway(each, clock) && each.troubles.size === 0)) {
      const response = await fetch(urlOf(node.name));
      const body = Buffer.from(await response.arrayBuffer());
      expect(response.status).toBe(200);
      expect(response.headers.get("content-length")).toBe(String(body.length));
      const inspection = inspectPage(body);
      if ("reason" in inspection) throw new Error(inspection.detail);
      const uuids = new Set(inspection.devices.map(({ device }) => device.uuid));
      expect(uuids).toEqual(new Set(node.gpus.map(({ uuid }) => uuid)));
    }
  });

  test("give the same page again until they have collected again", async () => {
    const url = urlOf(fleet.nodes[0]!.name);
    const pages: string[] = [];
    for (let i = 0; i < 12; i++) {
      clock = NOW + i * 10_000;
      pages.push(await (await fetch(url)).text());
    }
    clock = NOW;
    expect(new Set(pages).size).toBeGreaterThanOrEqual(4);
    expect(new Set(pages).size).toBeLessThanOrEqual(5);
  });

  test("fail while the exporter is away, and come back", async () => {
    const node = fleet.nodes.find((each) => each.troubles.has("exporter-away"))!;
    const statuses: number[] = [];
    for (let minute = 0; minute < 60; minute++) {
      clock = NOW + minute * MINUTE_MILLIS;
      const response = await fetch(urlOf(node.name));
      statuses.push(response.status);
      await response.arrayBuffer();
    }
    clock = NOW;
    expect(statuses.filter((status) => status === 503)).toHaveLength(10);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
  });

  test("of a large fleet share a few ports, by path", async () => {
    const large = await startExporterServers(createFleet({ seed: 4, gpus: 1000 }), () => clock);
    try {
      expect(new Set(large.targets.map(({ url }) => new URL(url).port)).size).toBe(16);
      const { url, node } = large.targets.at(-1)!;
      expect(url).toContain(`/nodes/${node}/metrics`);
      expect((await fetch(url)).status).toBe(200);
      expect((await fetch(new URL("/metrics", url))).status).toBe(404);
    } finally {
      await large.stop();
    }
  });
});

describe("the history of the demo fleet", () => {
  let bus: Bus;
  let closeBus: () => Promise<void>;
  let folder: string;
  beforeEach(async () => {
    ({ bus, close: closeBus } = await openTestBus());
    folder = await mkdtemp(join(tmpdir(), "gpu-ledger-demo-"));
  });
  afterEach(async () => {
    await closeBus();
    await rm(folder, { recursive: true, force: true });
  });

  const small = createFleet({ seed: 4, gpus: 8, cluster: "test" });
  const start = (at: number, of = small, historyMillis = 26 * HOUR_MILLIS): Promise<History> =>
    startHistory({
      fleet: of,
      historyMillis,
      bus,
      path: join(folder, "demo-history.json"),
      projection,
      now: () => at,
      rowsPerSecond: 1e6,
      logger: silent,
    });
  const run = async (at: number, of = small): Promise<{ readonly sent: number; readonly total: number }> => {
    const history = await start(at, of);
    await history.done;
    await history.stop();
    return history.progress();
  };

  /** Everything on a topic of the bus, in the order of its partition. */
  async function read<Value extends object>(
    of: string,
    decode: (bytes: Uint8Array) => Value | { readonly invalid: string },
  ): Promise<Value[]> {
    const values: Value[] = [];
    for (const { topic, partition, low, high } of await bus.watermarks(of)) {
      for (const { value } of await bus.read({ topic, partition }, low, high - low)) {
        const decoded = decode(value!);
        if ("invalid" in decoded) throw new Error(String(decoded.invalid));
        values.push(decoded);
      }
    }
    return values;
  }
  function sent(): Promise<Scrape[]> {
    const decoder = createScrapeDecoder();
    return read<Scrape>(SAMPLES_TOPIC, (bytes) => decoder.decode(bytes));
  }
  /** The facts of ended pods. */
  async function endedPods(): Promise<WorkloadFact[]> {
    const facts = await read<WorkloadFact>(WORKLOADS_TOPIC, decodeWorkload);
    return facts.filter(({ end }) => end !== undefined);
  }
  const keyOf = ({ node, scrapedAtMillis, epoch, sequence }: Scrape): string =>
    [node, scrapedAtMillis, epoch, sequence].join("/");

  test("is sent once, newest day first, a scrape for each node and time", async () => {
    const progress = await run(NOW);
    expect(progress.sent).toBe(progress.total);
    const scrapes = await sent();
    expect(scrapes).toHaveLength(small.nodes.length * 26 * 120);
    expect(new Set(scrapes.map(keyOf)).size).toBe(scrapes.length);
    const times = scrapes.map(({ scrapedAtMillis }) => scrapedAtMillis);
    expect(Math.max(...times)).toBeLessThan(NOW);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(NOW - 26 * HOUR_MILLIS);
    const first = scrapes.filter(({ node }) => node === small.nodes[0]!.name);
    const days = first.map(({ epoch }) => epoch);
    expect(days).toEqual(days.toSorted((a, b) => b - a));
    expect(scrapes.filter(({ failure }) => failure !== undefined && failure.reason !== "http-status")).toEqual([]);
    expect(new Set(scrapes.map(({ cluster, collector }) => `${cluster}/${collector}`))).toEqual(
      new Set(["test/demo-history"]),
    );
  });

  test("has the pages of its engines and its gateway at the same times, with their pods", async () => {
    const historyMillis = 2 * HOUR_MILLIS;
    const history = await start(NOW, fleet, historyMillis);
    await history.done;
    await history.stop();
    const decoder = createServingDecoder();
    const scrapes = await read<ServingScrape>(SERVING_TOPIC, (bytes) => decoder.decode(bytes));
    const times = new Set((await sent()).map(({ scrapedAtMillis }) => scrapedAtMillis));
    expect(
      scrapes.filter(({ failure, scrapedAtMillis }) => failure !== undefined || !times.has(scrapedAtMillis)),
    ).toEqual([]);
    const lives = livesBetween(fleet, NOW - historyMillis, NOW).filter((life) => enginesOf(life).length > 0);
    const seen = new Set(scrapes.map(({ podUid }) => podUid));
    expect(seen).toEqual(new Set([...lives.map(({ uid }) => uid), gatewayPodOf(fleet).uid]));
    const ofGateway = scrapes.filter(({ shape }) => shape.exporter === "litellm");
    expect(new Set(ofGateway.map(({ scrapedAtMillis }) => scrapedAtMillis))).toEqual(times);
    for (const { podUid, scrapedAtMillis, shape } of scrapes.filter((each) => each.shape.exporter === "vllm")) {
      const { startMillis, endMillis } = lives.find(({ uid }) => uid === podUid)!;
      expect(shape.series).toHaveLength(1);
      expect(scrapedAtMillis >= startMillis && scrapedAtMillis < endMillis).toBe(true);
    }
  });

  test("is continued by a second start, which sends only the gap", async () => {
    await run(NOW);
    const before = (await sent()).length;
    const later = NOW + 3 * HOUR_MILLIS;
    await run(later);
    const gap = (await sent()).slice().filter(({ scrapedAtMillis }) => scrapedAtMillis >= NOW);
    expect(await sent()).toHaveLength(before + small.nodes.length * 3 * 120);
    expect(gap).toHaveLength(small.nodes.length * 3 * 120);
    expect(await run(later)).toEqual({ sent: 0, total: 0 });
  });

  test("has the facts of the ended pods, and at a second start only those that ended in the gap", async () => {
    await run(NOW);
    const first = await endedPods();
    expect(first.length).toBeGreaterThan(5);
    for (const { end } of first) {
      expect(end!.atMillis).toBeGreaterThan(NOW - 26 * HOUR_MILLIS);
      expect(end!.atMillis).toBeLessThanOrEqual(NOW);
    }
    const later = NOW + 12 * HOUR_MILLIS;
    await run(later);
    const gap = (await endedPods()).filter(({ end }) => end!.atMillis > NOW);
    expect(gap.length).toBeGreaterThan(0);
    expect(await endedPods()).toHaveLength(first.length + gap.length);
    await run(later);
    expect(await endedPods()).toHaveLength(first.length + gap.length);
  });

  test("leaves out the time for which the fleet was live", async () => {
    let clock = NOW;
    const path = join(folder, "demo-history.json");
    const options = { fleet: small, historyMillis: HOUR_MILLIS, bus, path, projection, logger: silent };
    const first = await startHistory({ ...options, now: () => clock });
    await first.done;
    clock = NOW + 30 * MINUTE_MILLIS;
    await first.stop();
    clock = NOW + 40 * MINUTE_MILLIS;
    const second = await startHistory({ ...options, now: () => clock });
    await second.done;
    await second.stop();
    const after = (await sent()).map(({ scrapedAtMillis }) => scrapedAtMillis).filter((at) => at >= NOW);
    expect(Math.min(...after)).toBeGreaterThanOrEqual(NOW + 30 * MINUTE_MILLIS);
    expect(after).toHaveLength(small.nodes.length * 20);
  });

  test("after an interruption sends the rest, and nothing under another key", async () => {
    const history = await start(NOW, fleet);
    while (history.progress().sent === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await history.stop();
    const half = history.progress();
    expect(half.sent).toBeLessThan(half.total);
    const rest = await run(NOW, fleet);
    expect(rest.total).toBeLessThanOrEqual(half.total);
    const scrapes = await sent();
    const keys = new Set(scrapes.map(keyOf));
    const perNode = (26 * HOUR_MILLIS) / scrapes[0]!.intervalMillis;
    expect(keys.size).toBe(fleet.nodes.length * perNode);
    // At most the hour in progress is sent twice.
    expect(scrapes.length - keys.size).toBeLessThanOrEqual((fleet.nodes.length * perNode) / 26);
  });

  test("starts again for another fleet, and if the record cannot be read", async () => {
    const whole = await run(NOW);
    const other = createFleet({ seed: 5, gpus: 8, cluster: "test" });
    expect((await run(NOW, other)).total).toBe(whole.total);
    await writeFile(join(folder, "demo-history.json"), '{"version":1,"sent":[[');
    expect((await run(NOW, other)).total).toBe(whole.total);
  });

  test("is left out above 2,000 GPUs", async () => {
    expect(await run(NOW, createFleet({ seed: 4, gpus: 2001 }))).toEqual({ sent: 0, total: 0 });
    expect(await sent()).toEqual([]);
  });
});

test("the demo role serves the fleet, sends its history and records it in the data folder", async () => {
  const data = await mkdtemp(join(tmpdir(), "gpu-ledger-demo-role-"));
  const config = createConfigSchema({ env: {}, readFile: () => "", resolvePath: (path) => path }).parse({
    data,
    demo: { gpus: 8, seed: 4, history: "2h" },
  });
  const role = await startDemoRole(config, silent);
  try {
    const { targets, gpus } = await role.status();
    expect(gpus).toBe(8);
    expect(targets.length).toBeGreaterThan(1);
    expect(role.notReady()).toBeUndefined();
    await expect
      .poll(async () => (await role.status()).history)
      .toSatisfy(({ sent, total }: { sent: number; total: number }) => total > 0 && sent === total);
  } finally {
    await role.stop();
  }
  const record = JSON.parse(await readFile(join(data, "demo-history.json"), "utf8")) as { live: unknown[] };
  expect(record.live).toHaveLength(1);
  await rm(data, { recursive: true, force: true });
});
