import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClusterFact } from "../../domain/cluster-fact.ts";
import { encodeClusterFact, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { CLUSTER_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { insertMessages } from "../support/insert-facts.ts";
import { NOON, workloadFact } from "../support/facts.ts";
import { createTestDatabase } from "../support/database.ts";
import { MINUTE_MILLIS as MINUTE } from "../../domain/time.ts";

let store: StoreClient;

beforeAll(async () => {
  store = await createTestDatabase("queue_history");
});
afterAll(async () => {
  await store.close();
});

async function insert(facts: readonly (WorkloadFact | ClusterFact)[]): Promise<void> {
  for (const fact of facts) {
    const topic = "kind" in fact ? CLUSTER_TOPIC : WORKLOADS_TOPIC;
    const { value } = "kind" in fact ? encodeClusterFact(fact) : encodeWorkload(fact);
    await insertMessages(store, [{ topic, value }]);
  }
}

/** The rows of a view at `minutes` after noon. */
function asOf<Row>(view: string, columns: string, minutes: number): Promise<readonly Row[]> {
  const at = `fromUnixTimestamp64Milli(${NOON + minutes * MINUTE}, 'UTC')`;
  return store.query<Row>(
    `SELECT ${columns} FROM ${view} WHERE valid_from <= ${at} AND ${at} < valid_until ORDER BY ALL`,
  );
}

const seen = (minutes: number, version: number): Pick<WorkloadFact, "resourceVersion" | "seenAtMillis"> => ({
  resourceVersion: String(version),
  seenAtMillis: NOON + minutes * MINUTE,
});
const origin = { cluster: "test", epoch: 1 };

describe("the queue of a past moment", () => {
  it("has the pods that waited then, with the reason, the number of devices, and the time of their binding", async () => {
    const waiting = workloadFact({
      ...seen(0, 1),
      uid: "waits",
      name: "waits-0",
      node: "",
      phase: "Pending",
      pending: { reason: "Unschedulable", message: "0/2 nodes are available" },
      asks: [
        { kind: "gpu", resource: "nvidia.com/gpu", count: 8 },
        { kind: "claim", claim: "c1" },
      ],
      queue: "research",
    });
    await insert([waiting, workloadFact({ ...waiting, ...seen(20, 2), node: "gpu-a", phase: "Running" })]);
    const columns = "pod, queue, reason, message, toUInt32(devices) AS devices";
    const row = {
      pod: "waits-0",
      queue: "research",
      reason: "Unschedulable",
      message: "0/2 nodes are available",
      devices: 9,
    };
    expect(await asOf("pending_pods", columns, -1)).toEqual([]);
    expect(await asOf("pending_pods", columns, 19)).toEqual([row]);
    expect(await asOf("pending_pods", columns, 20)).toEqual([]);
  });

  it("has the members of gangs, and which of them held devices", async () => {
    const gang = { kind: "PodGroup", name: "gang", size: 2 };
    const member = (uid: string, minutes: number, version: number, given: Partial<WorkloadFact>): WorkloadFact =>
      workloadFact({ uid, name: uid, gang, ...seen(minutes, version), ...given });
    await insert([
      member("a", 0, 1, {}),
      member("b", 0, 1, { node: "", phase: "Pending" }),
      member("b", 10, 2, {}),
      member("a", 30, 2, { phase: "Succeeded" }),
    ]);
    const of = (minutes: number): Promise<readonly unknown[]> =>
      asOf("gang_members", "pod, gang_kind, gang, toUInt32(size) AS size, holds", minutes);
    const row = (pod: string, holds: boolean): object => ({ pod, gang_kind: "PodGroup", gang: "gang", size: 2, holds });
    expect(await of(5)).toEqual([row("a", true), row("b", false)]);
    expect(await of(15)).toEqual([row("a", true), row("b", true)]);
    expect(await of(35)).toEqual([row("a", false), row("b", true)]);
  });

  it("has quotas and queues with their use, a row for each resource", async () => {
    const quota = (minutes: number, version: number, used: number): ClusterFact => ({
      ...origin,
      ...seen(minutes, version),
      kind: "ResourceQuota",
      resource: "resourcequotas",
      namespace: "ml",
      name: "gpus",
      uid: "quota-1",
      body: { hard: { "nvidia.com/gpu": 8, "nvidia.com/mig-1g.10gb": 7 }, used: { "nvidia.com/gpu": used } },
    });
    const queue: ClusterFact = {
      ...origin,
      ...seen(0, 1),
      kind: "Queue",
      resource: "clusterqueues.kueue.x-k8s.io",
      namespace: "",
      name: "research",
      uid: "queue-1",
      body: {
        scheduler: "kueue",
        parent: "all",
        quota: { "nvidia.com/gpu": 16 },
        admitted: { "nvidia.com/gpu": 20, "amd.com/gpu": 0.5 },
        borrowed: { "nvidia.com/gpu": 4 },
        pending: 3,
      },
    };
    await insert([quota(0, 1, 2), quota(10, 2, 6), queue]);
    const quotas = (minutes: number): Promise<readonly unknown[]> =>
      asOf("quota_history", "namespace, name, resource, hard, used", minutes);
    const row = (resource: string, hard: number, used: number): object => ({
      namespace: "ml",
      name: "gpus",
      resource,
      hard,
      used,
    });
    expect(await quotas(5)).toEqual([row("nvidia.com/gpu", 8, 2), row("nvidia.com/mig-1g.10gb", 7, 0)]);
    expect(await quotas(10)).toEqual([row("nvidia.com/gpu", 8, 6), row("nvidia.com/mig-1g.10gb", 7, 0)]);
    const columns =
      "queue_kind, name, scheduler, parent, resource, quota, admitted, borrowed, toUInt32(pending) AS pending";
    const shared = {
      queue_kind: "clusterqueues.kueue.x-k8s.io",
      name: "research",
      scheduler: "kueue",
      parent: "all",
      pending: 3,
    };
    expect(await asOf("queue_history", columns, 1)).toEqual([
      { ...shared, resource: "amd.com/gpu", quota: 0, admitted: 0.5, borrowed: 0 },
      { ...shared, resource: "nvidia.com/gpu", quota: 16, admitted: 20, borrowed: 4 },
    ]);
  });
});
