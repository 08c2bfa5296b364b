import { beforeEach, describe, expect, it } from "vitest";
import type { DeviceEvidence, WorkloadFact } from "../../../../../domain/workload.ts";
import { inventoryFact, NOON } from "../../../../support/facts.ts";
import { gpu, instance, joinWorld, labelled, shapeOf, type JoinWorld } from "../../../../support/join-world.ts";

const [nvidia] = inventoryFact().gpus;
let world: JoinWorld;
beforeEach(() => {
  world = joinWorld();
});

const asking = (count: number, resource = "nvidia.com/gpu"): Partial<WorkloadFact> => ({
  asks: [{ kind: "gpu", resource, count }],
});
const mig = (profile: string, count = 1): Partial<WorkloadFact> => ({
  asks: [{ kind: "mig", resource: `nvidia.com/mig-${profile}`, profile, count }],
});
const claiming = (claim: string): Partial<WorkloadFact> => ({ asks: [{ kind: "claim", claim }] });
const given = (uuid: string): Extract<DeviceEvidence, { by: "annotation" }> => ({
  by: "annotation",
  uuid,
  container: 0,
  memoryMiB: 8_000,
  coresPercent: 50,
});
const grouped = (group: string): Partial<WorkloadFact> => ({
  asks: [{ kind: "fraction", count: 1, ppm: 500_000 }],
  evidence: [{ by: "group", group }],
});
const reserving = (group: string, uuid: string): Partial<WorkloadFact> => ({
  namespace: "kai-resource-reservation",
  asks: [],
  evidence: [{ by: "reservation", group, uuid }],
});

describe("a label", () => {
  it("names the pod that holds on this node, and its UID comes from what is known of it", () => {
    world.pod("train-0");
    expect(world.told([gpu(0, labelled("train-0")), gpu(1)])).toEqual(["label train-0/uid-train-0 of 1", "none  of 0"]);
  });

  it("of a pod of which nothing is known counts, without a UID or with the one that it names itself", () => {
    const rows = [gpu(0, labelled("train-0")), gpu(1, { ...labelled("train-1"), podUid: "uid-x" })];
    expect(world.told(rows)).toEqual(["label train-0 of 1", "label train-1/uid-x of 1"]);
  });

  it("names a job where there is no pod", () => {
    expect(world.told([gpu(0, { hpcJob: "4711" })])).toEqual(["hpc-job 4711 of 1"]);
  });

  it("of each pod counts for its own row where the exporter has a row a pod; the device's own row stands for all", () => {
    world.pod("a");
    world.pod("b");
    world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, replicas: 4, sharing: "time-slicing" }] }));
    expect(world.told([gpu(0), gpu(0, labelled("b")), gpu(0, labelled("a"))])).toEqual([
      "label a/uid-a of 2",
      "label b/uid-b of 1",
      "label a/uid-a of 1",
    ]);
  });

  it.each([
    ["shared by its labels", { replicas: 4, sharing: "time-slicing" }],
    ["of which the node offers four and the exporter shows one", { count: 4, countedBy: "capacity", offered: 4 }],
  ] as const)(
    "that flips between the pods of a GPU %s has after a while all of them, and the first one",
    (_, given) => {
      world.pod("a");
      world.pod("b");
      world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, ...given }] }));
      const [onA, onB] = [shapeOf([gpu(0, labelled("a"))]), shapeOf([gpu(0, labelled("b"))])];
      expect(world.told(onB)).toEqual(["label b/uid-b of 1"]);
      expect(world.told(onA)).toEqual(["label a/uid-a of 2"]);
      expect(world.told(onB)).toEqual(["label a/uid-a of 2"]);
    },
  );
});

