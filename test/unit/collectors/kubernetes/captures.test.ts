import { describe, expect, it } from "vitest";
import { inspectObjects, type InspectedObject } from "../../../../collectors/kubernetes/inspect.ts";
import { captures } from "../../../support/captures.ts";

const files = captures("kubernetes");

function only<What extends InspectedObject["what"]>(
  name: string,
  what: What,
): Extract<InspectedObject, { what: What }> {
  const content = files.get(name)!.toString("utf8");
  // The fragment is the content of a JSON object, as its source prints it.
  const { objects, ignored } = inspectObjects(name.endsWith("fragment.txt") ? `{${content}}` : content);
  expect(ignored).toEqual([]);
  expect(objects.map((object) => object.what)).toEqual([what]);
  return objects[0] as Extract<InspectedObject, { what: What }>;
}

/** The expected fact of each capture, by its source, and the reasons of its remarks. */
const NODES: Readonly<Record<string, { fact: object; remarks: readonly string[] }>> = {
  "h100_mig_mixed_node_labels.json": {
    fact: {
      gpus: [
        {
          vendor: "nvidia",
          model: "NVIDIA-H100-80GB-HBM3",
          count: 1,
          memoryMiB: 81_559,
          replicas: 1,
          sharing: "none",
          mig: { strategy: "mixed", profiles: { "1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1 } },
        },
      ],
      driverVersion: "550.54.15",
      cudaVersion: "12.4",
    },
    remarks: ["time"],
  },
  // Taken before MIG was switched on: the strategy is chosen, and the GPU is still whole.
  "h100_mig_single_node_labels.json": {
    fact: {
      gpus: [
        { model: "NVIDIA-H100-80GB-HBM3", count: 1, memoryMiB: 81_559, mig: { strategy: "single", profiles: {} } },
      ],
    },
    remarks: ["time"],
  },
  "lke_rtx4000ada_node_labels_fragment.txt": {
    fact: {
      node: "lke529760-766837-0a634ab30000",
      gpus: [
        {
          model: "NVIDIA-RTX-4000-Ada-Generation",
          count: 1,
          memoryMiB: 20_475,
          mig: { strategy: "none", profiles: {} },
        },
      ],
      instanceType: "g2-gpu-rtx4000a1-m",
      region: "us-ord",
      pool: "766837",
      driverVersion: "580.95.05",
    },
    remarks: ["time"],
  },
  "runai_a100_mig_node_4_instances.yaml": {
    fact: {
      node: "qa-mig-worker-gpu-a100",
      uid: "04dc2370-8f7d-43f8-a346-c8b5201fdd5a",
      joined: Date.parse("2022-12-26T14:13:08Z"),
      gpus: [
        {
          model: "NVIDIA-A100-SXM4-40GB",
          count: 1,
          memoryMiB: 40_960,
          replicas: 1,
          mig: { strategy: "mixed", profiles: { "1g.5gb": 3, "2g.10gb": 1 } },
        },
      ],
      // The node was partitioned again: kubelet still counts an instance that it can no longer give, which is not read.
      capacity: {
        "nvidia.com/gpu": 0,
        "nvidia.com/mig-1g.5gb": 3,
        "nvidia.com/mig-2g.10gb": 1,
        "nvidia.com/mig-3g.20gb": 0,
      },
      allocatable: {
        "nvidia.com/gpu": 0,
        "nvidia.com/mig-1g.5gb": 3,
        "nvidia.com/mig-2g.10gb": 1,
        "nvidia.com/mig-3g.20gb": 0,
      },
      driverVersion: "520.56.06",
      cudaVersion: "11.8",
      conditions: [
        { type: "Ready", status: "True", reason: "KubeletReady", since: Date.parse("2023-01-19T06:33:52Z") },
      ],
    },
    remarks: [],
  },
  "runai_a100_mig_node_7g40gb.yaml": {
    fact: {
      node: "qa-mig-worker-gpu-a100",
      gpus: [{ count: 1, mig: { strategy: "mixed", profiles: { "7g.40gb": 1 } } }],
    },
    remarks: [],
  },
  "runai_t4_node.yaml": {
    fact: {
      node: "qa-mig-worker-gpu-1",
      gpus: [
        {
          model: "Tesla-T4",
          count: 2,
          memoryMiB: 15_360,
          replicas: 1,
          sharing: "none",
          mig: { strategy: "none", profiles: {} },
        },
      ],
      capacity: { "nvidia.com/gpu": 2 },
      driverVersion: "525.60.13",
    },
    remarks: [],
  },
  "vks_vgpu_a100_10c_node_labels.json": {
    fact: {
      node: "conformance-test-np1-qcqc8-bpdtl-rcj8j",
      gpus: [{ model: "GRID-A100-10C", count: 1, memoryMiB: 10_240 }],
      pool: "np1",
    },
    remarks: ["time"],
  },
};

const PODS: Readonly<Record<string, object>> = {
  "runai_mig_pod_1g5gb.yaml": {
    namespace: "runai-team-a",
    node: "qa-mig-worker-gpu-a100",
    asks: [{ kind: "mig", resource: "nvidia.com/mig-1g.5gb", profile: "1g.5gb", count: 1 }],
    evidence: [
      {
        by: "annotation",
        uuid: "MIG-28810d46-0180-5139-a975-020bdc7f9cb1",
        container: 0,
        memoryMiB: 0,
        coresPercent: 0,
        gpuIndex: 0,
      },
    ],
    workload: { kind: "RunaiJob", name: "job-2" },
    ownersTruncated: true,
    type: "training",
    queue: "team-a",
    gang: { kind: "PodGroup", name: "pg-job-2-0-a369bc70-fa23-4181-a163-c749f2e49ba1", size: 0 },
    times: {
      created: Date.parse("2023-01-19T07:56:47Z"),
      scheduled: Date.parse("2023-01-19T07:56:49Z"),
      started: Date.parse("2023-01-19T07:56:55Z"),
      ready: Date.parse("2023-01-19T07:56:57Z"),
    },
  },
  "runai_mig_pod_7g40gb.yaml": {
    namespace: "runai-p1",
    asks: [{ kind: "mig", resource: "nvidia.com/mig-7g.40gb", profile: "7g.40gb", count: 1 }],
    evidence: [
      {
        by: "annotation",
        uuid: "MIG-6d9be9db-d376-5991-8c4c-18ab448933ff",
        container: 0,
        memoryMiB: 0,
        coresPercent: 0,
        gpuIndex: 0,
        instance: 0,
      },
    ],
    workload: { kind: "RunaiJob", name: "job-969475a25a51" },
    phase: "Running",
  },
};

const SLICE = "t4_openshift_resourceslice_v1.yaml";

describe.runIf(files.size > 0)("genuine Kubernetes captures", () => {
  it("are all listed here by name", () => {
    expect([...files.keys()].sort()).toEqual([...Object.keys(NODES), ...Object.keys(PODS), SLICE].sort());
  });

  it.each(Object.entries(NODES))("%s is read as the node that its source describes", (name, expected) => {
    const { fact, remarks } = only(name, "node");
    expect(fact).toMatchObject(expected.fact);
    expect(remarks.map(({ reason }) => reason)).toEqual(expected.remarks);
  });

  it.each(Object.entries(PODS))(
    "%s is read as a pod with a MIG instance of Run:ai, though it has no limit",
    (name, expected) => {
      const { fact, remarks, regimes } = only(name, "workload");
      expect(fact).toMatchObject(expected);
      expect({ remarks, regimes }).toEqual({ remarks: [], regimes: ["mig"] });
    },
  );

  it(`${SLICE} is read as two T4 with their UUIDs and PCI addresses`, () => {
    const { fact, remarks } = only(SLICE, "cluster");
    expect(remarks).toEqual([]);
    expect(fact).toMatchObject({ kind: "ResourceSlice", name: "harpatil4220c-g9kfm-gpu-c-rd8r8-gpu.nvidia.com-wvrlc" });
    expect(fact.body).toEqual({
      driver: "gpu.nvidia.com",
      pool: "harpatil4220c-g9kfm-gpu-c-rd8r8",
      node: "harpatil4220c-g9kfm-gpu-c-rd8r8",
      devices: [
        {
          name: "gpu-0",
          uuid: "GPU-da96f367-6e47-8dc4-fd29-4f0b97b9f174",
          pciBusId: "0000:00:04.0",
          model: "Tesla T4",
          memoryMiB: 15_360,
        },
        {
          name: "gpu-1",
          uuid: "GPU-204349eb-0405-e927-278b-8804172f1be3",
          pciBusId: "0000:00:05.0",
          model: "Tesla T4",
          memoryMiB: 15_360,
        },
      ],
    });
  });
});
