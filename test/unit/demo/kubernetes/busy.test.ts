import { describe, expect, test } from "vitest";
import { createBusyCluster } from "../../../support/kubernetes/busy.ts";
import type { KubernetesObject } from "../../../../demo/kubernetes/server/object.ts";
import { createStore, type ObjectStore } from "../../../../demo/kubernetes/server/store.ts";

const plan = { pods: 2000, nodes: 200, seed: 5 };

function podsIn(store: ObjectStore): KubernetesObject[] {
  const { keys, get } = store.snapshot("pods", store.resourceVersion);
  return keys.map((key) => JSON.parse(get(key)!.object.json("7")) as KubernetesObject);
}

describe("a busy cluster", () => {
  test("has pods of a usual size in complete JSON, with existing nodes, namespaces and Jobs", () => {
    const store = createStore();
    createBusyCluster(plan).fill(store);
    const pods = podsIn(store);
    expect(pods).toHaveLength(2000);
    const bytes = pods.map((pod) => JSON.stringify(pod).length);
    expect(Math.min(...bytes)).toBeGreaterThan(8000);
    expect(Math.max(...bytes)).toBeLessThan(10_000);
    for (const { metadata, spec } of pods) {
      expect(metadata.resourceVersion).toBe("7");
      expect(store.get("namespaces", metadata.namespace!)).toBeDefined();
      expect(store.get("nodes", (spec as { readonly nodeName: string }).nodeName)).toBeDefined();
      const owner = metadata.ownerReferences![0]!;
      expect(store.get("batch/jobs", `${metadata.namespace}/${owner.name}`)!.object.metadata().uid).toBe(owner.uid);
    }
    const gpus = pods.filter((pod) => JSON.stringify(pod).includes('"nvidia.com/gpu":"1"'));
    expect(gpus).toHaveLength(800);
  });

  test("keeps the number of its pods while they change, and gives each new pod another name and UID", () => {
    const [store, twin] = [createStore(), createStore()];
    const cluster = createBusyCluster(plan);
    cluster.fill(store);
    const before = podsIn(store);
    const from = store.resourceVersion;
    cluster.change(store, 500);
    expect(store.resourceVersion - from).toBe(500);
    const after = podsIn(store);
    expect(after).toHaveLength(before.length);
    const uids = new Set(before.map(({ metadata }) => metadata.uid));
    const names = new Set(before.map(({ metadata }) => metadata.name));
    const others = after.filter(({ metadata }) => !uids.has(metadata.uid));
    expect(others.length).toBeGreaterThan(20);
    expect(others.filter(({ metadata }) => names.has(metadata.name))).toEqual([]);
    const again = createBusyCluster(plan);
    again.fill(twin);
    again.change(twin, 500);
    expect(podsIn(twin)).toEqual(after);
  });

  test("makes changes at the requested rate", async () => {
    const store = createStore();
    const cluster = createBusyCluster(plan);
    cluster.fill(store);
    const from = store.resourceVersion;
    const began = performance.now();
    const changing = cluster.changeAtRate(store, 1000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    changing.stop();
    const seconds = (performance.now() - began) / 1000;
    expect(store.resourceVersion - from).toBe(changing.made);
    expect(changing.made).toBeGreaterThan(0.6 * 1000 * seconds);
    expect(changing.made).toBeLessThanOrEqual(1000 * seconds);
  });
});
