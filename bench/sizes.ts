import { compressFrameSync } from "lz4-napi";
import { createPageReader } from "../collectors/exporters/page/reader.ts";
import { createTemplates } from "../collectors/exporters/page/templates.ts";
import { encodeInventory, encodeWorkload, type FactMessage } from "../domain/messages/fact-message.ts";
import { SCRAPE_SCHEMA_VERSION } from "../domain/messages/scrape-message.ts";
import { INVENTORY_TOPIC, SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../domain/messages/topics.ts";
import { HOUR_MILLIS } from "../domain/time.ts";
import { chargeWindow } from "../processors/ledger/charging/charge-window.ts";
import { meterWindow } from "../processors/ledger/metering/meter.ts";
import { computeWindow } from "../processors/ledger/rollup/rollups.ts";
import { newRunId } from "../processors/ledger/runs/runs.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import { inventoryFact, workloadFact } from "../test/support/facts.ts";
import { createPut, type PlacedMessage } from "../test/support/play.ts";
import { defineBench, report } from "./frame.ts";
import { START } from "./ledger.ts";
import { createMovingPage, messagesOfPage, nameOf, podOf, sourceOf, uidOf } from "./page.ts";
import { benchRules, CLUSTER, sizesOf, startStore } from "./store.ts";

const GPUS_PER_NODE = 8;
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
 * The size of a row on disk in each table that grows with a fleet: hours with a sample every 30 s and a pod on each
 * GPU, read from pages like in collectors, stored, rolled up, metered, charged under one policy, and merged.
 */
export const sizes = defineBench({
  name: "sizes",
  about: "bytes of a row in each table, and of a message",
  options: { gpus: 1_000, hours: 6 },
  async run({ gpus, hours }, kit) {
    const { store } = await startStore(kit);
    await fill(store, gpus / GPUS_PER_NODE, hours);
    const rules = benchRules();
    const end = START + hours * HOUR_MILLIS;
    for (let windowStart = START; windowStart < end; windowStart += HOUR_MILLIS) {
      const run = {
        cluster: CLUSTER,
        windowStart,
        generation: 1,
        watermark: new Map(),
        publishedAt: windowStart + end,
      };
      await computeWindow(store, { ...run, runId: newRunId() });
      await meterWindow(store, { ...run, runId: newRunId() }, { ...rules, asOf: end });
      await chargeWindow(store, { ...run, runId: newRunId() }, rules.charge);
    }
    for (const { table, rows, bytes } of await sizesOf(store, TABLES)) {
      report(`${table}: bytes a row`, bytes / rows);
      report("  rows an hour of a GPU", rows / (gpus * hours));
    }
  },
});

/** Stores the facts and scrapes of all hours, as processors do. */
async function fill(store: StoreClient, nodes: number, hours: number): Promise<void> {
  const reader = createPageReader(createTemplates(1e9));
  const put = createPut(store);
  const pages = Array.from({ length: nodes }, (_, number) => ({
    source: sourceOf(nameOf(number)),
    page: createMovingPage(nameOf(number), GPUS_PER_NODE),
  }));
  let offset = 0;
  const placed = (topic: string, message: FactMessage): PlacedMessage => ({
    ...message,
    topic,
    atMillis: START,
    offset: (offset += 1),
  });
  const scrapes = (sequence: number): readonly PlacedMessage[] =>
    pages.map(({ source, page }, number) => {
      page.collect();
      const [value] = messagesOfPage(reader, source, page, {
        sequence,
        scrapedAtMillis: START + sequence * INTERVAL_MILLIS,
        durationMicros: 4_000 + ((sequence * 7_919 + number * 104_729) % 3_001),
      });
      return placed(SAMPLES_TOPIC, { key: source.key, value: value!, schemaVersion: SCRAPE_SCHEMA_VERSION });
    });

  const numbers = Array.from({ length: nodes }, (_, number) => number);
  const joined = START - 24 * HOUR_MILLIS;
  const inventory = (number: number) =>
    inventoryFact({ node: nameOf(number), uid: `uid-${number}`, joined, seenAtMillis: joined });
  await put(numbers.map((number) => placed(INVENTORY_TOPIC, encodeInventory(inventory(number)))));
  await put(numbers.flatMap((number) => podsOf(number).map((pod) => placed(WORKLOADS_TOPIC, pod))));
  const inAll = (hours * HOUR_MILLIS) / INTERVAL_MILLIS;
  for (let first = 0; first < inAll; first += SCRAPES_PER_INSERT) {
    await put(Array.from({ length: SCRAPES_PER_INSERT }, (_, index) => scrapes(first + index)).flat());
  }
  const messages = scrapes(inAll).map(({ value }) => value);
  report("gpu.samples: bytes a message of eight GPUs", messages[0]!.length);
  for (const size of BATCHES) {
    const some = messages.slice(0, size);
    report(`  in batches of ${some.length}, with lz4`, compressFrameSync(Buffer.concat(some)).length / some.length);
  }
}

function podsOf(number: number): readonly FactMessage[] {
  const node = nameOf(number);
  return Array.from({ length: GPUS_PER_NODE }, (_, gpu) => {
    const begun = START - 2 * HOUR_MILLIS - ((number * 7_919 + gpu * 104_729) % HOUR_MILLIS);
    return encodeWorkload(
      workloadFact({
        uid: uidOf(node, gpu),
        namespace: "research",
        name: podOf(node, gpu),
        workload: { kind: "Job", name: `train-${number}` },
        node,
        seenAtMillis: begun,
        times: { created: begun, scheduled: begun, started: begun + 30_000 },
        labels: { team: `team-${number % TEAMS}` },
      }),
    );
  });
}
