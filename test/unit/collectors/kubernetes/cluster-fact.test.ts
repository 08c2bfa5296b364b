import { describe, expect, it } from "vitest";
import { hasClusterFact, projectClusterObject } from "../../../../collectors/kubernetes/projection/cluster-fact.ts";
import type { KubeObject } from "../../../../collectors/kubernetes/projection/kube-object.ts";
import { CREATED } from "../../../support/kube-objects.ts";

const since = Date.parse(CREATED);
const object = (apiVersion: string, kind: string, rest: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: "it", namespace: "research", uid: "u-1", creationTimestamp: CREATED },
  ...rest,
});
const gpu = (amount: number): object => ({ "nvidia.com/gpu": amount });
const uuid = "GPU-da96f367-6e47-8dc4-fd29-4f0b97b9f174";
const attributes = { type: { string: "gpu" }, uuid: { string: uuid }, productName: { string: "Tesla T4" } };
const allocation = {
  allocationTimestamp: CREATED,
  devices: {
    results: [
      { request: "gpu", driver: "gpu.nvidia.com", pool: "node-1", device: "gpu-0", shareID: "s-1" },
      { request: "watch", driver: "gpu.nvidia.com", pool: "node-1", device: "gpu-1", adminAccess: true },
    ],
  },
};
const claimStatus = {
  allocation,
  reservedFor: [
    { resource: "pods", name: "p", uid: "p-1" },
    { resource: "other", uid: "o-1" },
  ],
};
const claimBody = {
  devices: [{ driver: "gpu.nvidia.com", pool: "node-1", device: "gpu-0", share: "s-1" }],
  reservedFor: ["p-1"],
  allocated: since,
};
const slice = (devices: readonly object[], driver = "gpu.nvidia.com"): object => ({
  spec: { driver, nodeName: "node-1", pool: { name: "node-1" }, devices },
});

