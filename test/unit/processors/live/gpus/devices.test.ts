import { beforeEach, describe, expect, it } from "vitest";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "../../../../support/facts.ts";
import { gpuWorld, type GpuWorld } from "../../../../support/gpu-world.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const GPU = { gpu: "0", uuid: "GPU-a0" };
const HELD = { ...GPU, namespace: "ml", pod: "train-0" };
const at = (activity: number) => ({ gpu_utilization_ratio: activity });

let world: GpuWorld;
beforeEach(() => {
  world = gpuWorld();
  world.facts.inventory(inventoryFact());
});

const activity = async (): Promise<readonly number[]> =>
  (await world.series("gpu_device_activity_ratio")).map(([, value]) => value);
const holders = async (): Promise<readonly (string | undefined)[]> =>
  (await world.series("gpu_device_activity_ratio")).map(([{ pod }]) => pod);

describe("the live devices", () => {
  it("come from their newest sample, and a late sample changes nothing", async () => {
    world.scrape([{ ...GPU, values: at(0.25) }]);
    world.scrape([{ ...HELD, values: at(0.75) }], { scrapedAtMillis: NOON - 30 * SECOND });
    expect([await activity(), await holders()]).toEqual([[0.25], [undefined]]);
    world.now += 30 * SECOND;
    world.scrape([{ ...GPU, values: at(0.5) }]);
    expect(await activity()).toEqual([0.5]);
  });

  it("take samples of a clock that is ahead as current, so that later samples are not late", async () => {
    world.scrape([{ ...GPU, values: at(0.25) }], { scrapedAtMillis: NOON + 60 * MINUTE });
    world.now += 30 * SECOND;
    world.scrape([{ ...GPU, values: at(0.5) }]);
    expect(await activity()).toEqual([0.5]);
  });

  it("are removed after five minutes without a sample, and older samples are ignored", async () => {
    world.scrape([{ ...GPU, values: at(0.25) }]);
    world.now += 5 * MINUTE;
    expect(await activity()).toEqual([0.25]);
    world.now += 1;
    expect(await activity()).toEqual([]);
    world.scrape([{ ...GPU, values: at(0.25) }], { scrapedAtMillis: NOON });
    expect(await activity()).toEqual([]);
  });

  it("stay the same after a failed scrape", async () => {
    world.scrape([{ ...GPU, values: at(0.25) }]);
    world.now += 30 * SECOND;
    world.scrape([], { failure: { reason: "timeout", detail: "" } });
    expect(await activity()).toEqual([0.25]);
  });

  it("are those of the newest page: a device that it lacks is removed", async () => {
    const part = (instance: string) => ({
      ...GPU,
      instance,
      profile: "1g.10gb",
      values: { gr_engine_active_ratio: 0.5 },
    });
    world.scrape([part("1"), part("2")]);
    world.now += 30 * SECOND;
    world.scrape([part("7")]);
    const parts = (await world.series("gpu_device_activity_ratio")).map(([labels]) => labels["gi_id"]);
    expect(parts).toEqual(["7"]);
  });

  it("appear once if two pages of a node have them, as on the newer page", async () => {
    world.scrape([
      { ...GPU, values: at(0.25) },
      { gpu: "1", uuid: "GPU-a1", values: at(0.3) },
    ]);
    world.now += SECOND;
    world.scrape([{ ...GPU, values: at(0.5) }], { target: "http://other:9400/metrics" });
    expect(await activity()).toEqual([0.5, 0.3]);
    world.now += SECOND;
    world.scrape([
      { ...GPU, values: at(0.25) },
      { gpu: "1", uuid: "GPU-a1", values: at(0.3) },
    ]);
    expect(await activity()).toEqual([0.25, 0.3]);
  });

  it("are those of the processor's own partitions: a device that moves away is removed, and comes back with its next sample", async () => {
    world.scrape([{ ...GPU, values: at(0.25) }]);
    world.isOwn = () => false;
    expect(await activity()).toEqual([]);
    world.isOwn = () => true;
    expect(await activity()).toEqual([]);
    world.now += 30 * SECOND;
    world.scrape([{ ...GPU, values: at(0.5) }]);
    expect(await activity()).toEqual([0.5]);
  });

  it("appear once over two processors, whichever processor has the partition", async () => {
    const other = gpuWorld();
    for (const each of [world, other]) {
      for (const node of ["gpu-a", "gpu-b", "gpu-c"])
        each.scrape([{ ...GPU, values: at(0.25) }], { node, target: node });
    }
    world.isOwn = (_, node) => node === "gpu-a";
    other.isOwn = (_, node) => node !== "gpu-a";
    const nodes = async (of: GpuWorld) =>
      (await of.series("gpu_device_activity_ratio")).map(([labels]) => labels["node"]);
    expect([...(await nodes(world)), ...(await nodes(other))]).toEqual(["gpu-a", "gpu-b", "gpu-c"]);
  });
});