describe("DRA", () => {
  const slice = [
    { name: "gpu-0", uuid: "GPU-0" },
    { name: "gpu-1", pciBusId: "0000:65:00.0" },
  ];

  it("tells a claim's devices by UUID or PCI address, above any label", () => {
    world.pod("claimer", claiming("one"));
    world.pod("other");
    world.claim("one", ["claimer"], ["gpu-0", "gpu-1"]);
    world.slice(slice);
    const rows = [gpu(0, labelled("other")), gpu(1, { pciBusId: "00000000:65:00.0" }), gpu(2)];
    expect(world.told(rows)).toEqual([
      "dra claimer/uid-claimer of 1",
      "dra claimer/uid-claimer of 1",
      "node other/uid-other of 1",
    ]);
  });

  it("tells all pods that a claim is reserved for, and each its own row where there are several", () => {
    for (const name of ["b", "a", "later"]) world.pod(name, claiming("one"));
    world.claim("one", ["b", "a"], ["gpu-0"]);
    world.slice(slice);
    expect(world.told([gpu(0)])).toEqual(["dra a/uid-a of 2"]);
    expect(world.told([gpu(0, labelled("b")), gpu(0, labelled("a"))])).toEqual([
      "dra b/uid-b of 1",
      "dra a/uid-a of 1",
    ]);
  });

  it("tells by the claim that a row's own labels name, without any slice", () => {
    world.pod("claimer", claiming("one"));
    world.claim("one", ["claimer"], ["gpu-0", "gpu-1"]);
    const rows = [gpu(0, { claim: { name: "one", namespace: "ml" } }), gpu(1), gpu(2)];
    expect(world.told(rows)).toEqual(["dra claimer/uid-claimer of 1", "none  of 0", "none  of 0"]);
    expect(world.told([gpu(0, { claim: { name: "one", namespace: "elsewhere" } })])).not.toContain(
      "dra claimer/uid-claimer of 1",
    );
    world.slice([{ name: "gpu-1", uuid: "GPU-1" }]);
    expect(world.told(rows)[1]).toBe("dra claimer/uid-claimer of 1");
  });

  const part = (name: string): { name: string; uuid: string; parentUuid: string; profile: string } => ({
    name,
    uuid: `MIG-${name}`,
    parentUuid: "GPU-0",
    profile: "1g.10gb",
  });

  it("tells a MIG instance by its GPU and profile where only one fits", () => {
    world.pod("claimer", claiming("one"));
    world.claim("one", ["claimer"], ["mig-a"]);
    world.slice([part("mig-a")]);
    expect(world.told([instance(0, "7", "1g.11gb"), instance(0, "1", "3g.40gb"), instance(1, "7", "1g.10gb")])).toEqual(
      ["dra claimer/uid-claimer of 1", "none  of 0", "none  of 0"],
    );
  });

  it("leaves open which of several equal MIG instances one claim has, unless the row names it or all are claimed", () => {
    world.pod("a", claiming("one"));
    world.claim("one", ["a"], ["mig-a"]);
    world.slice([part("mig-a"), part("mig-b")]);
    const both = [instance(0, "7", "1g.10gb"), instance(0, "8", "1g.10gb")];
    expect(world.told(both)).toEqual(["none  of 0", "none  of 0"]);
    expect(world.told([both[0]!, { ...both[1]!, claim: { migUuid: "MIG-mig-a" } }])).toEqual([
      "none  of 0",
      "dra a/uid-a of 1",
    ]);
    world.pod("b", claiming("two"));
    world.claim("two", ["b"], ["mig-b"]);
    expect(world.told(both)).toEqual(["dra a/uid-a of 2", "dra a/uid-a of 2"]);
  });
});

describe("an annotation", () => {
  it("tells the GPUs of HAMi's and Volcano's pods, of which several share one", () => {
    world.pod("b", { asks: [{ kind: "vgpu", scheduler: "hami", count: 1 }], evidence: [given("GPU-1")] });
    world.pod("a", { asks: [{ kind: "vgpu", scheduler: "volcano", count: 1 }], evidence: [given("GPU-1")] });
    expect(world.told([gpu(0), gpu(1, labelled("b"))])).toEqual(["none  of 0", "annotation a/uid-a of 2"]);
    expect(world.told([gpu(1), gpu(1, labelled("b")), gpu(1, labelled("late"))])).toEqual([
      "annotation a/uid-a of 2",
      "annotation b/uid-b of 1",
      "label late of 1",
    ]);
  });

  it("tells Run:ai's MIG instance by its GPU's index and its own number", () => {
    world.pod("a", { ...mig("1g.5gb"), evidence: [{ ...given("MIG-x"), gpuIndex: 1, instance: 9 }] });
    expect(world.told([instance(0, "9", "1g.5gb"), instance(1, "9", "1g.5gb")])).toEqual([
      "none  of 0",
      "annotation a/uid-a of 1",
    ]);
  });
});

