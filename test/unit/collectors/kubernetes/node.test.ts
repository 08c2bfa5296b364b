import { describe, expect, it } from "vitest";
import { projectNode } from "../../../../collectors/kubernetes/projection/node.ts";
import type { NodeObject } from "../../../../collectors/kubernetes/projection/node-object.ts";
import type { NodeGpus } from "../../../../domain/inventory.ts";
import { CREATED, node } from "../../../support/kube-objects.ts";

const since = Date.parse(CREATED);
const gfd = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [`nvidia.com/${name}`, value]));
const nvidia = (gpus: Partial<NodeGpus>): NodeGpus => ({
  vendor: "nvidia",
  count: 8,
  countedBy: "label",
  replicas: 1,
  sharing: "none",
  mig: { strategy: "none", profiles: {} },
  ...gpus,
});

describe("the GPUs of a node", () => {
  it.each<readonly [string, NodeObject, readonly NodeGpus[]]>([
    [
      "whole ones, by GFD",
      node(gfd({ "gpu.count": "8", "gpu.product": "NVIDIA-H100-80GB-HBM3", "gpu.memory": "81559" }), {
        "nvidia.com/gpu": "8",
      }),
      [nvidia({ model: "NVIDIA-H100-80GB-HBM3", memoryMiB: 81_559, offered: 8 })],
    ],
    [
      "whole ones, by the capacity alone",
      node({}, { "nvidia.com/gpu": 4 }),
      [nvidia({ count: 4, countedBy: "capacity", offered: 4 })],
    ],
    [
      "time-sliced ones",
      node(
        gfd({
          "gpu.count": "2",
          "gpu.product": "Tesla-T4-SHARED",
          "gpu.replicas": "4",
          "gpu.sharing-strategy": "time-slicing",
        }),
        { "nvidia.com/gpu": "8" },
      ),
      [nvidia({ model: "Tesla-T4", count: 2, offered: 8, replicas: 4, sharing: "time-slicing" })],
    ],
    [
      "ones under MPS",
      node(
        gfd({
          "gpu.count": "1",
          "gpu.product": "NVIDIA-L4-SHARED",
          "gpu.replicas": "10",
          "gpu.sharing-strategy": "mps",
        }),
        { "nvidia.com/gpu.shared": "10" },
      ),
      [nvidia({ model: "NVIDIA-L4", count: 1, offered: 10, replicas: 10, sharing: "mps" })],
    ],
    [
      "shared ones of GKE without GFD",
      node(
        {
          "cloud.google.com/gke-accelerator": "nvidia-tesla-t4",
          "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
          "cloud.google.com/gke-max-shared-clients-per-gpu": "3",
        },
        { "nvidia.com/gpu": "6" },
      ),
      [
        nvidia({
          model: "Tesla-T4",
          count: 2,
          countedBy: "capacity",
          offered: 6,
          replicas: 3,
          sharing: "time-slicing",
        }),
      ],
    ],
    [
      "ones of the single MIG strategy, where GFD counts instances",
      node(
        gfd({
          "gpu.count": "14",
          "gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb",
          "gpu.memory": "9984",
          "mig.strategy": "single",
        }),
        { "nvidia.com/gpu": "14" },
      ),
      [
        nvidia({
          model: "NVIDIA-H100-80GB-HBM3",
          count: 2,
          countedBy: "instances",
          mig: { strategy: "single", profiles: { "1g.10gb": 14 } },
        }),
      ],
    ],
    [
      "instances of twice the memory, of which four fit",
      node(gfd({ "gpu.count": "12", "gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.10gb", "mig.strategy": "single" }), {
        "nvidia.com/gpu": "12",
      }),
      [
        nvidia({
          model: "NVIDIA-A100-SXM4-40GB",
          count: 3,
          countedBy: "instances",
          mig: { strategy: "single", profiles: { "1g.10gb": 12 } },
        }),
      ],
    ],
    [
      "instances that only the capacity has",
      node({}, { "nvidia.com/gpu": "0", "nvidia.com/mig-3g.40gb": "2", "nvidia.com/mig-1g.10gb.me": "1" }),
      [
        nvidia({
          count: 2,
          countedBy: "instances",
          mig: { strategy: "mixed", profiles: { "3g.40gb": 2, "1g.10gb+me": 1 } },
        }),
      ],
    ],
    [
      "those that HAMi registers, ten shares to a GPU",
      node(
        {},
        { "nvidia.com/gpu": "20" },
        {
          metadata: {
            annotations: {
              "hami.io/node-nvidia-register":
                "GPU-a,10,32768,100,NVIDIA-Tesla V100,0,true:GPU-b,10,32768,100,NVIDIA-Tesla V100,0,true:",
            },
          },
        },
      ),
      [nvidia({ model: "Tesla-V100-SXM2-32GB", count: 2, countedBy: "register", memoryMiB: 32_768 })],
    ],
    [
      "those that HAMi registers in JSON",
      node(
        {},
        { "nvidia.com/gpu": "10" },
        {
          metadata: {
            annotations: {
              "hami.io/node-nvidia-register": '[{"id":"GPU-a","count":10,"devmem":23034,"type":"NVIDIA-NVIDIA L4"}]',
            },
          },
        },
      ),
      [nvidia({ model: "NVIDIA-L4", count: 1, countedBy: "register", memoryMiB: 23_034 })],
    ],
    [
      "those of other makers, beside NVIDIA's",
      node(
        { "nvidia.com/gpu.count": "1", "amd.com/gpu.product-name": "AMD_Instinct_MI300X", "amd.com/gpu.vram": "192G" },
        { "nvidia.com/gpu": "1", "amd.com/gpu": "8", "habana.ai/gaudi": "8" },
      ),
      [
        nvidia({ count: 1, offered: 1 }),
        nvidia({
          vendor: "amd",
          model: "AMD-Instinct-MI300X-OAM",
          countedBy: "capacity",
          offered: 8,
          memoryMiB: 196_608,
        }),
      ],
    ],
    ["none left, though a device plugin runs", node({}, { "nvidia.com/gpu": "0" }), []],
    ["those of labels before the device plugin runs", node(gfd({ "gpu.count": "8" }), {}), [nvidia({})]],
  ])("are %s", (_, object, gpus) => {
    expect(projectNode(object)?.fact.gpus).toEqual(gpus);
  });

  it("show whether they were derived instead of counted, and what was left out", () => {
    const object = node(gfd({ "gpu.product": "NVIDIA-A30-MIG-2g.12gb", "mig.strategy": "single" }), {
      "nvidia.com/gpu": "4",
      "amd.com/gpu": "many",
    });
    const { fact, remarks } = projectNode(object)!;
    expect(fact.gpus).toMatchObject([{ count: 2, mig: { profiles: { "2g.12gb": 4 } } }]);
    expect(remarks.map(({ reason }) => reason)).toEqual(["quantity", "quantity", "derived"]);
    expect(fact.capacity).toEqual({ "nvidia.com/gpu": 4 });
  });

  it("give no fact for a node without GPUs", () => {
    expect(projectNode(node({}, {}))).toBeUndefined();
    expect(projectNode({})).toBeUndefined();
    expect(projectNode({ metadata: 7, status: { capacity: "all" } } as unknown as NodeObject)).toBeUndefined();
  });
});

