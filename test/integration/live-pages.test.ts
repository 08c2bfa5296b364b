import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeClusterFact, encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import { HOUR_MILLIS as HOUR, MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";
import { readDeviceEvents } from "../../reports/read/device-events.ts";
import { readMeasurements } from "../../reports/read/measurements.ts";
import { heldBy, machineScope, podScope } from "../../reports/read/sample-scope.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../support/facts.ts";
import { insertMessages } from "../support/insert-facts.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const OWNERS = "owners: { team: [{ namespaceLabel: team }, { podLabel: team }] }";
let store: StoreClient;
let server: ReportsServer;

/** The node gpu-a: GPU 0 is held by ml/train-0, GPU 1 by vision/eye-0. Each has a sample a minute for an hour, with a gap of 10 minutes. */
beforeAll(async () => {
  store = await createTestDatabase("live_pages");
  const pods = [
    workloadFact({ uid: "u-train", name: "train-0", labels: { team: "ml" }, restarts: 0, resourceVersion: "1" }),
    workloadFact({
      uid: "u-train",
      name: "train-0",
      labels: { team: "ml" },
      restarts: 1,
      resourceVersion: "2",
      seenAtMillis: NOON - 20 * MINUTE,
    }),
    workloadFact({ uid: "u-eye", name: "eye-0", namespace: "vision", labels: { team: "vision" } }),
  ];
  for (const fact of pods) await insertMessages(store, [{ topic: WORKLOADS_TOPIC, value: encodeWorkload(fact).value }]);
  const conditions = [{ type: "Ready", status: "False", reason: "KubeletDown", since: NOON - 5 * MINUTE }] as const;
  const node = inventoryFact({ conditions });
  await insertMessages(store, [{ topic: INVENTORY_TOPIC, value: encodeInventory(node).value }]);
  const minutes = Array.from({ length: 60 }, (_, minute) => minute).filter((minute) => minute < 30 || minute >= 40);
  const rows = minutes.flatMap((minute) =>
    [
      { gpu: "0", holder: ["ml", "train-0", "u-train"], activity: 0.8, celsius: 70, xid: minute >= 45 ? 31 : 0 },
      { gpu: "1", holder: ["vision", "eye-0", "u-eye"], activity: 0.2, celsius: 50, xid: 0 },
    ].map(({ gpu, holder: [namespace, pod, uid], activity, celsius, xid }) => ({
      cluster: "test",
      node: "gpu-a",
      gpu_key: `GPU-${gpu}`,
      gpu,
      model: "NVIDIA H100",
      scraped_at: new Date(NOON - HOUR + minute * MINUTE + 30_000).toISOString(),
      interval_ms: 60_000,
      holder_namespace: namespace,
      holder_pod: pod,
      holder_uid: uid,
      holders: 1,
      evidence: "label",
      activity_ppm: activity * 1e6,
      gpu_temperature_celsius: String(celsius),
      fb_used_bytes: 20e9,
      fb_total_bytes: 80e9,
      xid_code: xid,
      clocks_event_reasons: gpu === "0" && minute >= 50 && minute < 55 ? 0x44 : 0x4,
    })),
  );
  await store.insertJson("gpu_samples", rows);
  server = await createReportsServer(store, NOON, OWNERS);
}, 120_000);
afterAll(async () => {
  await server.close();
  await store.close();
});

const NODE = machineScope({ cluster: "test", node: "gpu-a" });
const TIME = { from: NOON - HOUR, until: NOON, stepMillis: 10 * MINUTE };

describe("measurements", () => {
  it("of a node are the mean, the least and the most of its GPUs in each step, without the steps of a gap", async () => {
    const steps = await readMeasurements(store, NODE, TIME);
    expect(steps.map(({ at }) => (at - TIME.from) / MINUTE)).toEqual([0, 10, 20, 40, 50]);
    expect(steps[0]).toEqual({
      at: TIME.from,
      gpus: 2,
      clockReasons: 4,
      holders: ["ml/train-0", "vision/eye-0"],
      activity: { mean: 0.5, least: 0.2, most: 0.8 },
      memory: { mean: 0.25, least: 0.25, most: 0.25 },
      temperature: { mean: 60, least: 50, most: 70 },
      power: { mean: null, least: null, most: null },
    });
  });

  it("of a pod, a GPU and the pods of a viewer are of their own samples alone", async () => {
    const pod = podScope({ cluster: "test", namespace: "vision", pod: "eye-0", workload: "" });
    const scopes = [pod, machineScope({ cluster: "test", uuid: "GPU-1" }), heldBy(NODE, ["u-eye"])];
    const firsts = await Promise.all(scopes.map(async (scope) => (await readMeasurements(store, scope, TIME))[0]));
    expect(firsts.map((step) => step?.activity)).toEqual(scopes.map(() => ({ mean: 0.2, least: 0.2, most: 0.2 })));
    expect(await readMeasurements(store, heldBy(NODE, []), TIME)).toEqual([]);
  });

  it("of a name without its namespace are none, as its charges", async () => {
    const without = { cluster: "test", namespace: "", pod: "", workload: "" };
    const scopes = [podScope({ ...without, pod: "eye-0" }), podScope({ ...without, workload: "eye" })];
    expect(await Promise.all(scopes.map((scope) => readMeasurements(store, scope, TIME)))).toEqual([[], []]);
  });

  it("have the XIDs that began, and the restarts of pods that held the GPUs", async () => {
    const pods = ["ml/train-0", "vision/eye-0"];
    const events = await readDeviceEvents(store, NODE, { from: TIME.from, until: TIME.until, pods });
    expect(events.map(({ at, kind, gpu, pod, count }) => [(at - TIME.from) / MINUTE, kind, gpu, pod, count])).toEqual([
      [45.5, "xid", "0", "", 31],
      [40, "restart", "", "ml/train-0", 1],
    ]);
  });
});

const text = (body: string): string => body.replaceAll(/<[^>]+>/g, "|").replaceAll(/\|+/g, "|");

describe("the page of a node", () => {
  it("has its GPUs now, its faults, the charts and the events, before anything is charged", async () => {
    const body = text((await server.get("/node?cluster=test&node=gpu-a", FINANCE)).body);
    expect(body).toContain("2 GPUs and parts of GPUs");
    expect(body).toContain("not ready (KubeletDown), since 2026-03-01 11:55:00 UTC");
    expect(body).toContain("XID 31: a page fault: the program used memory that was not mapped");
    expect(body).toContain("containers restarted: 1 time since the pod exists");
    expect(body).toContain("This name has no charges in March 2026.");
    const page = await server.get("/node?cluster=test&node=gpu-a&window=day", FINANCE);
    expect(page.body).toContain("Heat or the power brake slowed GPUs in 1 of 5 steps.");
  });

  it("is there for a name without a cluster, and for a name that nothing has", async () => {
    const pages = ["/node?node=gpu-a", "/node?cluster=other&node=nowhere", "/gpu?uuid=GPU-9", "/workload?namespace=no"];
    for (const path of pages) expect([path, (await server.get(path)).statusCode]).toEqual([path, 200]);
  });

  it("shows the time of an alert in its address", async () => {
    const at = "2026-03-01T11:20:00Z";
    const { body } = await server.get(`/node?cluster=test&node=gpu-a&at=${at}`, FINANCE);
    expect(text(body)).toContain("At 2026-03-01 11:20:00 UTC");
    expect(body).toContain("Measurements of at most 2 GPUs from 2026-03-01 10:50:00 UTC to 2026-03-01 11:50:00 UTC");
  });

  it("shows a viewer of a team only the GPUs that their pods hold, and nothing that others ran", async () => {
    const { body } = await server.get("/node?cluster=test&node=gpu-a", VISION);
    expect(text(body)).toContain("1 GPU or part of a GPU");
    expect(body).toContain("Measurements of 1 GPU from");
    expect(body).not.toContain("train-0");
    expect(body).not.toContain("XID 31");
    expect(body).not.toContain("KubeletDown");
  });
});

describe("the page of sick nodes", () => {
  it("has nodes with their faults, the faults of the day, and silent GPUs", async () => {
    const body = text((await server.get("/sick", FINANCE)).body);
    expect(body).toContain("1 node has a fault");
    expect(body).toContain("not ready (KubeletDown)");
    expect(body).toContain("8 of 8");
    expect(body).toContain("Nodes whose GPUs have no sample in the last minutes");
    expect(body).toContain("XID 31 on GPU 0");
  });

  it("shows a viewer of a team no fault of a GPU that others hold", async () => {
    expect(text((await server.get("/sick", VISION)).body)).toContain("No node has a fault");
  });
});

describe("the page of the queue", () => {
  it("shows no quota of a queue of a namespace, which has the quota of a cluster's queue", async () => {
    const queue = (resource: string, given: { readonly namespace: string; readonly name: string }, quota: object) =>
      encodeClusterFact({
        ...namespaceFact(),
        ...given,
        kind: "Queue",
        resource,
        uid: given.name,
        body: { scheduler: "kueue", quota: { ...quota }, admitted: { "nvidia.com/gpu": 8 }, borrowed: {}, pending: 0 },
      });
    const facts = [
      queue("localqueues.kueue.x-k8s.io", { namespace: "ml", name: "own" }, {}),
      queue("clusterqueues.kueue.x-k8s.io", { namespace: "", name: "shared" }, { "nvidia.com/gpu": 12 }),
    ];
    await insertMessages(
      store,
      facts.map(({ value }) => ({ topic: CLUSTER_TOPIC, value })),
    );
    const csv = (await server.get("/queue?csv=queues", FINANCE)).body;
    expect(csv.trim().split(/\r?\n/)).toEqual([
      "queue,scheduler,resource,quota,admitted,borrowed",
      "shared,kueue,nvidia.com/gpu,12,8,0",
      "ml/own,kueue,nvidia.com/gpu,,8,0",
    ]);
  });
});

describe("the page of a GPU at a time in the past", () => {
  it("has the team and the time of a pod that is gone since", async () => {
    const gone = workloadFact({
      uid: "u-train",
      name: "train-0",
      labels: { team: "ml" },
      resourceVersion: "3",
      end: { atMillis: NOON - MINUTE, inferred: false },
    });
    await insertMessages(store, [{ topic: WORKLOADS_TOPIC, value: encodeWorkload(gone).value }]);
    const path = "/gpu?cluster=test&node=gpu-a&gpu=0&at=2026-03-01T11:20:00Z&csv=live";
    const { body } = await server.get(path, FINANCE);
    expect(body).toContain("gpu-a,0,NVIDIA H100,ml/train-0,ml,2026-03-01T");
  });
});