describe("a group of KAI or Run:ai", () => {
  it("has the GPU of its reservation pod, which holds nothing itself", () => {
    world.pod("reservation", reserving("g1", "GPU-0"));
    world.pod("b", grouped("g1"));
    world.pod("a", grouped("g1"));
    world.pod("c", grouped("g2"));
    const label = { namespace: "kai-resource-reservation", pod: "reservation" };
    expect(world.told([gpu(0, label), gpu(1)])).toEqual(["group a/uid-a of 2", "node c/uid-c of 1"]);
  });

  it("is told by the label of its reservation pod where that names another UUID than the exporter", () => {
    world.pod("reservation", reserving("g1", "GPU-virtual"));
    world.pod("a", grouped("g1"));
    const label = { namespace: "kai-resource-reservation", pod: "reservation" };
    expect(world.told([gpu(0, label)])).toEqual(["group a/uid-a of 1"]);
  });

  it("without pods leaves its GPU to nobody", () => {
    world.pod("reservation", reserving("g1", "GPU-0"));
    expect(world.told([gpu(0, { namespace: "kai-resource-reservation", pod: "reservation" })])).toEqual(["none  of 0"]);
  });
});

describe("the node in common", () => {
  it("has the pods of which nothing tells, on the devices that are not known to be another's", () => {
    world.pod("known");
    world.pod("b", asking(2));
    world.pod("a");
    expect(world.told([gpu(0, labelled("known")), gpu(1), gpu(2)])).toEqual([
      "label known/uid-known of 1",
      "node a/uid-a of 2",
      "node a/uid-a of 2",
    ]);
  });

  it("has a pod until all of its devices are proven", () => {
    world.pod("a", asking(2));
    expect(world.told([gpu(0, labelled("a")), gpu(1)])).toEqual(["label a/uid-a of 1", "node a/uid-a of 1"]);
    expect(world.told([gpu(0, labelled("a")), gpu(1, labelled("a")), gpu(2)])[2]).toBe("none  of 0");
  });

  it("keeps kinds apart: MIG instances by profile, GPUs, and the devices of each vendor", () => {
    world.pod("small", mig("1g.10gb"));
    world.pod("whole");
    world.pod("red", asking(1, "amd.com/gpu"));
    world.pod("own", asking(1, "example.com/gpu"));
    world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, mig: { strategy: "mixed", profiles: {} } }] }));
    expect(world.told([instance(0, "1", "1g.11gb"), instance(0, "2", "3g.40gb"), gpu(1)])).toEqual([
      "node small/uid-small of 1",
      "none  of 0",
      "node own/uid-own of 2",
    ]);
    expect(world.told(shapeOf([gpu(0)], "amd-device-metrics-exporter"))).toEqual(["node own/uid-own of 2"]);
  });

  it("takes instances for GPUs unless the node names them by profile", () => {
    world.pod("a");
    const rows = [instance(0, "1", "1g.10gb")];
    world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, mig: { strategy: "single", profiles: {} } }] }));
    expect(world.told(rows)).toEqual(["node a/uid-a of 1"]);
    world.holdings.inventory(
      inventoryFact({ resourceVersion: "101", gpus: [{ ...nvidia!, mig: { strategy: "mixed", profiles: {} } }] }),
    );
    expect(world.told(rows)).toEqual(["none  of 0"]);
  });
});

describe("a join", () => {
  it("gives the same array until something changes, and after that too where nothing changed for its rows", () => {
    world.pod("a");
    const shape = shapeOf([gpu(0, labelled("a"))]);
    const first = world.join(shape);
    expect(world.join(shape, NOON + 30_000)).toBe(first);
    world.pod("b");
    expect(world.join(shape, NOON + 60_000)).toBe(first);
    world.pod("a", { times: { created: NOON - 1, scheduled: NOON - 1, finished: NOON + 70_000 } });
    expect(world.join(shape, NOON + 69_999)).toBe(first);
    expect(world.told(shape, NOON + 70_000)).toEqual(["node b/uid-b of 1"]);
  });

  it("follows facts that come late", () => {
    const shape = shapeOf([gpu(0, labelled("a")), gpu(1)]);
    expect(world.told(shape)).toEqual(["label a of 1", "none  of 0"]);
    world.pod("a");
    expect(world.told(shape)).toEqual(["label a/uid-a of 1", "none  of 0"]);
    world.pod("c", claiming("one"));
    expect(world.told(shape)[1]).toBe("node c/uid-c of 1");
    world.claim("one", ["c"], ["gpu-1"]);
    expect(world.told(shape)[1]).toBe("node c/uid-c of 1");
    world.slice([{ name: "gpu-1", uuid: "GPU-1" }]);
    expect(world.told(shape)[1]).toBe("dra c/uid-c of 1");
    world.claim("one", [], []);
    expect(world.told(shape)[1]).toBe("node c/uid-c of 1");
  });

  it("of a failed scrape has no rows", () => {
    expect(world.join([])).toEqual([]);
  });
});
