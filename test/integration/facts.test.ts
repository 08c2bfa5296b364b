import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { compareFacts } from "../../domain/fact.ts";
import { encodeClusterFact, encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, DEAD_LETTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { startFacts } from "../../processors/ingest/facts.ts";
import type { Intake } from "../../processors/ingest/intake.ts";
import { readFacts } from "../../processors/ledger/metering/read-facts.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../support/facts.ts";
import { insertInventory, insertWorkloads } from "../support/insert-facts.ts";
import { emptyTables } from "../../runtime/store/empty-tables.ts";
import { createTestDatabase } from "../support/database.ts";
import { openTestBus } from "../support/pipeline.ts";
import { rounds } from "../support/rounds.ts";

const FOR_EVER = Date.UTC(2299, 11, 31);

let store: StoreClient;
beforeAll(async () => {
  store = await createTestDatabase("facts");
});
afterAll(() => store.close());
beforeEach(() => emptyTables(store));

interface Interval {
  readonly uid: string;
  readonly phase: string;
  readonly from: number;
  readonly until: number;
}

/** The expected history: facts in their order, each from the time when it was seen, never before the previous one. */
function intervalsOf(facts: readonly WorkloadFact[]): Interval[] {
  const intervals: Interval[] = [];
  for (const uid of new Set(facts.map((fact) => fact.uid))) {
    const mine = facts.filter((fact) => fact.uid === uid).toSorted(compareFacts);
    let from = 0;
    const starts = mine.map((fact) => (from = Math.max(from, fact.end?.atMillis ?? fact.seenAtMillis)));
    mine.forEach((fact, index) => {
      const until = starts[index + 1] ?? FOR_EVER;
      if (fact.end === undefined && until > starts[index]!) {
        intervals.push({ uid, phase: fact.phase, from: starts[index]!, until });
      }
    });
  }
  return intervals.toSorted((a, b) => (a.uid === b.uid ? a.from - b.from : a.uid < b.uid ? -1 : 1));
}

async function readIntervals(): Promise<Interval[]> {
  const rows = await store.query<{ uid: string; phase: string; since: string; until: string }>(`
    SELECT uid, phase, toUnixTimestamp64Milli(valid_from) AS since, toUnixTimestamp64Milli(valid_until) AS until
    FROM workloads ORDER BY uid, valid_from`);
  return rows.map(({ uid, phase, since, until }) => ({ uid, phase, from: Number(since), until: Number(until) }));
}

const change = fc.record({
  uid: fc.constantFrom("pod-1", "pod-2"),
  epoch: fc.integer({ min: 1, max: 2 }),
  version: fc.integer({ min: 1, max: 30 }),
  seconds: fc.integer({ min: 0, max: 600 }),
  phase: fc.constantFrom("Pending", "Running", "Succeeded"),
  ended: fc.boolean(),
});

describe("the facts of nodes", () => {
  it("are those of the asked nodes, in two statements", async () => {
    const nodes = ["node-0", "node-1", "node-2"];
    const pods = nodes.flatMap((node) => ["a", "b"].map((name) => ({ node, uid: `${name}-${node}` })));
    await insertWorkloads(
      store,
      pods.map((pod) => workloadFact(pod)),
    );
    await insertInventory(
      store,
      ["node-1", "node-2"].map((node) => inventoryFact({ node, uid: `machine-${node}` })),
    );
    let reads = 0;
    const counted: StoreClient = { ...store, query: (sql, asked) => ((reads += 1), store.query(sql, asked)) };
    const asked = ["node-0", "node-1"];
    const { machines, pods: bound } = await readFacts(counted, "test", asked, { from: NOON, until: NOON + 3_600_000 });
    expect(reads).toBe(2);
    expect([...bound].map(([node, ofNode]) => [node, [...ofNode.keys()].toSorted()])).toEqual(
      asked.map((node) => [node, [`a-${node}`, `b-${node}`]]),
    );
    expect([...machines].map(([node, ofNode]) => [node, ofNode.map(({ uid }) => uid)])).toEqual([
      ["node-1", ["machine-node-1"]],
    ]);
  });
});

describe("the history of workloads", () => {
  it("is the same for any order of the facts: replayed, late or out of order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(change, { maxLength: 12, selector: ({ uid, epoch, version }) => `${uid}/${epoch}/${version}` }),
        fc.array(fc.nat(11), { maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        async (changes, replays, order) => {
          const facts = changes.map(({ uid, epoch, version, seconds, phase, ended }) => {
            const seenAtMillis = NOON + seconds * 1000;
            const fact = workloadFact({
              uid,
              epoch,
              resourceVersion: String(version),
              seenAtMillis,
              phase: phase as "Running",
            });
            return ended ? { ...fact, end: { atMillis: seenAtMillis, inferred: false } } : fact;
          });
          const sent = [...facts, ...replays.flatMap((index) => facts[index] ?? [])]
            .map((fact) => ({ fact, key: order.next().value as number }))
            .toSorted((a, b) => a.key - b.key)
            .map(({ fact }) => fact);
          await store.command("TRUNCATE TABLE workload_facts");
          const half = sent.length >> 1;
          if (half > 0) await insertWorkloads(store, sent.slice(0, half));
          if (sent.length > 0) await insertWorkloads(store, sent.slice(half));
          expect(await readIntervals()).toEqual(intervalsOf(facts));
        },
      ),
      { numRuns: rounds(40) },
    );
  });
});

