import { describe, expect, it } from "vitest";
import type { PodObject } from "../../../../collectors/kubernetes/projection/pod-object.ts";
import { resourceNamesOf } from "../../../../collectors/kubernetes/projection/gpu-resource.ts";
import { projectPod, unmeteredOf } from "../../../../collectors/kubernetes/projection/pod.ts";
import type { DeviceEvidence, GpuAsk } from "../../../../domain/workload.ts";
import { ALONE, container, pod, sidecar } from "../../../support/kube-objects.ts";

const A = "GPU-0fc3eda5-e98b-a25b-5b0d-cf5c855d1448";
const B = "GPU-29d5fa0d-935b-2966-aff8-483a174d61d1";
const annotated = (
  annotations: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): PodObject => pod({ metadata: { annotations, labels } });

interface Row {
  readonly pod: PodObject;
  readonly asks: readonly GpuAsk[];
  readonly evidence?: readonly DeviceEvidence[];
  readonly remarks?: readonly RegExp[];
}

const TABLE: Readonly<Record<string, Row>> = {
  "whole GPUs": {
    pod: pod({ limits: { "nvidia.com/gpu": "2", cpu: "4" } }),
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 2 }],
  },
  "GPUs that stand in requests alone": {
    pod: pod({ spec: { containers: [{ name: "a", resources: { requests: { "amd.com/gpu": 1 } } }] } }),
    asks: [{ kind: "gpu", resource: "amd.com/gpu", count: 1 }],
  },
  "GPUs of several makers": {
    pod: pod({
      limits: { "gpu.intel.com/i915": 1, "gpu.intel.com/xe": 1, "habana.ai/gaudi": 8, "gpu.intel.com/tiles": 2 },
    }),
    asks: [
      { kind: "gpu", resource: "gpu.intel.com/i915", count: 1 },
      { kind: "gpu", resource: "gpu.intel.com/xe", count: 1 },
    ],
    remarks: [
      /habana\.ai\/gaudi: 8 is not metered, because exporters of Gaudi are not supported\..*kubernetes\.gpuResources/,
    ],
  },
  "AMD's GPUs and partitions by its mixed names": {
    pod: pod({ limits: { "amd.com/spx_nps1": 1, "amd.com/cpx_nps4": 2 } }),
    asks: [
      { kind: "gpu", resource: "amd.com/spx_nps1", count: 1 },
      { kind: "gpu", resource: "amd.com/cpx_nps4", count: 2 },
    ],
  },
  "HAMi's number under another name, with a measure": {
    pod: pod({ limits: { "nvidia.com/vgpu": 2, "nvidia.com/gpumem": 3000 } }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 2, memoryMiB: 3000 }],
  },
  "HAMi's number alone": {
    pod: pod({ limits: { "hami.io/gpu": 1 } }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 1, memoryPercent: 100 }],
  },
  "HAMi's shares of init containers and a sidecar, as HAMi wrote them": {
    pod: pod({
      spec: {
        initContainers: [
          sidecar({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 1000 }),
          container({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 5000 }),
        ],
        containers: [container({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 3000 })],
      },
      metadata: {
        annotations: {
          "hami.io/vgpu-devices-allocated": `${A},NVIDIA,1000,10:;${A},NVIDIA,5000,20:;${B},NVIDIA,3000,30:;`,
        },
      },
    }),
    asks: [
      { kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 1000 },
      { kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 5000 },
    ],
    evidence: [
      { by: "annotation", uuid: A, container: 0, memoryMiB: 6000, coresPercent: 30 },
      { by: "annotation", uuid: B, container: 2, memoryMiB: 3000, coresPercent: 30 },
    ],
  },
  "a replica under its own name": {
    pod: pod({ limits: { "nvidia.com/gpu.shared": "1" } }),
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu.shared", count: 1 }],
  },
  "MIG instances, with media engines": {
    pod: pod({ limits: { "nvidia.com/mig-1g.10gb.me": "1", "nvidia.com/mig-3g.40gb": "2" } }),
    asks: [
      { kind: "mig", resource: "nvidia.com/mig-1g.10gb.me", profile: "1g.10gb+me", count: 1 },
      { kind: "mig", resource: "nvidia.com/mig-3g.40gb", profile: "3g.40gb", count: 2 },
    ],
  },
  "an init container that needs more than the rest": {
    pod: pod({
      spec: {
        initContainers: [sidecar({ "nvidia.com/gpu": 1 }), container({ "nvidia.com/gpu": 2 })],
        containers: [container({ "nvidia.com/gpu": 1 })],
      },
    }),
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 3 }],
  },
  "HAMi by memory and cores, with what it gave": {
    pod: pod({
      limits: { "nvidia.com/gpu": 2, "nvidia.com/gpumem": "3000", "nvidia.com/gpucores": 30 },
      metadata: { annotations: { "hami.io/vgpu-devices-allocated": `${A},NVIDIA,3000,30:${B},NVIDIA,3000,30:;` } },
    }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 2, memoryMiB: 3000, coresPercent: 30 }],
    evidence: [
      { by: "annotation", uuid: A, container: 0, memoryMiB: 3000, coresPercent: 30 },
      { by: "annotation", uuid: B, container: 0, memoryMiB: 3000, coresPercent: 30 },
    ],
  },
  "HAMi by percentage, the number left to its webhook": {
    pod: pod({ limits: { "nvidia.com/gpumem-percentage": 50 } }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 1, memoryPercent: 50 }],
  },
  "HAMi with no measure but its annotation, in the second container": {
    pod: pod({
      spec: { containers: [container({}), container({ "nvidia.com/gpu": 1 })] },
      metadata: { annotations: { "hami.io/vgpu-devices-allocated": `;${A}[0-1],NVIDIA,40960,0:;` } },
    }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 1, memoryPercent: 100 }],
    evidence: [{ by: "annotation", uuid: A, container: 1, memoryMiB: 40_960, coresPercent: 0, isInstance: true }],
  },
  "HAMi in containers of different shares": {
    pod: pod({
      spec: {
        containers: [
          container({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 1000 }),
          container({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 2000 }),
          container({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 1000 }),
        ],
      },
    }),
    asks: [
      { kind: "vgpu", scheduler: "hami", count: 2, memoryMiB: 1000 },
      { kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 2000 },
    ],
  },
  "HAMi in an init container that needs more than the rest": {
    pod: pod({
      spec: {
        initContainers: [container({ "nvidia.com/gpu": 2, "nvidia.com/gpumem": 500 })],
        containers: [container({ "nvidia.com/gpu": 1, "nvidia.com/gpumem": 900 })],
      },
    }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 2, memoryMiB: 500 }],
  },
  "Volcano's shares": {
    pod: pod({
      limits: { "volcano.sh/vgpu-number": 1, "volcano.sh/vgpu-memory": 2048, "volcano.sh/vgpu-cores": 25 },
      metadata: { annotations: { "volcano.sh/vgpu-ids-new": `${A},NVIDIA,2048,25:` } },
    }),
    asks: [{ kind: "vgpu", scheduler: "volcano", count: 1, memoryMiB: 2048, coresPercent: 25 }],
    evidence: [{ by: "annotation", uuid: A, container: 0, memoryMiB: 2048, coresPercent: 25 }],
  },
  "devices in its status: replicas, an instance of GKE's, an address of AMD's, an unhealthy one": {
    pod: pod({
      limits: { "nvidia.com/gpu": 3, "amd.com/gpu": 1 },
      status: {
        containerStatuses: [
          {
            allocatedResourcesStatus: [
              {
                name: "nvidia.com/gpu",
                resources: [
                  { resourceID: `${A}::1`, health: "Healthy" },
                  { resourceID: `${A}::0`, health: "Unhealthy" },
                  { resourceID: "nvidia0/gi3" },
                  { resourceID: "strange" },
                ],
              },
              { name: "amd.com/gpu", resources: [{ resourceID: "0000:0c:00.0" }] },
              { name: "claim:gpu/gpu", resources: [{ resourceID: "gpu.nvidia.com/pool/gpu-0" }] },
              { name: "cpu", resources: [{ resourceID: "7" }] },
            ],
          },
        ],
      },
    }),
    asks: [
      { kind: "gpu", resource: "nvidia.com/gpu", count: 3 },
      { kind: "gpu", resource: "amd.com/gpu", count: 1 },
    ],
    evidence: [
      { by: "status", uuid: A, units: 2, isUnhealthy: true },
      { by: "status", gpuIndex: 0, instance: 3, units: 1 },
      { by: "status", pciBusId: "0000:0c:00.0", units: 1 },
    ],
    remarks: [/The id "strange" of its device has no known form/],
  },
  "devices in its status that HAMi has given others than": {
    pod: pod({
      limits: { "nvidia.com/gpu": 1, "nvidia.com/gpumem": 1000 },
      status: {
        containerStatuses: [
          { allocatedResourcesStatus: [{ name: "nvidia.com/gpu", resources: [{ resourceID: `${B}-3` }] }] },
        ],
      },
    }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 1000 }],
  },
  "a fraction of KAI's": {
    pod: annotated({ "gpu-fraction": "0.25", "received-resource-type": "Fraction" }, { "runai-gpu-group": "g-1" }),
    asks: [{ kind: "fraction", count: 1, ppm: 250_000 }],
    evidence: [{ by: "group", group: "g-1" }],
  },
  "memory on several GPUs of KAI's": {
    pod: annotated(
      { "gpu-memory": "4096", "gpu-fraction-num-devices": "2" },
      { "runai-gpu-group/g-1": "g-1", "runai-gpu-group/g-2": "g-2" },
    ),
    asks: [{ kind: "fraction", count: 2, memoryMiB: 4096 }],
    evidence: [
      { by: "group", group: "g-1" },
      { by: "group", group: "g-2" },
    ],
  },
  "a reservation pod, which holds nothing itself": {
    pod: pod({
      metadata: {
        namespace: "kai-resource-reservation",
        annotations: { "run.ai/reserve_for_gpu_index": A },
        labels: { "runai-gpu-group": "g-1" },
      },
      limits: { "nvidia.com/gpu": "1" },
    }),
    asks: [],
    evidence: [{ by: "reservation", group: "g-1", uuid: A }],
  },
  "DRA claims: named, made from a template, needless, not made yet": {
    pod: pod({
      spec: {
        resourceClaims: [
          { name: "a", resourceClaimName: "shared-gpu" },
          { name: "b", resourceClaimTemplateName: "one-gpu" },
          { name: "c", resourceClaimTemplateName: "none" },
          { name: "d", resourceClaimTemplateName: "later" },
          { name: "e", resourceClaimName: "shared-gpu" },
        ],
      },
      status: { resourceClaimStatuses: [{ name: "b", resourceClaimName: "train-0-b-x7k2p" }, { name: "c" }] },
    }),
    asks: [
      { kind: "claim", claim: "shared-gpu" },
      { kind: "claim", claim: "train-0-b-x7k2p" },
      { kind: "claim", claim: "" },
    ],
  },
  "a resource that DRA serves, counted once": {
    pod: pod({
      limits: { "nvidia.com/gpu": 1 },
      status: {
        extendedResourceClaimStatus: {
          resourceClaimName: "train-0-extended",
          requestMappings: [{ resourceName: "nvidia.com/gpu" }],
        },
      },
    }),
    asks: [{ kind: "claim", claim: "train-0-extended" }],
  },
  "a fraction beside a whole GPU: the whole one": {
    pod: pod({ limits: { "nvidia.com/gpu": 1 }, metadata: { annotations: { "gpu-fraction": "0.5" } } }),
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }],
    remarks: [/the resource is used/],
  },
  "a thousand, written with an exponent": {
    pod: pod({ limits: { "nvidia.com/gpu": "1e3" } }),
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1000 }],
  },
  "one good container beside one that makes no sense": {
    pod: pod({
      spec: { containers: [container({ "nvidia.com/gpu": "500m" }, "a"), container({ "nvidia.com/gpu": 1 }, "b")] },
    }),
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }],
    remarks: [/^nvidia\.com\/gpu of container a: "500m" is not a whole number; it is ignored\.$/],
  },
  "a wrong entry among HAMi's devices": {
    pod: pod({
      limits: { "nvidia.com/gpu": 1, "nvidia.com/gpumem": 1000 },
      metadata: { annotations: { "hami.io/vgpu-devices-allocated": `${A},NVIDIA,1000,0:GPU-abc-1:5000:50;` } },
    }),
    asks: [{ kind: "vgpu", scheduler: "hami", count: 1, memoryMiB: 1000 }],
    evidence: [{ by: "annotation", uuid: A, container: 0, memoryMiB: 1000, coresPercent: 0 }],
    remarks: [/3 entries are not devices, the first "GPU-abc-1"/],
  },
  "a reservation of no GPU": {
    pod: pod({
      metadata: {
        namespace: "runai-reservation",
        annotations: { "run.ai/reserve_for_gpu_index": "0" },
        labels: { "runai-gpu-group": "g-1" },
      },
    }),
    asks: [],
    evidence: [],
    remarks: [/"0" is not the UUID of a GPU/],
  },
  "a broken account of Run:ai's instance": {
    pod: annotated({ "nvidia.com/mig-1g.5gb": "1", "runai-mig-device": "{broken" }),
    asks: [{ kind: "mig", resource: "nvidia.com/mig-1g.5gb", profile: "1g.5gb", count: 1 }],
    evidence: [],
    remarks: [/runai-mig-device is not JSON/],
  },
};

