import { beforeEach, describe, expect, it } from "vitest";
import type { DeviceEvidence, WorkloadFact } from "../../../../../domain/workload.ts";
import { inventoryFact, NOON } from "../../../../support/facts.ts";
import { gpu, instance, joinWorld, labeled, shapeOf, type JoinWorld } from "../../../../support/join-world.ts";

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
  it("names the pod that holds the device on this node, and the UID comes from the known facts", () => {
    world.pod("train-0");
    expect(world.holderTexts([gpu(0, labeled("train-0")), gpu(1)])).toEqual([
      "label train-0/uid-train-0 of 1",
      "none  of 0",
    ]);
  });

  it("counts also for an unknown pod, without a UID or with the UID that the label has", () => {
    const rows = [gpu(0, labeled("train-0")), gpu(1, { ...labeled("train-1"), podUid: "uid-x" })];
    expect(world.holderTexts(rows)).toEqual(["label train-0 of 1", "label train-1/uid-x of 1"]);
  });

  it("names a job if there is no pod", () => {
    expect(world.holderTexts([gpu(0, { hpcJob: "4711" })])).toEqual(["hpc-job 4711 of 1"]);
  });

  it("counts for its own row if the exporter has a row for each pod; the device's own row has all holders", () => {
    world.pod("a");
    world.pod("b");
    world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, replicas: 4, sharing: "time-slicing" }] }));
    expect(world.holderTexts([gpu(0), gpu(0, labeled("b")), gpu(0, labeled("a"))])).toEqual([
      "label a/uid-a of 2",
      "label b/uid-b of 1",
      "label a/uid-a of 1",
    ]);
  });

  it.each([
    ["shared by its labels", { replicas: 4, sharing: "time-slicing" }],
    ["of which the node offers four and the exporter shows one", { count: 4, countedBy: "capacity", offered: 4 }],
  ] as const)(
    "that alternates between the pods of a GPU %s finally gives all of them, and the first one",
    (_, given) => {
      world.pod("a");
      world.pod("b");
      world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, ...given }] }));
      const [onA, onB] = [shapeOf([gpu(0, labeled("a"))]), shapeOf([gpu(0, labeled("b"))])];
      expect(world.holderTexts(onB)).toEqual(["label b/uid-b of 1"]);
      expect(world.holderTexts(onA)).toEqual(["label a/uid-a of 2"]);
      expect(world.holderTexts(onB)).toEqual(["label a/uid-a of 2"]);
    },
  );
});