describe("the holders of live devices", () => {
  it("are those of the newest sample", async () => {
    world.facts.workload(workloadFact());
    world.facts.workload(workloadFact({ uid: "pod-2", name: "train-1" }));
    world.scrape([{ ...HELD, values: at(0.25) }]);
    expect(await holders()).toEqual(["train-0"]);
    world.now += 30 * SECOND;
    world.scrape([{ ...HELD, pod: "train-1", values: at(0.25) }]);
    expect(await holders()).toEqual(["train-1"]);
  });

  it("have the current owners, without a new sample", async () => {
    const teams = async () => (await world.series("gpu_device_activity_ratio")).map(([{ team }]) => team);
    world.facts.workload(workloadFact({ labels: {} }));
    world.scrape([{ ...HELD, values: at(0.25) }]);
    expect(await teams()).toEqual(["unowned"]);
    world.facts.clusterFact(namespaceFact({ body: { labels: { team: "nlp" }, annotations: {} } }));
    expect(await teams()).toEqual(["nlp"]);
    world.facts.workload(workloadFact({ resourceVersion: "101", labels: { team: "speech" } }));
    expect(await teams()).toEqual(["speech"]);
  });

  it("also have owners if there is no fact of the pod", async () => {
    const teams = async () => (await world.series("gpu_device_activity_ratio")).map(([{ team }]) => team);
    world.scrape([{ ...HELD, podUid: "uid-1", values: at(0.25) }]);
    expect(await teams()).toEqual(["unowned"]);
    world.facts.clusterFact(namespaceFact({ body: { labels: { team: "nlp" }, annotations: {} } }));
    expect(await teams()).toEqual(["nlp"]);
  });

  it("have the owners of dated rules from their date on", async () => {
    world = gpuWorld(`owners: { team: [{ namespace: ml, value: nlp, from: 2026-03-02 }] }`);
    const teams = async () => (await world.series("gpu_device_activity_ratio")).map(([{ team }]) => team);
    world.facts.workload(workloadFact());
    world.scrape([{ ...HELD, values: at(0.25) }]);
    expect(await teams()).toEqual(["unowned"]);
    world.now += 12 * 60 * MINUTE;
    world.scrape([{ ...HELD, values: at(0.25) }]);
    expect(await teams()).toEqual(["nlp"]);
  });

  it("stay the same until a sample shows that their pod has ended", async () => {
    world.facts.workload(workloadFact());
    world.scrape([{ ...HELD, values: at(0.25) }]);
    const before = await world.series("gpu_device_activity_ratio");
    world.facts.workload(
      workloadFact({ resourceVersion: "101", phase: "Succeeded", times: { created: NOON - MINUTE, finished: NOON } }),
    );
    expect(await world.series("gpu_device_activity_ratio")).toEqual(before);
    world.now += 30 * SECOND;
    world.scrape([{ ...HELD, values: at(0) }]);
    expect(await holders()).toEqual([undefined]);
  });
});
