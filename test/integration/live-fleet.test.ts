import { render } from "preact-render-to-string";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import { encodeClusterFact, encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, INVENTORY_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { readLiveFleet, type LiveFleet } from "../../reports/read/live-gpus.ts";
import { fleetContent, type FleetView } from "../../reports/pages/fleet.tsx";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertMessages } from "../support/insert-facts.ts";

import { inventoryFact, namespaceFact, NOON, workloadFact } from "../support/facts.ts";
import { createTestDatabase } from "../support/database.ts";
import { ownerRules } from "../support/owner-rules.ts";
import { createReportsServer } from "../support/reports-server.ts";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";

const SECOND = 1000;
let store: StoreClient;
let fleet: LiveFleet;

/** A sample of one GPU of gpu-a, `secondsAgo` before noon. */
async function sample(secondsAgo: number, gpu: string, row: object): Promise<void> {
  await store.insertJson("gpu_samples", [
    {
      cluster: "test",
      node: "gpu-a",
      gpu_key: `GPU-${gpu}`,
      gpu,
      model: "NVIDIA H100",
      scraped_at: new Date(NOON - secondsAgo * SECOND).toISOString(),
      interval_ms: 30_000,
      ...row,
    },
  ]);
}

/** Measurements of a GPU that has fallen off the bus: 80 GB of memory in its parts, and clocks that heat has reduced. */
const MEASURED = {
  fb_used_bytes: 60e9,
  fb_free_bytes: 19e9,
  fb_reserved_bytes: 1e9,
  gpu_temperature_celsius: "61",
  power_watts: "412.5",
  xid_code: 79,
  clocks_event_reasons: 0x44,
};

const say = (topic: string, value: Uint8Array): Promise<void> => insertMessages(store, [{ topic, value }]);

beforeAll(async () => {
  store = await createTestDatabase("live");
  const workloads: readonly WorkloadFact[] = [
    workloadFact({
      uid: "u-train",
      name: "train-0",
      labels: {},
      times: { created: NOON - 5 * HOUR, scheduled: NOON - 4 * HOUR },
    }),
    workloadFact({
      uid: "u-mig",
      name: "notebook-0",
      type: "notebook",
      workload: { kind: "StatefulSet", name: "notebook" },
      asks: [{ kind: "mig", resource: "nvidia.com/mig-1g.10gb", profile: "1g.10gb", count: 1 }],
    }),
  ];
  const nodes: readonly InventoryFact[] = [
    inventoryFact({ gpus: [{ ...inventoryFact().gpus[0]!, count: 4 }] }),
    inventoryFact({ node: "gpu-b", uid: "node-2" }),
    inventoryFact({ node: "gone", uid: "node-3", end: { atMillis: NOON, inferred: false } }),
  ];
  const namespace: ClusterFact = namespaceFact({ body: { labels: { team: "speech" }, annotations: {} } });
  for (const fact of workloads) await say(WORKLOADS_TOPIC, encodeWorkload(fact).value);
  for (const fact of nodes) await say(INVENTORY_TOPIC, encodeInventory(fact).value);
  await say(CLUSTER_TOPIC, encodeClusterFact(namespace).value);
  const train = { holder_namespace: "ml", holder_pod: "train-0", holder_uid: "u-train", holders: 1, evidence: "label" };
  // An earlier sample under another pod's label does not count as current.
  await sample(90, "0", {
    sharing: "ml/old-0",
    holder_namespace: "ml",
    holder_pod: "old-0",
    holders: 1,
    evidence: "label",
  });
  await sample(30, "0", { ...train, sharing: "ml/train-0", activity_ppm: 870_000, ...MEASURED });
  await sample(30, "1", {
    instance: "1",
    profile: "1g.10gb",
    holder_namespace: "ml",
    holder_pod: "notebook-0",
    holder_uid: "u-mig",
    holders: 1,
    evidence: "annotation",
  });
  await sample(30, "1", { instance: "2", profile: "1g.10gb" });
  await sample(20, "2", { holder_namespace: "lab", holder_pod: "<b>&", holders: 3, evidence: "node" });
  await sample(400, "3", { holder_namespace: "ml", holder_pod: "long-ago", holders: 1, evidence: "label" });
  fleet = await readLiveFleet(store, ownerRules({ team: [{ podLabel: "team" }, { namespaceLabel: "team" }] }), NOON);
});
afterAll(async () => {
  await store.close();
});

