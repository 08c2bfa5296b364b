import { compressFrameSync } from "lz4-napi";
import { createPageReader, messagesOf } from "../collectors/exporters/page/reader.ts";
import { createTemplates } from "../collectors/exporters/page/templates.ts";
import { encodeInventory, encodeWorkload, type FactMessage } from "../domain/messages/fact-message.ts";
import { SCRAPE_SCHEMA_VERSION } from "../domain/messages/scrape-message.ts";
import { INVENTORY_TOPIC, SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../domain/messages/topics.ts";
import { chargeWindow } from "../processors/ledger/charging/charge-window.ts";
import { meterWindow } from "../processors/ledger/metering/meter.ts";
import { computeWindow } from "../processors/ledger/rollup/rollups.ts";
import { newRunId } from "../processors/ledger/runs/runs.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { inventoryFact, workloadFact } from "../test/support/facts.ts";
import { createPut, type PlacedMessage } from "../test/support/play.ts";
import { rulesAt, START, withStore } from "./ledger.ts";
import { createMovingPage, podOf, uidOf } from "./page.ts";
import { report } from "./report.ts";
import { HOUR_MILLIS } from "../domain/time.ts";

const NODES = 125;
const GPUS_PER_NODE = 8;
const HOURS = 6;
const INTERVAL_MILLIS = 30_000;
const SCRAPES_PER_INSERT = 10;
const TEAMS = 20;
/** The messages in one batch to a partition: of a small fleet, and of a large one. */
const BATCHES = [1, 16];
const TABLES = [
  "gpu_samples",
  "scrapes",
  "gpu_5m",
  "gpu_hours",
  "usage_hours",
  "charges",
  "workload_facts",
  "inventory_facts",
];

/**
 * The size of a row on disk in each table that grows with a fleet: 6 hours of 1,000 GPUs with a sample every 30 s and a pod on each
 * GPU, read from pages like in collectors, stored, rolled up, metered, charged under one policy, and merged.
 */
export async function benchSizes(): Promise<void> {
  await withStore(async ({ store }) => {
    await fill(store);
    const rules = rulesAt("55.04");
    for (let hour = 0; hour < HOURS; hour++) {
      const windowStart = START + hour * HOUR_MILLIS;
      const publishedAt = START + HOURS * HOUR_MILLIS + hour;
      const run = { cluster: "test", windowStart, generation: 1, watermark: new Map(), publishedAt };
      await computeWindow(store, { ...run, runId: newRunId() });
      await meterWindow(store, { ...run, runId: newRunId() }, { ...rules, asOf: START + HOURS * HOUR_MILLIS });
      await chargeWindow(store, { ...run, runId: newRunId() }, rules.charge);
    }
    for (const table of TABLES) await store.command(`OPTIMIZE TABLE ${table} FINAL`);
    const sizes = await store.query<{ table: string; rows: string; bytes: string }>(
      `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
       WHERE active AND database = currentDatabase() AND has({tables:Array(String)}, table) GROUP BY table`,
      { tables: TABLES },
    );
    const gpuHours = NODES * GPUS_PER_NODE * HOURS;
    for (const { table, rows, bytes } of sizes.toSorted((a, b) => TABLES.indexOf(a.table) - TABLES.indexOf(b.table))) {
      report(`${table}: bytes a row`, [Number(bytes) / Number(rows)], "", {});
      report("  rows an hour of a GPU", [Number(rows) / gpuHours], "", {});
    }
  });
}

/** Stores the facts and scrapes of all hours, as processors do. */
async function fill(store: StoreClient): Promise<void> {
  const reader = createPageReader(createTemplates(1e9));
  const put = createPut(store);
  const pages = Array.from({ length: NODES }, (_, number) => {
    const node = nodeName(number);
    const page = createMovingPage(node, GPUS_PER_NODE);
    const origin = { cluster: "test", node, target: `http://${node}:9400/metrics`, collector: "bench" };
    return { page, source: { key: node, origin: () => origin } };
  });
  let offset = 0;
  const placed = (topic: string, message: FactMessage): PlacedMessage => ({
    ...message,
    topic,
    atMillis: START,
    offset: (offset += 1),
  });
  const scrapes = (sequence: number): readonly PlacedMessage[] =>
    pages.map(({ page, source }, number) => {
      page.collect();
      const reading = reader.read(source, page.bytes, true);
      if ("failure" in reading) throw new Error(reading.failure.detail);
      const moment = {
        epoch: 1,
        sequence,
        scrapedAtMillis: START + sequence * INTERVAL_MILLIS,
        intervalMillis: INTERVAL_MILLIS,
        durationMicros: 4_000 + ((sequence * 7_919 + number * 104_729) % 3_001),
      };
      const value = messagesOf(reading, moment)[0]!.message;
      return placed(SAMPLES_TOPIC, { key: source.key, value, schemaVersion: SCRAPE_SCHEMA_VERSION });
    });

  const nodes = Array.from({ length: NODES }, (_, number) => number);
  await put(nodes.map((number) => placed(INVENTORY_TOPIC, encodeInventory(inventory(number)))));
  await put(nodes.flatMap((number) => podsOf(number).map((pod) => placed(WORKLOADS_TOPIC, pod))));
  const inAll = (HOURS * HOUR_MILLIS) / INTERVAL_MILLIS;
  for (let first = 0; first < inAll; first += SCRAPES_PER_INSERT) {
    await put(Array.from({ length: SCRAPES_PER_INSERT }, (_, index) => scrapes(first + index)).flat());
  }
  const messages = scrapes(inAll).map(({ value }) => value);
  report("gpu.samples: bytes a message of eight GPUs", [messages[0]!.length], "", {});
  for (const size of BATCHES) {
    const bytes = compressFrameSync(Buffer.concat(messages.slice(0, size))).length / size;
    report(`  in batches of ${size}, with lz4`, [bytes], "", {});
  }
}

const nodeName = (number: number): string => `node-${String(number).padStart(6, "0")}`;

function podsOf(number: number): readonly FactMessage[] {
  return Array.from({ length: GPUS_PER_NODE }, (_, gpu) => {
    const begun = START - 2 * HOUR_MILLIS - ((number * 7_919 + gpu * 104_729) % HOUR_MILLIS);
    return encodeWorkload(
      workloadFact({
        uid: uidOf(nodeName(number), gpu),
        namespace: "research",
        name: podOf(nodeName(number), gpu),
        workload: { kind: "Job", name: `train-${number}` },
        node: nodeName(number),
        seenAtMillis: begun,
        times: { created: begun, scheduled: begun, started: begun + 30_000 },
        labels: { team: `team-${number % TEAMS}` },
      }),
    );
  });
}

function inventory(number: number) {
  const joined = START - 24 * HOUR_MILLIS;
  return inventoryFact({ node: nodeName(number), uid: `uid-${number}`, joined, seenAtMillis: joined });
}
