import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CollectorStatus, ProcessorStatus } from "../../services/role.ts";
import { createStoreClient, type StoreClient } from "../../runtime/store/client.ts";
import { startNumberedExporter } from "../support/chaos.ts";
import { createCommandFolder, getJson, type CommandFolder, type RunningCommand } from "../support/command.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import type { ExporterDouble } from "../support/exporter-double.ts";
import { prepareKafka, startKafkaBroker, type KafkaBroker } from "../support/kafka-broker.ts";

const PARTITIONS = 4;
const DATABASE = "ledger";

/** A running command, with the address of its status server. */
interface Part {
  readonly command: RunningCommand;
  readonly address: string;
}

describe.skipIf(!(await prepareKafka()))("collectors and processors of their own, on Kafka", () => {
  let broker: KafkaBroker;
  let embedded: TestStore;
  let store: StoreClient;
  let folder: CommandFolder;
  const exporters: ExporterDouble[] = [];
  let collectors: Part[];
  let processors: Part[];
  /** A killed collector may have a page of each target in transit. */
  let collectorKills = 0;

  beforeAll(async () => {
    folder = createCommandFolder();
    [broker, embedded] = await Promise.all([startKafkaBroker(), startTestStore()]);
    store = createStoreClient({ url: embedded.url, ...embedded.user, database: DATABASE });
    for (let index = 0; index < 8; index++) exporters.push(await startNumberedExporter(index));
    // All at once, as in a cluster: the first process creates topics and tables.
    const commands = [
      start(["collect", "--shard", "0/2"], "collector-0"),
      start(["collect", "--shard", "1/2"], "collector-1"),
      start(["process"], "processor-0"),
      start(["process"], "processor-1"),
    ];
    const parts = await Promise.all(commands.map(async (command) => ({ command, address: await command.address() })));
    [collectors, processors] = [parts.slice(0, 2), parts.slice(2)];
  });

  afterAll(async () => {
    await folder.dispose();
    await Promise.all(exporters.map((exporter) => exporter.close()));
    await store?.close();
    await Promise.all([broker?.dispose(), embedded?.stop()]);
  });

  const start = (args: readonly string[], name: string): RunningCommand =>
    folder.start([...args, "--config", folder.write(`${name}.yaml`, configuration(name))]);

  function configuration(name: string): object {
    return {
      cluster: "prod",
      data: name,
      server: { listen: "127.0.0.1:0" },
      bus: {
        kind: "kafka",
        samplePartitions: PARTITIONS,
        kafka: { brokers: [broker.address], replicationFactor: 1, minInsyncReplicas: 1 },
      },
      store: { kind: "clickhouse", database: DATABASE, clickhouse: { url: embedded.url, ...embedded.user } },
      processor: { flushEvery: "300ms" },
      collector: {
        name,
        interval: "2s",
        timeout: "2s",
        jobs: [{ name: "gpus", targets: exporters.map(({ url }) => url) }],
      },
    };
  }

  const collected = async ({ address }: Part): Promise<CollectorStatus> =>
    (await getJson<{ collector: CollectorStatus }>(`${address}/api/status`)).collector;
  const processed = async ({ address }: Part): Promise<ProcessorStatus> =>
    (await getJson<{ processor: ProcessorStatus }>(`${address}/api/status`)).processor;

  /**
   * The stored pages of each node. Each exporter numbers its pages from 1. If the number of different pages equals the highest number, none is
   * missing; if the number of rows equals it too, none is stored twice.
   */
  const storedOf = (): Promise<readonly { node: string; last: number; pages: number; rows: number }[]> =>
    store.query(`
      SELECT node, toUInt32(max(energy_joules)) AS last, toUInt32(uniqExact(energy_joules)) AS pages,
        toUInt32(count()) AS rows
      FROM gpu_samples FINAL GROUP BY node ORDER BY node`);

  /** Waits until all pages served by now are stored, each once and none missing except by a kill. */
  async function expectStoredUntilNow(timeout: number): Promise<void> {
    const served = exporters.map(({ served: pages }, index) => ({ node: `node-${index}`, pages: pages.length }));
    const missing = async (): Promise<unknown> => {
      const stored = new Map((await storedOf()).map((row) => [row.node, row]));
      return served.filter(({ node, pages }) => {
        const row = stored.get(node);
        return row === undefined || row.last < pages || row.pages < row.last - collectorKills || row.rows !== row.pages;
      });
    };
    await expect.poll(missing, { timeout, interval: 500 }).toEqual([]);
  }

  /** The partitions that a processor reports as its own. */
  async function partitionsOf({ address }: Part): Promise<string[]> {
    const text = await (await fetch(`${address}/metrics`)).text();
    return Array.from(
      text.matchAll(/^gpu_ledger_lag_messages\{partition="(\d+)"\} /gm),
      ([, name]) => name!,
    ).toSorted();
  }

  it("answer on every path, are ready, and share the targets: each is scraped by exactly one collector", async () => {
    for (const { address } of [...collectors, ...processors]) {
      expect(await (await fetch(`${address}/healthz`)).text()).toBe("ok\n");
      await expect.poll(async () => (await fetch(`${address}/readyz`)).status).toBe(200);
      expect(await (await fetch(`${address}/metrics`)).text()).toMatch(/^# TYPE gpu_ledger_\w+ /m);
    }
    const totals = await Promise.all(collectors.map(async (part) => (await collected(part)).targets.total));
    expect(totals[0]! + totals[1]!).toBe(exporters.length);
    await expectStoredUntilNow(30_000);
    const shards = await store.query("SELECT node, uniqExact(collector) AS collectors FROM scrapes GROUP BY node");
    expect(shards).toHaveLength(exporters.length);
    expect(shards.every((row) => (row as { collectors: string }).collectors === "1")).toBe(true);
  });

  it("share the partitions of the bus between the processors, and one of them leads", async () => {
    const shared = async (): Promise<unknown> => (await Promise.all(processors.map(partitionsOf))).flat().toSorted();
    await expect.poll(shared).toEqual(["0", "1", "2", "3"]);
    for (const processor of processors) expect(await partitionsOf(processor)).toHaveLength(PARTITIONS / 2);
    const leaders = async (): Promise<number> =>
      (await Promise.all(processors.map(processed))).filter(({ leader }) => leader !== undefined).length;
    await expect.poll(leaders).toBe(1);
  });

  it("spool while the broker is killed, and send the messages in order when it is back, a killed collector's too", async () => {
    await broker.kill();
    const waiting = async (): Promise<boolean> =>
      (await Promise.all(collectors.map(collected))).every(({ targets, spool }) => spool.messages >= 2 * targets.total);
    await expect.poll(waiting).toBe(true);
    for (const { address } of collectors) expect((await fetch(`${address}/healthz`)).status).toBe(200);

    const [first] = collectors as [Part, Part];
    const { spool } = await collected(first);
    first.command.child.kill("SIGKILL");
    await first.command.ended;
    collectorKills += 1;
    const again = start(["collect", "--shard", "0/2"], "collector-0");
    collectors[0] = { command: again, address: await again.address() };
    expect((await collected(collectors[0])).spool.messages).toBeGreaterThanOrEqual(spool.messages);

    await broker.start();
    const spooled = async (): Promise<number[]> =>
      (await Promise.all(collectors.map(collected))).map((status) => status.spool.messages);
    await expect.poll(spooled).toEqual([0, 0]);
    await expectStoredUntilNow(60_000);
    for (const part of collectors) expect((await collected(part)).spool.dropped).toBe(0);
    const sent = await store.query<{ moments: readonly string[] }>(`
      SELECT groupArray(toString(epoch) || ' ' || leftPad(toString(sequence), 9, '0')) AS moments
      FROM (SELECT * FROM scrapes FINAL ORDER BY position) GROUP BY node`);
    expect(sent).toHaveLength(exporters.length);
    for (const { moments } of sent) expect(moments).toEqual(moments.toSorted());
  });

  it("hand all partitions to the remaining processor when the other one is killed", { timeout: 100_000 }, async () => {
    const [left, killed] = processors as [Part, Part];
    await expect.poll(() => partitionsOf(killed)).toHaveLength(PARTITIONS / 2);
    killed.command.child.kill("SIGKILL");
    await killed.command.ended;
    // Its session of 30 s has to end first.
    await expect.poll(() => partitionsOf(left), { timeout: 60_000, interval: 500 }).toEqual(["0", "1", "2", "3"]);
    await expect.poll(async () => (await processed(left)).leader).toBeDefined();
    await expectStoredUntilNow(30_000);
    expect((await processed(left)).deadLetters).toBe(0);
  });

  it("end with SIGTERM and exit code 0, with every served page stored once", async () => {
    for (const exporter of exporters) exporter.behave((_, response) => void response.writeHead(503).end());
    await expectStoredUntilNow(30_000);
    // The hardest moment: the group rebalances, and waits for a dead member.
    const short = start(["process"], "processor-2");
    await short.address();
    short.child.kill("SIGKILL");
    await short.ended;
    start(["process"], "processor-3");
    await expect.poll(() => partitionsOf(processors[0]!)).toEqual([]);
    const running = [...collectors, processors[0]!];
    const ended = await Promise.all(running.map(({ command }) => command.end("SIGTERM")));
    for (const { code, stderr } of ended) {
      expect({ code, log: code === 0 ? "" : stderr.slice(-2000) }).toEqual({ code: 0, log: "" });
    }
    const stored = await storedOf();
    expect(stored.map(({ rows }) => rows)).toEqual(stored.map(({ pages }) => pages));
    const missing = exporters.map(({ served }, index) => served.length - stored[index]!.pages);
    expect(Math.min(...missing)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...missing)).toBeLessThanOrEqual(collectorKills);
  });
});