const TABLE: readonly (readonly [string, KubeObject, string, object])[] = [
  [
    "a Namespace, without kubectl's copy of it",
    object("v1", "Namespace", {
      metadata: {
        name: "research",
        labels: { team: "vision" },
        annotations: { cc: "42", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
      },
    }),
    "Namespace",
    { labels: { team: "vision" }, annotations: { cc: "42" } },
  ],
  [
    "a ResourceQuota",
    object("v1", "ResourceQuota", {
      spec: { hard: { "requests.nvidia.com/gpu": "99" } },
      status: {
        hard: { "requests.nvidia.com/gpu": "16", cpu: "10", "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "4" },
        used: { "requests.nvidia.com/gpu": "12" },
      },
    }),
    "ResourceQuota",
    { hard: { "nvidia.com/gpu": 16, "gpu.nvidia.com.deviceclass.resource.k8s.io/devices": 4 }, used: gpu(12) },
  ],
  [
    "a LimitRange",
    object("v1", "LimitRange", {
      spec: { limits: [{ type: "Pod" }, { type: "Container", default: gpu(1), max: gpu(4) }] },
    }),
    "LimitRange",
    { defaults: gpu(1), max: gpu(4) },
  ],
  [
    "a PriorityClass",
    object("scheduling.k8s.io/v1", "PriorityClass", { value: 1000 }),
    "PriorityClass",
    { value: 1000, preempts: true },
  ],
  [
    "a PriorityClass that never preempts",
    object("scheduling.k8s.io/v1", "PriorityClass", { value: -1, preemptionPolicy: "Never" }),
    "PriorityClass",
    { value: -1, preempts: false },
  ],
  [
    "a ClusterQueue of several flavors",
    object("kueue.x-k8s.io/v1beta1", "ClusterQueue", {
      spec: {
        cohort: "all",
        resourceGroups: [
          {
            flavors: [
              {
                name: "h100",
                resources: [
                  { name: "nvidia.com/gpu", nominalQuota: "8" },
                  { name: "cpu", nominalQuota: 1 },
                ],
              },
              { name: "t4", resources: [{ name: "nvidia.com/gpu", nominalQuota: 4 }] },
            ],
          },
        ],
      },
      status: {
        pendingWorkloads: 3,
        flavorsUsage: [{ name: "h100", resources: [{ name: "nvidia.com/gpu", total: "10", borrowed: "2" }] }],
      },
    }),
    "Queue",
    { scheduler: "kueue", parent: "all", quota: gpu(12), admitted: gpu(10), borrowed: gpu(2), pending: 3 },
  ],
  [
    "a LocalQueue",
    object("kueue.x-k8s.io/v1beta2", "LocalQueue", {
      spec: { clusterQueue: "research" },
      status: { pendingWorkloads: 1 },
    }),
    "Queue",
    { scheduler: "kueue", parent: "research", quota: {}, admitted: {}, borrowed: {}, pending: 1 },
  ],
  [
    "a Workload that was admitted",
    object("kueue.x-k8s.io/v1beta1", "Workload", {
      spec: { queueName: "red", podSets: [{ count: 1 }, { count: 7 }] },
      status: {
        conditions: [
          { type: "QuotaReserved", status: "True" },
          { type: "Admitted", status: "True", lastTransitionTime: CREATED },
        ],
      },
    }),
    "Gang",
    { made: "Workload", size: 8, queue: "red", queued: since, admitted: since, phase: "Admitted" },
  ],
  [
    "a Workload that waits",
    object("kueue.x-k8s.io/v1beta1", "Workload", {
      spec: { podSets: [{ count: 2 }] },
      status: { conditions: [{ type: "Admitted", status: "False" }] },
    }),
    "Gang",
    { made: "Workload", size: 2, queued: since, phase: "Pending" },
  ],
  [
    "a Queue of Volcano",
    object("scheduling.volcano.sh/v1beta1", "Queue", {
      spec: { parent: "root", capability: gpu(8), deserved: gpu(4) },
      status: { allocated: gpu(6), pending: 2 },
    }),
    "Queue",
    { scheduler: "volcano", parent: "root", quota: gpu(4), admitted: gpu(6), borrowed: gpu(2), pending: 2 },
  ],
  [
    "a PodGroup of Volcano",
    object("scheduling.volcano.sh/v1beta1", "PodGroup", {
      spec: { minMember: 4, queue: "red" },
      status: { phase: "Running", conditions: [{ type: "Scheduled", status: "True", lastTransitionTime: CREATED }] },
    }),
    "Gang",
    { made: "PodGroup", size: 4, queue: "red", queued: since, admitted: since, phase: "Running" },
  ],
  [
    "a PodGroup of kube-scheduler",
    object("scheduling.k8s.io/v1beta1", "PodGroup", {
      spec: { schedulingPolicy: { gang: { minCount: 4 } } },
      status: { conditions: [{ type: "PodGroupInitiallyScheduled", status: "True", lastTransitionTime: CREATED }] },
    }),
    "Gang",
    { made: "PodGroup", size: 4, queued: since, admitted: since, phase: "Running" },
  ],
  [
    "a PodGroup of kube-scheduler that is no gang",
    object("scheduling.k8s.io/v1alpha2", "PodGroup", { spec: { schedulingPolicy: { basic: {} } } }),
    "Gang",
    { made: "PodGroup", size: 0, queued: since, phase: "Pending" },
  ],
  [
    "a Workload of Kubernetes 1.35 with one group",
    object("scheduling.k8s.io/v1alpha1", "Workload", { spec: { podGroups: [{ policy: { gang: { minCount: 3 } } }] } }),
    "Gang",
    { made: "Workload", size: 3, queued: since, phase: "" },
  ],
  [
    "a Workload of Kubernetes 1.35 with two groups, each a gang of its own",
    object("scheduling.k8s.io/v1alpha1", "Workload", {
      spec: { podGroups: [{ policy: { gang: { minCount: 3 } } }, { policy: { gang: { minCount: 1 } } }] },
    }),
    "Gang",
    { made: "Workload", size: 0, queued: since, phase: "" },
  ],
  [
    "a PodGang of Grove",
    object("scheduler.grove.io/v1alpha1", "PodGang", {
      spec: { podgroups: [{ minReplicas: 2 }, { minReplicas: 1 }] },
      status: { phase: "Running", conditions: [{ type: "Scheduled", status: "True", lastTransitionTime: CREATED }] },
    }),
    "Gang",
    { made: "PodGang", size: 3, queued: since, admitted: since, phase: "Running" },
  ],
  [
    "a DeviceTaintRule",
    object("resource.k8s.io/v1beta2", "DeviceTaintRule", {
      spec: {
        deviceSelector: { pool: "a" },
        taint: { key: "example.com/bad", effect: "NoExecute", timeAdded: CREATED },
      },
    }),
    "DeviceTaintRule",
    { pool: "a", taint: { key: "example.com/bad", since } },
  ],
  [
    "a Queue of KAI with fractions",
    object("scheduling.run.ai/v2", "Queue", {
      spec: { parentQueue: "default", resources: { gpu: { quota: 1.5, limit: -1 } } },
      status: { allocated: { "nvidia.com/gpu": "2500m" } },
    }),
    "Queue",
    { scheduler: "kai", parent: "default", quota: gpu(1.5), admitted: gpu(2.5), borrowed: gpu(1), pending: 0 },
  ],
  [
    "a Queue of KAI without a limit",
    object("scheduling.run.ai/v2", "Queue", { spec: { resources: { gpu: { quota: -1 } } } }),
    "Queue",
    { scheduler: "kai", quota: {}, admitted: {}, borrowed: {}, pending: 0 },
  ],
  [
    "a PodGroup of KAI",
    object("scheduling.run.ai/v2alpha2", "PodGroup", { spec: { minMember: 2, queue: "red" } }),
    "Gang",
    { made: "PodGroup", size: 2, queue: "red", queued: since, phase: "Pending" },
  ],
  [
    "a JobSet",
    object("jobset.x-k8s.io/v1alpha2", "JobSet", {
      metadata: { name: "it", namespace: "research", uid: "u-1", labels: { "kueue.x-k8s.io/queue-name": "red" } },
      spec: {
        suspend: true,
        replicatedJobs: [{ replicas: 1 }, { replicas: 3, template: { spec: { parallelism: 2 } } }],
      },
    }),
    "Gang",
    { made: "JobSet", size: 7, queue: "red", phase: "Suspended" },
  ],
  [
    "a LeaderWorkerSet",
    object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {
      spec: { replicas: 2, leaderWorkerTemplate: { size: 4 } },
      status: { conditions: [{ type: "Available", status: "True" }] },
    }),
    "Gang",
    { made: "LeaderWorkerSet", size: 4, queued: since, phase: "Available" },
  ],
  [
    "the progress of a TrainJob",
    object("trainer.kubeflow.org/v1alpha1", "TrainJob", {
      status: { trainerStatus: { progressPercentage: 45, estimatedRemainingSeconds: 900, lastUpdatedTime: CREATED } },
    }),
    "TrainJob",
    { progress: 45, since },
  ],
  [
    "a ResourceClaim",
    object("resource.k8s.io/v1", "ResourceClaim", { status: claimStatus }),
    "ResourceClaim",
    claimBody,
  ],
  [
    "a ResourceClaim of v1beta1",
    object("resource.k8s.io/v1beta1", "ResourceClaim", { status: claimStatus }),
    "ResourceClaim",
    claimBody,
  ],
  [
    "a ResourceClaim of v1beta2",
    object("resource.k8s.io/v1beta2", "ResourceClaim", { status: claimStatus }),
    "ResourceClaim",
    claimBody,
  ],
  [
    "a ResourceClaim that waits",
    object("resource.k8s.io/v1", "ResourceClaim"),
    "ResourceClaim",
    { devices: [], reservedFor: [] },
  ],
  [
    "a ResourceSlice with a MIG device",
    object(
      "resource.k8s.io/v1",
      "ResourceSlice",
      slice([
        { name: "gpu-0", attributes },
        {
          name: "gpu-0-mig-1g",
          attributes: {
            type: { string: "mig" },
            uuid: { string: "MIG-1" },
            parentUUID: { string: uuid },
            profile: { string: "1g.10gb" },
          },
        },
      ]),
    ),
    "ResourceSlice",
    {
      driver: "gpu.nvidia.com",
      pool: "node-1",
      node: "node-1",
      devices: [
        { name: "gpu-0", uuid, model: "Tesla T4" },
        { name: "gpu-0-mig-1g", uuid: "MIG-1", parentUuid: uuid, profile: "1g.10gb" },
      ],
    },
  ],
  [
    "a ResourceSlice of v1beta1, which nests its devices, with names in the driver's domain",
    object(
      "resource.k8s.io/v1beta1",
      "ResourceSlice",
      slice([
        {
          name: "gpu-0",
          basic: {
            attributes: {
              "gpu.nvidia.com/type": { string: "gpu" },
              "gpu.nvidia.com/uuid": { string: uuid },
              "resource.kubernetes.io/pciBusID": { string: "0000:00:04.0" },
            },
          },
        },
      ]),
    ),
    "ResourceSlice",
    {
      driver: "gpu.nvidia.com",
      pool: "node-1",
      node: "node-1",
      devices: [{ name: "gpu-0", uuid, pciBusId: "0000:00:04.0" }],
    },
  ],
];

describe("a cluster fact", () => {
  it.each(TABLE)("is made of %s", (_, from, kind, body) => {
    const projected = projectClusterObject(from);
    expect(projected?.fact.kind).toBe(kind);
    expect(projected?.fact.body).toEqual(body);
    expect(hasClusterFact(from.apiVersion!, from.kind!)).toBe(true);
  });

  it("has its namespace, name and UID", () => {
    expect(projectClusterObject(object("v1", "ResourceQuota"))?.fact).toMatchObject({
      namespace: "research",
      name: "it",
      uid: "u-1",
    });
  });

  it("has a remark about an invalid quantity, and keeps the others", () => {
    const quota = object("v1", "ResourceQuota", {
      status: { hard: { "requests.nvidia.com/gpu": "lots", "requests.amd.com/gpu": 2 } },
    });
    const { fact, remarks } = projectClusterObject(quota)!;
    expect(fact.body).toEqual({ hard: { "amd.com/gpu": 2 }, used: {} });
    expect(remarks).toEqual([
      { reason: "quantity", text: 'hard: requests.nvidia.com/gpu: "lots" is not a quantity; it is left out.' },
    ]);
  });

  it("marks a device with admin access as held by others", () => {
    const { remarks } = projectClusterObject(object("resource.k8s.io/v1", "ResourceClaim", { status: claimStatus }))!;
    expect(remarks.map(({ reason }) => reason)).toEqual(["left-out"]);
  });

  it("is not made of a slice of network cards, of an object with the same kind in another group, or of other kinds", () => {
    const nics = slice([{ name: "nic-0", attributes: { type: { string: "rdma" } } }], "dra.net");
    expect(projectClusterObject(object("resource.k8s.io/v1", "ResourceSlice", nics))).toBeUndefined();
    expect(projectClusterObject(object("example.com/v1", "Queue"))).toBeUndefined();
    expect(projectClusterObject(object("v1", "ConfigMap"))).toBeUndefined();
    const taint = { key: "k", effect: "NoSchedule" };
    for (const spec of [{ taint }, { deviceSelector: {}, taint: { key: "k", effect: "None" } }, { deviceSelector: {} }])
      expect(projectClusterObject(object("resource.k8s.io/v1", "DeviceTaintRule", { spec }))).toBeUndefined();
    expect(projectClusterObject({})).toBeUndefined();
  });

  it.each(TABLE)("has no exception for garbage in the place of its fields: %s", (_, { apiVersion, kind }) => {
    for (const garbage of ["text", 7, null, [null, 3], { a: [] }]) {
      const from = { apiVersion, kind, metadata: garbage, spec: garbage, status: garbage } as unknown as KubeObject;
      expect(() => projectClusterObject(from)).not.toThrow();
    }
  });
});