describe("DRA", () => {
  const slice = [
    { name: "gpu-0", uuid: "GPU-0" },
    { name: "gpu-1", pciBusId: "0000:65:00.0" },
  ];

  it("gives a claim's devices by UUID or PCI address, and wins over any label", () => {
    world.pod("claimer", claiming("one"));
    world.pod("other");
    world.claim("one", ["claimer"], ["gpu-0", "gpu-1"]);
    world.slice(slice);
    const rows = [gpu(0, labeled("other")), gpu(1, { pciBusId: "00000000:65:00.0" }), gpu(2)];
    expect(world.holderTexts(rows)).toEqual([
      "dra claimer/uid-claimer of 1",
      "dra claimer/uid-claimer of 1",
      "node other/uid-other of 1",
    ]);
  });

  it("gives all pods for which a claim is reserved, and each pod its own row if there are several", () => {
    for (const name of ["b", "a", "later"]) world.pod(name, claiming("one"));
    world.claim("one", ["b", "a"], ["gpu-0"]);
    world.slice(slice);
    expect(world.holderTexts([gpu(0)])).toEqual(["dra a/uid-a of 2"]);
    expect(world.holderTexts([gpu(0, labeled("b")), gpu(0, labeled("a"))])).toEqual([
      "dra b/uid-b of 1",
      "dra a/uid-a of 1",
    ]);
  });

  it("gives the holder by the claim in a row's own labels, without any slice", () => {
    world.pod("claimer", claiming("one"));
    world.claim("one", ["claimer"], ["gpu-0", "gpu-1"]);
    const rows = [gpu(0, { claim: { name: "one", namespace: "ml" } }), gpu(1), gpu(2)];
    expect(world.holderTexts(rows)).toEqual(["dra claimer/uid-claimer of 1", "none  of 0", "none  of 0"]);
    expect(world.holderTexts([gpu(0, { claim: { name: "one", namespace: "elsewhere" } })])).not.toContain(
      "dra claimer/uid-claimer of 1",
    );
    world.slice([{ name: "gpu-1", uuid: "GPU-1" }]);
    expect(world.holderTexts(rows)[1]).toBe("dra claimer/uid-claimer of 1");
  });

  const part = (name: string): { name: string; uuid: string; parentUuid: string; profile: string } => ({
    name,
    uuid: `MIG-${name}`,
    parentUuid: "GPU-0",
    profile: "1g.10gb",
  });

  it("gives a MIG instance by its GPU and profile if only one matches", () => {
    world.pod("claimer", claiming("one"));
    world.claim("one", ["claimer"], ["mig-a"]);
    world.slice([part("mig-a")]);
    expect(
      world.holderTexts([instance(0, "7", "1g.11gb"), instance(0, "1", "3g.40gb"), instance(1, "7", "1g.10gb")]),
    ).toEqual(["dra claimer/uid-claimer of 1", "none  of 0", "none  of 0"]);
  });

  it("leaves the instance of a claim open if several equal MIG instances match, unless the row names it or all are claimed", () => {
    world.pod("a", claiming("one"));
    world.claim("one", ["a"], ["mig-a"]);
    world.slice([part("mig-a"), part("mig-b")]);
    const both = [instance(0, "7", "1g.10gb"), instance(0, "8", "1g.10gb")];
    expect(world.holderTexts(both)).toEqual(["none  of 0", "none  of 0"]);
    expect(world.holderTexts([both[0]!, { ...both[1]!, claim: { migUuid: "MIG-mig-a" } }])).toEqual([
      "none  of 0",
      "dra a/uid-a of 1",
    ]);
    world.pod("b", claiming("two"));
    world.claim("two", ["b"], ["mig-b"]);
    expect(world.holderTexts(both)).toEqual(["dra a/uid-a of 2", "dra a/uid-a of 2"]);
  });
});

describe("an annotation", () => {
  it("gives the GPUs of HAMi's and Volcano's pods, several of which may share one", () => {
    world.pod("b", { asks: [{ kind: "vgpu", scheduler: "hami", count: 1 }], evidence: [given("GPU-1")] });
    world.pod("a", { asks: [{ kind: "vgpu", scheduler: "volcano", count: 1 }], evidence: [given("GPU-1")] });
    expect(world.holderTexts([gpu(0), gpu(1, labeled("b"))])).toEqual(["none  of 0", "annotation a/uid-a of 2"]);
    expect(world.holderTexts([gpu(1), gpu(1, labeled("b")), gpu(1, labeled("late"))])).toEqual([
      "annotation a/uid-a of 2",
      "annotation b/uid-b of 1",
      "label late of 1",
    ]);
  });

  it("gives Run:ai's MIG instance by the index of its GPU and the instance's number", () => {
    world.pod("a", { ...mig("1g.5gb"), evidence: [{ ...given("MIG-x"), gpuIndex: 1, instance: 9 }] });
    expect(world.holderTexts([instance(0, "9", "1g.5gb"), instance(1, "9", "1g.5gb")])).toEqual([
      "none  of 0",
      "annotation a/uid-a of 1",
    ]);
  });
});

describe("a group of KAI or Run:ai", () => {
  it("has the GPU of its reservation pod, which itself holds nothing", () => {
    world.pod("reservation", reserving("g1", "GPU-0"));
    world.pod("b", grouped("g1"));
    world.pod("a", grouped("g1"));
    world.pod("c", grouped("g2"));
    const label = { namespace: "kai-resource-reservation", pod: "reservation" };
    expect(world.holderTexts([gpu(0, label), gpu(1)])).toEqual(["group a/uid-a of 2", "node c/uid-c of 1"]);
  });

  it("has the device of the label of its reservation pod if the label names another UUID than the exporter", () => {
    world.pod("reservation", reserving("g1", "GPU-virtual"));
    world.pod("a", grouped("g1"));
    const label = { namespace: "kai-resource-reservation", pod: "reservation" };
    expect(world.holderTexts([gpu(0, label)])).toEqual(["group a/uid-a of 1"]);
  });

  it("without pods leaves its GPU without a holder", () => {
    world.pod("reservation", reserving("g1", "GPU-0"));
    expect(world.holderTexts([gpu(0, { namespace: "kai-resource-reservation", pod: "reservation" })])).toEqual([
      "none  of 0",
    ]);
  });
});

