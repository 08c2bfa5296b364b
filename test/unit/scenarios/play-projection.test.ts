import { expect, it } from "vitest";
import { projectNode } from "../../../collectors/kubernetes/projection/node.ts";
import { projectPod } from "../../../collectors/kubernetes/projection/pod.ts";
import { ALONE, container, node as kubeNode, pod as kubePod } from "../../support/kube-objects.ts";
import { decodedFacts, minute, scenarioWith } from "../../support/played.ts";

const NODE = { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 2, from: minute(0) };
const POD = { name: "p-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0] };
const LIFE = { created: minute(0), scheduled: minute(1), started: minute(2), finished: null };
const GPU = /GPU-[0-9a-f-]{36}/;

/** The last fact of an object without the fields that the watcher adds to the projection. */
function bodyOf<Of extends "workload" | "inventory">(of: Of, given: Readonly<Record<string, unknown>>, name: string) {
  const facts = decodedFacts(scenarioWith({ nodes: [NODE], ...given })).flatMap((played) => {
    if (played.of !== of) return [];
    const {
      cluster: _,
      epoch: __,
      resourceVersion: ___,
      seenAtMillis: ____,
      end: _____,
      ...body
    } = played.fact as {
      cluster: string;
      epoch: number;
      resourceVersion: string;
      seenAtMillis: number;
      end?: object;
      uid: string;
      name?: string;
      node: string;
    };
    return (body.name ?? body.node) === name ? [body] : [];
  });
  return facts.at(-1)!;
}

/** A pod of the API that has run since minute 2. */
function running(uid: string, parts: Parameters<typeof kubePod>[0]) {
  return kubePod({
    ...parts,
    metadata: { name: "p-0", namespace: "vision", uid, creationTimestamp: minute(0), ...parts.metadata },
    spec: { nodeName: "gpu-a", containers: [container(parts.limits ?? {})], ...parts.spec },
    status: {
      conditions: [
        { type: "PodScheduled", status: "True", lastTransitionTime: minute(1) },
        { type: "Ready", status: "True", lastTransitionTime: minute(2) },
      ],
      containerStatuses: [{ state: { running: { startedAt: minute(2) } }, restartCount: 0 }],
    },
  });
}

it.each([
  ["has whole GPUs", {}, () => ({ limits: { "nvidia.com/gpu": "1" } })],
  [
    "belongs to a Job with a team, in a queue with a class",
    {
      labels: { team: "vision" },
      workload: { kind: "Job", name: "train" },
      queue: "research",
      priorityClass: "batch",
      gang: { group: "g", size: 1 },
    },
    (body: { readonly owners?: readonly { readonly uid: string }[] }) => ({
      limits: { "nvidia.com/gpu": "1" },
      metadata: {
        labels: { team: "vision", "kai.scheduler/queue": "research" },
        annotations: { "pod-group-name": "g" },
        ownerReferences: [
          { apiVersion: "batch/v1", kind: "Job", name: "train", uid: body.owners![0]!.uid, controller: true },
        ],
      },
      spec: { priorityClassName: "batch" },
    }),
  ],
  [
    "has a MIG instance",
    { holds: { mig: "1g.5gb" }, devices: [{ gpu: 0, instance: 0 }] },
    () => ({ limits: { "nvidia.com/mig-1g.5gb": "1" } }),
  ],
  [
    "has a HAMi share in an annotation of HAMi",
    { holds: { hami: { memoryMiB: 8192, cores: 30 } }, evidence: "annotation" },
    (body: object) => ({
      limits: { "nvidia.com/gpu": "1", "nvidia.com/gpumem": "8192", "nvidia.com/gpucores": "30" },
      metadata: {
        annotations: { "hami.io/vgpu-devices-allocated": `${GPU.exec(JSON.stringify(body))![0]},NVIDIA,8192,30:;` },
      },
    }),
  ],
  [
    "shares a GPU by KAI",
    { holds: { fraction: 0.25 }, group: "g" },
    () => ({ metadata: { annotations: { "gpu-fraction": "0.25" }, labels: { "runai-gpu-group": "g-gpu-0" } } }),
  ],
  [
    "has a DRA claim",
    { evidence: "dra" },
    () => ({ spec: { resourceClaims: [{ name: "gpu", resourceClaimName: "p-0-devices" }] } }),
  ],
])("a watcher would send the same fact for a pod that %s", (_, given, partsOf) => {
  const cut = "holds" in given && "mig" in given.holds ? { mig: { 0: ["1g.5gb"] } } : {};
  const nodes = [{ ...NODE, ...cut }];
  const body = bodyOf("workload", { nodes, pods: [{ ...POD, ...LIFE, ...given }] }, "p-0");
  const options = {
    ...ALONE,
    labels: ["team"],
    gangFacts: () => ({ size: 1 }),
    lookup: () => ({}),
  };
  const { fact } = projectPod(running(body.uid, partsOf(body as never)), options)!;
  // Scenarios are about bills. They have nothing that only practices read.
  const ofPractices = new Set(["compute", "unpinnedImages", "checkpoints"]);
  expect(body).toEqual(Object.fromEntries(Object.entries(fact).filter(([field]) => !ofPractices.has(field))));
});

it.each([
  ["has whole GPUs", {}, {}, { "nvidia.com/gpu": "2" }],
  [
    "slices time",
    { sharing: { strategy: "time-slicing", replicas: 4 } },
    { "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing" },
    { "nvidia.com/gpu": "8" },
  ],
  [
    "is partitioned by MIG and has its location",
    { mig: { 0: ["1g.5gb", "2g.10gb"] }, region: "eu-1", pool: "big", instanceType: "p4d", capacityType: "spot" },
    {
      "nvidia.com/mig.strategy": "mixed",
      "topology.kubernetes.io/region": "eu-1",
      "karpenter.sh/nodepool": "big",
      "node.kubernetes.io/instance-type": "p4d",
      "karpenter.sh/capacity-type": "spot",
    },
    { "nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "1", "nvidia.com/mig-2g.10gb": "1" },
  ],
])("a watcher would send the same fact for a node that %s", (_, given, labels, capacity) => {
  const body = bodyOf("inventory", { nodes: [{ ...NODE, ...given }] }, "gpu-a");
  const gfd = { "nvidia.com/gpu.product": NODE.model, "nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "40960" };
  const object = kubeNode({}, capacity, {
    metadata: {
      name: "gpu-a",
      uid: body.uid,
      creationTimestamp: minute(0),
      labels: { "karpenter.sh/capacity-type": "on-demand", ...gfd, ...labels },
    },
  });
  const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady", lastTransitionTime: minute(0) }];
  const expected = projectNode({ ...object, status: { ...object.status, conditions } })!.fact;
  // The scenario does not have the clouds' labels that repeat Kubernetes' own fields.
  expect({ ...body, labels: {} }).toEqual({ ...expected, labels: {} });
});