describe("the machine of a node", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, object]>([
    [
      "EKS",
      { "eks.amazonaws.com/capacityType": "SPOT", "eks.amazonaws.com/nodegroup": "gpu" },
      { capacityType: "spot", pool: "gpu" },
    ],
    ["EKS with a capacity block", { "eks.amazonaws.com/capacityType": "CAPACITY_BLOCK" }, { capacityType: "reserved" }],
    [
      "Karpenter",
      { "karpenter.sh/capacity-type": "reserved", "karpenter.sh/nodepool": "p5" },
      { capacityType: "reserved", pool: "p5" },
    ],
    [
      "GKE",
      { "cloud.google.com/gke-spot": "true", "cloud.google.com/gke-nodepool": "a3" },
      { capacityType: "spot", pool: "a3" },
    ],
    ["older GKE", { "cloud.google.com/gke-preemptible": "true" }, { capacityType: "spot" }],
    [
      "AKS",
      { "kubernetes.azure.com/scalesetpriority": "regular", "kubernetes.azure.com/agentpool": "nd" },
      { capacityType: "on-demand", pool: "nd" },
    ],
    ["GKE on demand", { "cloud.google.com/gke-nodepool": "a3" }, { capacityType: "on-demand", pool: "a3" }],
    [
      "GKE with the provisioning label",
      { "cloud.google.com/gke-provisioning": "spot", "cloud.google.com/gke-nodepool": "a3" },
      { capacityType: "spot" },
    ],
    [
      "GKE with a named reservation",
      { "cloud.google.com/reservation-name": "h100s", "cloud.google.com/gke-nodepool": "a3" },
      { capacityType: "reserved" },
    ],
    ["AKS without a capacity type", { "kubernetes.azure.com/agentpool": "nd" }, { capacityType: "on-demand" }],
    [
      "OKE",
      { "oci.oraclecloud.com/fault-domain": "FAULT-DOMAIN-1", "oci.oraclecloud.com/oke-is-preemptible": "true" },
      { capacityType: "spot" },
    ],
    ["OKE on demand", { "oci.oraclecloud.com/fault-domain": "FAULT-DOMAIN-1" }, { capacityType: "on-demand" }],
    [
      "ACK",
      {
        "node.alibabacloud.com/spot-strategy": "SpotAsPriceGo",
        "node.alibabacloud.com/instance-charge-type": "PostPaid",
      },
      { capacityType: "spot" },
    ],
    [
      "ACK by subscription",
      { "node.alibabacloud.com/spot-strategy": "NoSpot", "node.alibabacloud.com/instance-charge-type": "PrePaid" },
      { capacityType: "reserved" },
    ],
    ["Ocean", { "spotinst.io/node-lifecycle": "od" }, { capacityType: "on-demand" }],
    ["Cast AI", { "scheduling.cast.ai/spot": "true" }, { capacityType: "spot" }],
    [
      "any cloud",
      {
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "topology.kubernetes.io/region": "us-east-1",
        "topology.kubernetes.io/zone": "us-east-1a",
      },
      { instanceType: "p5.48xlarge", region: "us-east-1", zone: "us-east-1a" },
    ],
    [
      "GFD",
      { "nvidia.com/cuda.driver-version.full": "580.95.05", "nvidia.com/cuda.runtime-version.full": "13.0" },
      { driverVersion: "580.95.05", cudaVersion: "13.0" },
    ],
  ])("is read from the labels of %s", (_, labels, expected) => {
    expect(projectNode(node(labels, { "nvidia.com/gpu": 8 }))!.fact).toMatchObject(expected);
  });

  it("has no capacity type if no label has one", () => {
    const own = { "node.kubernetes.io/instance-type": "dgx", "node.kubernetes.io/lifecycle": "other" };
    expect(projectNode(node(own, { "nvidia.com/gpu": 8 }))!.fact).not.toHaveProperty("capacityType");
  });

  it("keeps the labels of its location and configured labels, taints, and the relevant conditions", () => {
    const object = node(
      {
        "topology.kubernetes.io/rack": "r7",
        "network.topology.nvidia.com/leaf": "s1",
        "example.com/row": "3",
        other: "x",
      },
      { "nvidia.com/gpu": 8 },
      { spec: { taints: [{ key: "nvidia.com/gpu", effect: "NoSchedule" }] } },
    );
    const conditions = [
      ...object.status!.conditions!,
      { type: "DiskPressure", status: "False", reason: "fine", lastTransitionTime: CREATED },
      { type: "GpuUnhealthy", status: "True", reason: "XID79", lastTransitionTime: CREATED },
      { type: "KernelReady", status: "True", reason: "KernelIsReady", lastTransitionTime: CREATED },
      { type: "NVLinkHealthy", status: "False", reason: "Down", lastTransitionTime: CREATED },
      { type: "NetworkUnavailable", status: "False", reason: "RouteCreated", lastTransitionTime: CREATED },
    ];
    const { fact } = projectNode(
      { ...object, status: { ...object.status, conditions } },
      { labels: ["example.com/row"] },
    )!;
    expect(fact.labels).toEqual({
      "topology.kubernetes.io/rack": "r7",
      "network.topology.nvidia.com/leaf": "s1",
      "example.com/row": "3",
    });
    expect(fact.taints).toEqual([{ key: "nvidia.com/gpu", value: "", effect: "NoSchedule" }]);
    expect(fact.conditions).toEqual([
      { type: "Ready", status: "True", reason: "KubeletReady", since },
      { type: "GpuUnhealthy", status: "True", reason: "XID79", since },
      { type: "NVLinkHealthy", status: "False", reason: "Down", since },
    ]);
    expect(fact).not.toHaveProperty("cordonedSince");
  });

  it("is cordoned since the taint's time, or since that was first seen", () => {
    const taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
    const cordoned = (spec: NodeObject["spec"]) =>
      projectNode(node({}, { "nvidia.com/gpu": 1 }, { spec: spec! }), { cordonedSeenMillis: 5 })!.fact.cordonedSince;
    expect(cordoned({ unschedulable: true, taints: [{ ...taint, timeAdded: CREATED }] })).toBe(since);
    expect(cordoned({ unschedulable: true, taints: [taint] })).toBe(5);
    expect(cordoned({ unschedulable: false, taints: [taint] })).toBeUndefined();
  });
});
