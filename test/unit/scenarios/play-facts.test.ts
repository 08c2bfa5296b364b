import { describe, expect, it } from "vitest";
import type { ClusterFact, ClusterFactKind } from "../../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../../domain/inventory.ts";
import type { WorkloadFact } from "../../../domain/workload.ts";
import { factsOf } from "../../../scenarios/play/facts.ts";
import { DELIVERED_LABEL } from "../../../domain/inventory.ts";
import type { Scenario } from "../../../scenarios/files.ts";
import { decodedFacts, millisOf, minute, scenarioWith } from "../../support/played.ts";

const NODE = { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 2 };
const POD = { name: "p-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0] };

function podFacts(scenario: Scenario, name = "p-0"): readonly WorkloadFact[] {
  return decodedFacts(scenario).flatMap((played) =>
    played.of === "workload" && played.fact.name === name ? [played.fact] : [],
  );
}

function nodeFacts(scenario: Scenario): readonly InventoryFact[] {
  return decodedFacts(scenario).flatMap((played) => (played.of === "inventory" ? [played.fact] : []));
}

function clusterFacts<Kind extends ClusterFactKind>(
  scenario: Scenario,
  kind: Kind,
): readonly Extract<ClusterFact, { kind: Kind }>[] {
  return decodedFacts(scenario).flatMap((played) =>
    played.of === "cluster" && played.fact.kind === kind ? [played.fact as Extract<ClusterFact, { kind: Kind }>] : [],
  );
}

describe("the facts of a played pod", () => {
  const lifeOf = (given: object): readonly string[] =>
    podFacts(scenarioWith({ nodes: [NODE], pods: [{ ...POD, ...given }] })).map(
      ({ seenAtMillis, phase, node, pending, endReason, end }) =>
        [
          (seenAtMillis - millisOf(0)) / 60_000,
          phase,
          node || "unbound",
          pending?.reason ?? "-",
          endReason ?? "-",
          end === undefined ? "-" : "gone",
        ].join(" "),
    );

  it("have its whole life in the order of time", () => {
    const moments = { created: minute(-5), scheduled: minute(10), started: minute(12), finished: minute(60) };
    expect(lifeOf(moments)).toEqual([
      "-5 Pending unbound Unschedulable - -",
      "10 Pending gpu-a ContainerCreating - -",
      "12 Running gpu-a - - -",
      "60 Succeeded gpu-a - completed -",
      "65 Succeeded gpu-a - completed gone",
    ]);
  });

  it("are one fact if its moments coincide, and have no end while it runs", () => {
    expect(lifeOf({ finished: null })).toEqual(["0 Running gpu-a - - -"]);
  });

  it("have its kind of end: a failed or evicted pod is seen until its object is deleted, a deleted one is gone immediately", () => {
    expect(lifeOf({ finished: minute(60), phase: "Failed" })[1]).toBe("60 Failed gpu-a - failed -");
    expect(lifeOf({ finished: minute(60), phase: "Evicted" })[1]).toBe("60 Failed gpu-a - evicted -");
    expect(lifeOf({ finished: minute(60), phase: "Deleted" })).toEqual([
      "0 Running gpu-a - - -",
      "60 Running gpu-a - deleted gone",
    ]);
  });

  it("never bind a pod that is not scheduled, and never start one with containers that never run", () => {
    expect(lifeOf({ scheduled: null })).toEqual([
      "0 Pending unbound Unschedulable - -",
      "120 Pending unbound - deleted gone",
    ]);
    expect(lifeOf({ started: null, finished: minute(30), phase: "Failed" })).toEqual([
      "0 Pending gpu-a ContainerCreating - -",
      "30 Failed gpu-a - failed -",
      "35 Failed gpu-a - failed gone",
    ]);
  });

  it("have its own times, its labels before those of its owner, its queue, class, gang and type", () => {
    const given = {
      labels: { team: "vision", app: "resnet" },
      annotations: { note: "x" },
      workload: { kind: "PyTorchJob", name: "train", labels: { team: "nlp", run: "r7" } },
      queue: "research",
      priorityClass: "batch",
      gang: { group: "train", size: 4 },
      scheduled: minute(1),
      started: minute(2),
      finished: minute(3),
    };
    const fact = podFacts(scenarioWith({ nodes: [NODE], pods: [{ ...POD, ...given }] })).at(-1)!;
    expect(fact).toMatchObject({
      labels: { team: "vision", app: "resnet", run: "r7" },
      annotations: { note: "x" },
      workload: { kind: "PyTorchJob", name: "train" },
      owners: [{ apiVersion: "kubeflow.org/v1", kind: "PyTorchJob", name: "train" }],
      type: "training",
      queue: "research",
      priorityClass: "batch",
      gang: { kind: "PodGroup", name: "train", size: 4 },
      times: {
        created: millisOf(1),
        scheduled: millisOf(1),
        started: millisOf(2),
        ready: millisOf(2),
        finished: millisOf(3),
      },
    });
  });

  it.each([
    ["whole GPUs", { holds: { gpus: 2 }, devices: [0, 1] }, [{ kind: "gpu", resource: "nvidia.com/gpu", count: 2 }]],
    [
      "an instance",
      { holds: { mig: "1g.5gb+me" }, devices: [] },
      [{ kind: "mig", resource: "nvidia.com/mig-1g.5gb.me", profile: "1g.5gb+me", count: 1 }],
    ],
    ["a fraction", { holds: { fraction: 0.3 } }, [{ kind: "fraction", count: 1, ppm: 300_000 }]],
    [
      "HAMi's cores without memory",
      { holds: { hami: { cores: 30 } } },
      [{ kind: "vgpu", scheduler: "hami", count: 1, memoryPercent: 100, coresPercent: 30 }],
    ],
    ["the devices of its DRA claim", { evidence: "dra" }, [{ kind: "claim", claim: "p-0-devices" }]],
  ])("request %s", (_, given, asks) => {
    expect(podFacts(scenarioWith({ nodes: [NODE], pods: [{ ...POD, ...given }] }))[0]!.asks).toEqual(asks);
  });

  it("give two pods of one name a UID each, the same ones every time", () => {
    const pods = [
      { ...POD, finished: minute(10) },
      { ...POD, scheduled: minute(20) },
    ];
    const uids = (): ReadonlySet<string> =>
      new Set(podFacts(scenarioWith({ nodes: [NODE], pods })).map(({ uid }) => uid));
    expect(uids().size).toBe(2);
    expect(uids()).toEqual(uids());
  });
});

describe("the facts of a played node", () => {
  it("have its kind and its devices, and its end", () => {
    const more = { instanceType: "p4d", region: "r", zone: "z", pool: "big", capacityType: "spot", delivered: 4 };
    const [first, last] = nodeFacts(scenarioWith({ nodes: [{ ...NODE, ...more, until: minute(90) }] }));
    expect(first).toMatchObject({
      joined: millisOf(0),
      gpus: [{ vendor: "nvidia", model: "NVIDIA-A100-SXM4-40GB", count: 2, memoryMiB: 40_960, replicas: 1 }],
      capacity: { "nvidia.com/gpu": 2 },
      instanceType: "p4d",
      region: "r",
      zone: "z",
      pool: "big",
      capacityType: "spot",
      conditions: [{ type: "Ready", status: "True", since: millisOf(0) }],
      labels: { [DELIVERED_LABEL]: "4" },
    });
    expect(last).toMatchObject({ uid: first!.uid, end: { atMillis: millisOf(90), inferred: false } });
  });

  it("have the cordoned, not ready and missing states, but nothing of an XID", () => {
    const unavailable = [
      { from: minute(10), until: minute(20), because: "cordoned" },
      { from: minute(20), until: minute(30), because: "not-ready" },
      { gpus: [1], from: minute(40), until: minute(50), because: "withdrawn" },
      { gpus: [0], from: minute(60), until: minute(70), because: "xid-79" },
    ];
    const states = nodeFacts(scenarioWith({ nodes: [{ ...NODE, unavailable }] })).map(
      ({ seenAtMillis, cordonedSince, conditions: [ready], allocatable }) => [
        (seenAtMillis - millisOf(0)) / 60_000,
        cordonedSince === undefined ? "-" : (cordonedSince - millisOf(0)) / 60_000,
        `${ready!.status} since ${(ready!.since - millisOf(0)) / 60_000}`,
        allocatable["nvidia.com/gpu"],
      ],
    );
    expect(states).toEqual([
      [0, "-", "True since 0", 2],
      [10, 10, "True since 0", 2],
      [20, "-", "False since 20", 2],
      [30, "-", "True since 30", 2],
      [40, "-", "True since 30", 1],
      [50, "-", "True since 30", 2],
    ]);
  });

  it("follow its MIG layout by the mixed strategy", () => {
    const mig = [
      { from: minute(0), layout: { 0: ["1g.5gb", "1g.5gb", "3g.20gb"] } },
      { from: minute(30), layout: { 0: ["7g.40gb"], 1: [] } },
    ];
    const states = nodeFacts(scenarioWith({ nodes: [{ ...NODE, mig }] })).map(({ capacity, gpus }) => [
      capacity,
      gpus[0]!.mig,
    ]);
    expect(states).toEqual([
      [
        { "nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 2, "nvidia.com/mig-3g.20gb": 1 },
        { strategy: "mixed", profiles: { "1g.5gb": 2, "3g.20gb": 1 } },
      ],
      [
        { "nvidia.com/gpu": 0, "nvidia.com/mig-7g.40gb": 1 },
        { strategy: "mixed", profiles: { "7g.40gb": 1 } },
      ],
    ]);
  });

  it("count replicas and partitions as its device plugin does, and GPUs as they are", () => {
    const nodes = [
      { name: "t4", model: "Tesla-T4", gpus: 2, sharing: { strategy: "mps", replicas: 3 } },
      { name: "mi300", model: "AMD-Instinct-MI300X", gpus: 2, partitions: { 0: 8 } },
    ];
    const states = nodeFacts(scenarioWith({ nodes })).map(({ capacity, gpus: [gpus] }) => [
      capacity,
      gpus!.count,
      gpus!.replicas,
      gpus!.sharing,
    ]);
    expect(states).toEqual([
      [{ "nvidia.com/gpu": 6 }, 2, 3, "mps"],
      [{ "amd.com/gpu": 9 }, 2, 1, "none"],
    ]);
  });
});

describe("the facts of a played cluster", () => {
  it("date the labels of namespaces, also of those that only a pod names", () => {
    const namespaces = { lab: [{ labels: { team: "nlp" } }, { from: minute(60), labels: { team: "speech" } }] };
    const facts = clusterFacts(scenarioWith({ nodes: [NODE], namespaces, pods: [POD] }), "Namespace");
    expect(
      facts.map(({ name, seenAtMillis, body }) => [name, (seenAtMillis - millisOf(0)) / 60_000, body.labels]),
    ).toEqual([
      ["lab", 0, { team: "nlp" }],
      ["vision", 0, {}],
      ["lab", 60, { team: "speech" }],
    ]);
  });

  it("have the time when a gang was first complete, and nothing more if it never is", () => {
    const member = (name: string, group: string, given: object): object => ({
      ...POD,
      name,
      gang: { group, size: 2 },
      ...given,
    });
    const pods = [
      member("a", "g", { scheduled: minute(0), finished: minute(10) }),
      member("b", "g", { scheduled: minute(20) }),
      member("c", "g", { devices: [1], scheduled: minute(30) }),
      member("d", "never", { scheduled: null }),
    ];
    const gangs = clusterFacts(scenarioWith({ nodes: [NODE], pods }), "Gang");
    expect(
      gangs.map(({ name, body }) => [
        name,
        body.phase,
        body.size,
        body.admitted === undefined ? "-" : (body.admitted - millisOf(0)) / 60_000,
      ]),
    ).toEqual([
      ["g", "Pending", 2, "-"],
      ["never", "Pending", 2, "-"],
      ["g", "Running", 2, 30],
    ]);
  });

  it("have a claim from its first pod's binding to its last pod's end, and the devices in the node's slice", () => {
    const claims = { shared: { node: "gpu-a", devices: [{ gpu: 0, instance: 1 }], reservedFor: ["a", "b"] } };
    const pod = (name: string, from: number, until: number): object => ({
      ...POD,
      name,
      holds: { dra: { claim: "shared" } },
      devices: undefined,
      evidence: "dra",
      scheduled: minute(from),
      finished: minute(until),
    });
    const scenario = scenarioWith({
      nodes: [{ ...NODE, mig: { 0: ["1g.5gb", "2g.10gb"] } }],
      claims,
      pods: [pod("a", 10, 40), pod("b", 20, 60)],
    });
    const [allocated, gone] = clusterFacts(scenario, "ResourceClaim");
    expect(allocated).toMatchObject({
      namespace: "vision",
      name: "shared",
      seenAtMillis: millisOf(10),
      body: {
        devices: [{ pool: "gpu-a", device: "gpu-0-mig-1" }],
        reservedFor: [expect.any(String), expect.any(String)],
      },
    });
    expect(gone!.end).toEqual({ atMillis: millisOf(60), inferred: false });
    const [slice] = clusterFacts(scenario, "ResourceSlice");
    expect(slice!.body.devices.map(({ name, profile = "" }) => `${name} ${profile}`)).toEqual([
      "gpu-0-mig-0 1g.5gb",
      "gpu-0-mig-1 2g.10gb",
      "gpu-1 ",
    ]);
  });

  it("come in the order of time, each newer than the one before, and are the same bytes every time", () => {
    const scenario = scenarioWith({
      nodes: [{ ...NODE, until: minute(60) }],
      pods: [{ ...POD, created: minute(-10) }],
    });
    const [once, again] = [[...factsOf(scenario)], [...factsOf(scenario)]];
    expect(again).toEqual(once);
    expect(once.map(({ atMillis }) => atMillis)).toEqual(
      once.map(({ atMillis }) => atMillis).toSorted((a, b) => a - b),
    );
    const versions = decodedFacts(scenario).map(({ fact }) => Number(fact.resourceVersion));
    expect(versions).toEqual(versions.map((_, place) => place + 1));
  });
});