describe("the current fleet", () => {
  it("shows for every GPU its holder, since when, by which evidence, and in which regime", () => {
    const [first] = fleet.gpus;
    expect(first).toEqual({
      cluster: "test",
      node: "gpu-a",
      gpu: "0",
      device: "GPU-0",
      instance: "",
      profile: "",
      model: "NVIDIA H100",
      regime: "whole",
      holder: {
        namespace: "ml",
        name: "train-0",
        uid: "u-train",
        pods: 1,
        evidence: "label",
        workload: {
          kind: "Job",
          name: "train",
          type: "training",
          team: "speech",
          queue: "",
          sinceMillis: NOON - 4 * HOUR,
        },
      },
      activityRatio: 0.87,
      memoryUsedBytes: 60e9,
      memoryTotalBytes: 80e9,
      temperatureCelsius: 61,
      memoryTemperatureCelsius: null,
      powerWatts: 412.5,
      powerLimitWatts: null,
      xid: 79,
      troubles: ["XID 79: the GPU is no longer reachable over PCIe: it has fallen off the bus", "slowed by heat"],
      scrapedAtMillis: NOON - 30 * SECOND,
    });
  });

  it("shows each part of a GPU, free parts too, and devices held in common", () => {
    const rest = fleet.gpus
      .slice(1)
      .map(({ gpu, instance, regime, holder }) => [gpu, instance, regime, holder?.name, holder?.pods]);
    expect(rest).toEqual([
      ["1", "1", "mig", "notebook-0", 1],
      ["1", "2", "mig", undefined, undefined],
      ["2", "", "whole", "<b>&", 3],
    ]);
  });

  it("lists the GPUs without a sample in the last minutes, but none of a machine that is gone", () => {
    expect(fleet.unobserved.map(({ node, gpus }) => [node, gpus])).toEqual([
      ["gpu-a", 1],
      ["gpu-b", 8],
    ]);
  });

  it("is a page on which no name acts as markup", async () => {
    const server = await createReportsServer(store, NOON, "");
    const { body } = await server.get("/fleet");
    await server.close();
    const text = body.replaceAll(/<[^>]+>/g, "");
    expect(text).toContain("As of 2026-03-01 12:00:00 UTC");
    expect(text).toContain("Active2held and used");
    expect(text).toContain("Free1nobody");
    expect(text).toContain("Sick1the GPU");
    expect(text).toContain("Silent9no sample");
    expect(text).toContain("4 h 0 min");
    expect(text).toContain("node in common");
    expect(text).toContain("&lt;b>&amp;");
    expect(body).not.toContain("<b>&");
  });

  it("has no good news of a fleet without GPUs", () => {
    const page = render(fleetContent({ ...PARTS, fleet: { ...fleet, gpus: [], unobserved: [] } }, VIEW, "/fleet"));
    expect(page).toContain("The last minutes have no sample of these GPUs.");
  });

  it("shows 100 GPUs of the table, and 12,000 of the map, for a fleet of a hundred thousand", () => {
    const gpus = Array.from({ length: 100_000 }, (_, index) => ({ ...fleet.gpus[0]!, device: `GPU-${index}` }));
    const page = render(fleetContent({ ...PARTS, fleet: { ...fleet, gpus } }, VIEW, "/fleet"));
    expect(page.match(/<tr>/g)).toHaveLength(101);
    expect(page).toContain("1 to 100 of 100000");
    expect(page).toContain('href="/fleet?gpus=2#gpus"');
    expect(page.match(/<i class="[^"]*" title="GPU /g)).toHaveLength(12_000);
    // The names of two nodes, and the cells of each.
    expect(page.match(/<a tabindex="-1" href="\/node/g)).toHaveLength(4);
    expect(page).toContain("The map has 12000 of 100000 GPUs.");
  });
});

const PARTS = { costs: [], uses: [], currency: "USD" };
const VIEW: FleetView = { node: "", team: "", model: "", pool: "", state: "", show: "activity" };