describe("the node in common", () => {
  it("has the pods without known devices, on the devices without another known holder", () => {
    world.pod("known");
    world.pod("b", asking(2));
    world.pod("a");
    expect(world.holderTexts([gpu(0, labeled("known")), gpu(1), gpu(2)])).toEqual([
      "label known/uid-known of 1",
      "node a/uid-a of 2",
      "node a/uid-a of 2",
    ]);
  });

  it("has a pod until all of its devices are proven", () => {
    world.pod("a", asking(2));
    expect(world.holderTexts([gpu(0, labeled("a")), gpu(1)])).toEqual(["label a/uid-a of 1", "node a/uid-a of 1"]);
    expect(world.holderTexts([gpu(0, labeled("a")), gpu(1, labeled("a")), gpu(2)])[2]).toBe("none  of 0");
  });

  it("separates kinds: MIG instances by profile, GPUs, and the devices of each vendor", () => {
    world.pod("small", mig("1g.10gb"));
    world.pod("whole");
    world.pod("red", asking(1, "amd.com/gpu"));
    world.pod("own", asking(1, "example.com/gpu"));
    world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, mig: { strategy: "mixed", profiles: {} } }] }));
    expect(world.holderTexts([instance(0, "1", "1g.11gb"), instance(0, "2", "3g.40gb"), gpu(1)])).toEqual([
      "node small/uid-small of 1",
      "none  of 0",
      "node own/uid-own of 2",
    ]);
    expect(world.holderTexts(shapeOf([gpu(0)], "amd-device-metrics-exporter"))).toEqual(["node own/uid-own of 2"]);
  });

  it("takes instances as GPUs unless the node names them by profile", () => {
    world.pod("a");
    const rows = [instance(0, "1", "1g.10gb")];
    world.holdings.inventory(inventoryFact({ gpus: [{ ...nvidia!, mig: { strategy: "single", profiles: {} } }] }));
    expect(world.holderTexts(rows)).toEqual(["node a/uid-a of 1"]);
    world.holdings.inventory(
      inventoryFact({ resourceVersion: "101", gpus: [{ ...nvidia!, mig: { strategy: "mixed", profiles: {} } }] }),
    );
    expect(world.holderTexts(rows)).toEqual(["none  of 0"]);
  });
});

describe("a join", () => {
  it("returns the same array until something changes for its rows", () => {
    world.pod("a");
    const shape = shapeOf([gpu(0, labeled("a"))]);
    const first = world.join(shape);
    expect(world.join(shape, NOON + 30_000)).toBe(first);
    world.pod("b");
    expect(world.join(shape, NOON + 60_000)).toBe(first);
    world.pod("a", { times: { created: NOON - 1, scheduled: NOON - 1, finished: NOON + 70_000 } });
    expect(world.join(shape, NOON + 69_999)).toBe(first);
    expect(world.holderTexts(shape, NOON + 70_000)).toEqual(["node b/uid-b of 1"]);
  });

  it("uses facts that come late", () => {
    const shape = shapeOf([gpu(0, labeled("a")), gpu(1)]);
    expect(world.holderTexts(shape)).toEqual(["label a of 1", "none  of 0"]);
    world.pod("a");
    expect(world.holderTexts(shape)).toEqual(["label a/uid-a of 1", "none  of 0"]);
    world.pod("c", claiming("one"));
    expect(world.holderTexts(shape)[1]).toBe("node c/uid-c of 1");
    world.claim("one", ["c"], ["gpu-1"]);
    expect(world.holderTexts(shape)[1]).toBe("node c/uid-c of 1");
    world.slice([{ name: "gpu-1", uuid: "GPU-1" }]);
    expect(world.holderTexts(shape)[1]).toBe("dra c/uid-c of 1");
    world.claim("one", [], []);
    expect(world.holderTexts(shape)[1]).toBe("node c/uid-c of 1");
  });

  it("of a failed scrape has no rows", () => {
    expect(world.join([])).toEqual([]);
  });
});