describe("the requests of a pod", () => {
  it.each(Object.entries(TABLE))("are read: %s", (_, row) => {
    const projected = projectPod(row.pod, ALONE);
    expect(projected?.fact.asks).toEqual(row.asks);
    expect(projected?.fact.evidence).toEqual(row.evidence ?? []);
    expect(projected?.remarks.map(({ text }) => text)).toEqual(
      (row.remarks ?? []).map((form) => expect.stringMatching(form) as string),
    );
  });

  it.each<readonly [string, PodObject]>([
    ["asks for no GPU", pod({ limits: { cpu: "1", memory: "1Gi" } })],
    ["asks for 0 GPUs", pod({ limits: { "nvidia.com/gpu": 0 } })],
    ["asks for half a GPU by its limit", pod({ limits: { "nvidia.com/gpu": 0.5 } })],
    ["asks for a resource with a name similar to MIG's", pod({ limits: { "nvidia.com/mig-manager": 1 } })],
    ["asks for an invalid fraction", annotated({ "gpu-fraction": "all of it" })],
    [
      "carries a fraction that the default scheduler cannot give",
      pod({ metadata: { annotations: { "gpu-fraction": "0.5" } }, spec: { schedulerName: "default-scheduler" } }),
    ],
    ["is empty", {}],
    [
      "is garbage in every field",
      { metadata: "no", spec: { containers: "none", initContainers: [null, 7] }, status: [] } as unknown as PodObject,
    ],
  ])("are empty for a pod that %s", (_, object) => {
    expect(projectPod(object, ALONE)).toBeUndefined();
  });

  it("leave out claims that are known to be for other devices", () => {
    const claims = pod({
      spec: {
        resourceClaims: [
          { name: "nic", resourceClaimName: "nic" },
          { name: "gpu", resourceClaimName: "gpu" },
        ],
      },
    });
    const options = { ...ALONE, isForGpus: (_: string, claim: string) => claim === "gpu" };
    expect(projectPod(claims, options)?.fact.asks).toEqual([{ kind: "claim", claim: "gpu" }]);
  });

  it("take HAMi's names from the configuration, once, also if they are among the whole GPUs", () => {
    const resourceNames = resourceNamesOf(
      { "acme.io/slice": "nvidia", "nvidia.com/vgpu": "nvidia" },
      { resourceName: "acme.io/slice", resourceMem: "acme.io/mib" },
    );
    const options = { ...ALONE, resourceNames };
    expect(projectPod(pod({ limits: { "acme.io/slice": 2, "acme.io/mib": 500 } }), options)?.fact.asks).toEqual([
      { kind: "vgpu", scheduler: "hami", count: 2, memoryMiB: 500 },
    ]);
    expect(projectPod(pod({ limits: { "nvidia.com/vgpu": 1 } }), options)?.fact.asks).toEqual([
      { kind: "vgpu", scheduler: "hami", count: 1, memoryPercent: 100 },
    ]);
  });

  it.each([
    ["nvidia.com/gpu-v100", /no resource of this name is known/],
    ["amd.com/gpu_new", /no resource of this name is known/],
    ["aliyun.com/gpu-mem", /no resource of this name is known/],
    ["google.com/tpu", /exporters of TPUs are not supported/],
    ["nvidia.com/TU104GL_Tesla_T4", /KubeVirt gives the device to a virtual machine/],
  ])("are empty for %s, with a remark", (name, why) => {
    const asking = pod({ limits: { [name]: 1 } });
    expect(projectPod(asking, ALONE)).toBeUndefined();
    expect(unmeteredOf(asking, undefined)).toEqual([
      { reason: "unmetered", text: expect.stringMatching(why) as string },
    ]);
  });

  it.each(["nvidia.com/hostdev", "gpu.intel.com/i915_monitoring", "nvidia.com/priority", "cpu", "example.com/fpga"])(
    "are empty for %s, without a remark",
    (name) => expect(unmeteredOf(pod({ limits: { [name]: 1 } }), undefined)).toEqual([]),
  );

  it.each([
    ["hami.io/dcu-devices-allocated", true],
    ["example.com/gpu-memory.limit", true],
    ["scheduler.example.com/vgpu-cores", true],
    ["gpu-fraction", false],
    ["hami.io/amd-devices-allocated", false],
    ["nvidia.com/container.main.gpu-memory.request", false],
    ["example.com/gpu-team", false],
  ])("are empty for the annotation %s, with a remark if it may be a share that is not read: %s", (name, isRemark) => {
    const plain = pod({});
    const asking = { ...plain, metadata: { ...plain.metadata, annotations: { [name]: "1" } } };
    expect(unmeteredOf(asking, undefined).map(({ text }) => text.includes(name))).toEqual(isRemark ? [true] : []);
  });

  it("count configured additional resources as whole GPUs", () => {
    const options = { ...ALONE, resourceNames: resourceNamesOf({ "example.com/gpu": "amd" }) };
    expect(projectPod(pod({ limits: { "example.com/gpu": 2 } }), options)?.fact.asks).toEqual([
      { kind: "gpu", resource: "example.com/gpu", count: 2 },
    ]);
  });

  it("add up over five hundred containers", () => {
    const containers = Array.from({ length: 500 }, (_, index) => container({ "nvidia.com/gpu": 1 }, `c-${index}`));
    expect(projectPod(pod({ spec: { containers } }), ALONE)?.fact.asks).toEqual([
      { kind: "gpu", resource: "nvidia.com/gpu", count: 500 },
    ]);
  });
});