describe("facts on the bus", () => {
  let bus: Bus;
  let closeBus: () => Promise<void>;
  let intake: Intake;
  const counts = { stored: 0, deadLetters: [] as string[], dropped: [] as string[] };

  beforeEach(async () => {
    Object.assign(counts, { stored: 0, deadLetters: [], dropped: [] });
    ({ bus, close: closeBus } = await openTestBus());
    intake = await startFacts({
      bus,
      store,
      flushMillis: 50,
      flushRows: 1_000,
      now: () => NOON,
      events: {
        onStored: (items) => (counts.stored += items.length),
        onDropped: (reason) => counts.dropped.push(reason),
        onDeadLetter: (reason) => counts.deadLetters.push(reason),
        onFutureSchema: () => expect.unreachable(),
        onJump: () => expect.unreachable(),
        onRetry: () => expect.unreachable(),
        onFatal: (error) => expect.unreachable(String(error)),
      },
    });
  });
  afterEach(async () => {
    await intake.stop();
    await closeBus();
  });

  it("become rows of their tables, with columns for SQL and the whole fact beside them", async () => {
    await bus.send(WORKLOADS_TOPIC, [encodeWorkload(workloadFact())]);
    await bus.send(INVENTORY_TOPIC, [encodeInventory(inventoryFact({ cordonedSince: NOON - 1_000 }))]);
    await bus.send(CLUSTER_TOPIC, [encodeClusterFact(namespaceFact())]);
    await vi.waitFor(() => expect(counts.stored).toBe(3), 90_000);

    const [pod] = await store.query<Record<string, unknown>>("SELECT * FROM workloads");
    expect(pod).toMatchObject({
      cluster: "test",
      uid: "pod-1",
      namespace: "ml",
      pod: "train-0",
      node: "gpu-a",
      workload_kind: "Job",
      workload: "train",
      workload_type: "training",
      scheduled_at: "2026-03-01 11:59:10.000",
      finished_at: null,
      valid_from: "2026-03-01 12:00:00.000",
    });
    expect(JSON.parse(pod!["fact"] as string)).toEqual(workloadFact());
    const [node] = await store.query<Record<string, unknown>>("SELECT * FROM inventory");
    expect(node).toMatchObject({
      node: "gpu-a",
      gpus: 8,
      model: "NVIDIA-H100-80GB-HBM3",
      instance_type: "p5.48xlarge",
      capacity_type: "on-demand",
      ready: true,
      cordoned_at: "2026-03-01 11:59:59.000",
    });
    const [namespace] = await store.query<Record<string, unknown>>(
      "SELECT kind, name, valid_from FROM cluster_history",
    );
    expect(namespace).toEqual({ kind: "Namespace", name: "ml", valid_from: "2026-03-01 12:00:00.000" });
  });

  it("that are invalid become dead letters with the reason, tombstones are skipped, and later facts are stored", async () => {
    await bus.send(WORKLOADS_TOPIC, [
      { key: "poison", value: Buffer.from("{}"), schemaVersion: 1 },
      { key: '["test","pod-1"]', value: null, schemaVersion: 1 },
      encodeWorkload(workloadFact()),
    ]);
    await vi.waitFor(() => expect(counts.stored).toBe(1), 90_000);
    expect(counts).toMatchObject({ deadLetters: ["not-a-fact"], dropped: ["tombstone"] });
    const [deadLetter] = await bus.read({ topic: DEAD_LETTER_TOPIC, partition: 0 }, 0, 10);
    expect(deadLetter?.headers).toMatchObject({
      "dead-reason": "not-a-fact",
      "dead-cause": "it.cluster is not a text",
    });
  });

  it("end an object's time, inferred or not", async () => {
    const gone = {
      resourceVersion: "120",
      seenAtMillis: NOON + 60_000,
      end: { atMillis: NOON + 30_000, inferred: true },
    };
    await bus.send(WORKLOADS_TOPIC, [encodeWorkload(workloadFact()), encodeWorkload(workloadFact(gone))]);
    await vi.waitFor(() => expect(counts.stored).toBe(2), 90_000);
    expect(await readIntervals()).toEqual([{ uid: "pod-1", phase: "Running", from: NOON, until: NOON + 30_000 }]);
  });
});
