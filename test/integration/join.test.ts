import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { Device } from "../../domain/device.ts";
import { encodeClusterFact, encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { Processor } from "../../processors/ingest/processor.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../support/facts.ts";
import { gpu, labeled } from "../support/join-world.ts";
import { emptyTables } from "../../runtime/store/empty-tables.ts";
import { createTestDatabase } from "../support/database.ts";
import { openTestBus, scrapeMessage, startTestProcessor, type ProcessorLog } from "../support/pipeline.ts";

describe("samples and facts", () => {
  let store: StoreClient;
  let bus: Bus;
  let closeBus: () => Promise<void>;
  let processor: Processor | undefined;
  let log: ProcessorLog;
  let sequence = 0;

  beforeAll(async () => {
    store = await createTestDatabase("joined");
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await emptyTables(store);
    ({ bus, close: closeBus } = await openTestBus());
  });
  afterEach(async () => {
    await processor?.stop();
    processor = undefined;
    await closeBus();
  });

  const start = async (): Promise<void> => {
    ({ processor, log } = await startTestProcessor(bus, store));
  };
  const pod = (name: string, given: Partial<WorkloadFact> = {}): Promise<void> =>
    bus.send(WORKLOADS_TOPIC, [encodeWorkload(workloadFact({ uid: `uid-${name}`, name, ...given }))]);
  const sample = (devices: readonly Device[], at = NOON): Promise<void> =>
    bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "gpu-a", sequence: (sequence += 1), at, devices })]);
  const stored = (scrapes: number): Promise<void> =>
    expect.poll(() => ({ stored: log.stored, fatal: log.fatal })).toEqual({ stored: scrapes, fatal: [] });
  const rows = async (at = NOON): Promise<readonly string[]> => {
    const found = await store.query<Record<string, string>>(
      `SELECT concat(gpu, ' ', evidence, ' ', holder_pod, ' ', holder_uid, ' ', toString(holders)) AS holderText
       FROM gpu_samples FINAL WHERE scraped_at = fromUnixTimestamp64Milli({at:Int64}) ORDER BY toUInt8(gpu)`,
      { at },
    );
    return found.map(({ holderText }) => holderText!);
  };

  it("that were sent before a processor starts are all known at its first join", async () => {
    const many = Array.from({ length: 3_000 }, (_, i) =>
      encodeWorkload(workloadFact({ uid: `uid-${i}`, name: `pod-${i}`, node: `node-${i % 400}` })),
    );
    await bus.send(WORKLOADS_TOPIC, many);
    await pod("last");
    await sample([gpu(0, labeled("last")), gpu(1, labeled("pod-7")), gpu(2, labeled("unheard-of"))]);
    await start();
    await stored(1);
    expect(await rows()).toEqual(["0 label last uid-last 1", "1 none   0", "2 label unheard-of  1"]);
    expect(processor!.holdings.cluster("test").pod("uid-2999")?.name).toBe("pod-2999");
  });

  it("are joined by the strongest evidence, which is stored with the pod's UID and the number of holders", async () => {
    const ofCluster = (kind: "ResourceClaim" | "ResourceSlice", body: object): Promise<void> =>
      bus.send(CLUSTER_TOPIC, [
        encodeClusterFact({
          ...namespaceFact({ uid: `uid-${kind}` }),
          kind,
          namespace: "ml",
          name: "one",
          body,
        } as ClusterFact),
      ]);
    const device = { driver: "gpu.nvidia.com", pool: "gpu-a" };
    await ofCluster("ResourceSlice", { ...device, node: "gpu-a", devices: [{ name: "gpu-0", uuid: "GPU-0" }] });
    await ofCluster("ResourceClaim", { devices: [{ ...device, device: "gpu-0" }], reservedFor: ["uid-claimer"] });
    await pod("claimer", { asks: [{ kind: "claim", claim: "one" }] });
    await pod("part", {
      asks: [{ kind: "vgpu", scheduler: "hami", count: 1 }],
      evidence: [{ by: "annotation", uuid: "GPU-1", container: 0, memoryMiB: 1, coresPercent: 1 }],
    });
    const reservation = { namespace: "kai-resource-reservation", asks: [] };
    await pod("reservation", { ...reservation, evidence: [{ by: "reservation", group: "g", uuid: "GPU-2" }] });
    for (const name of ["half-b", "half-a"]) {
      await pod(name, { asks: [{ kind: "fraction", count: 1 }], evidence: [{ by: "group", group: "g" }] });
    }
    await pod("plain");
    await pod("starting");
    await pod("finished", { times: { created: NOON - 9_000, scheduled: NOON - 9_000, finished: NOON } });
    await bus.send(INVENTORY_TOPIC, [encodeInventory(inventoryFact())]);
    await start();
    await sample([
      gpu(0, labeled("finished")),
      gpu(1),
      gpu(2, { namespace: "kai-resource-reservation", pod: "reservation" }),
      gpu(3, labeled("plain")),
      gpu(4, labeled("finished")),
      gpu(5, labeled("dcgm-exporter-abcde")),
    ]);
    await stored(1);
    expect(await rows()).toEqual([
      "0 dra claimer uid-claimer 1",
      "1 annotation part uid-part 1",
      "2 group half-a uid-half-a 2",
      "3 label plain uid-plain 1",
      "4 node starting uid-starting 1",
      "5 node starting uid-starting 1",
    ]);
  });

  it("that come late correct later joins, and a replay corrects the earlier ones", async () => {
    await start();
    const early = [gpu(0, labeled("train-0")), gpu(1, labeled("old"))];
    await sample(early);
    await stored(1);
    expect(await rows()).toEqual(["0 label train-0  1", "1 label old  1"]);
    await pod("train-0");
    await pod("old", { times: { created: NOON - 9_000, scheduled: NOON - 9_000, finished: NOON - 1 } });
    await expect.poll(() => processor!.holdings.cluster("test").pod("uid-old")).toBeDefined();
    await sample(early, NOON + 30_000);
    await sample(early);
    await stored(3);
    const right = ["0 label train-0 uid-train-0 1", "1 none   0"];
    expect(await rows(NOON + 30_000)).toEqual(right);
    expect(await rows()).toEqual(right);
  });

  it("that are invalid are skipped with the reason, and tombstones are applied", async () => {
    await pod("train-0");
    await pod("gone");
    await bus.send(WORKLOADS_TOPIC, [
      { key: "poison", value: Buffer.from("{}"), schemaVersion: 1 },
      { ...encodeWorkload(workloadFact({ uid: "uid-next" })), schemaVersion: 99 },
      { key: encodeWorkload(workloadFact({ uid: "uid-gone" })).key, value: null, schemaVersion: 1 },
    ]);
    await start();
    expect(log.passedOver.toSorted()).toEqual(["future-schema", "not-a-fact"]);
    const cluster = processor!.holdings.cluster("test");
    expect(["train-0", "gone", "next"].map((name) => cluster.pod(`uid-${name}`)?.name)).toEqual([
      "train-0",
      undefined,
      undefined,
    ]);
  });
});
