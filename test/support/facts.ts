import type { ClusterFact } from "../../domain/cluster-fact.ts";
import type { InventoryFact } from "../../domain/inventory.ts";
import type { WorkloadFact } from "../../domain/workload.ts";

/** Noon of a day in March 2026, milliseconds since the epoch. */
export const NOON = Date.UTC(2026, 2, 1, 12);

/** A running pod that holds one GPU; the given fields replace the defaults. */
export function workloadFact(given: Partial<WorkloadFact> = {}): WorkloadFact {
  return {
    cluster: "test",
    epoch: 1,
    resourceVersion: "100",
    seenAtMillis: NOON,
    uid: "pod-1",
    namespace: "ml",
    name: "train-0",
    node: "gpu-a",
    owners: [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: "job-1" }],
    ownersTruncated: false,
    workload: { kind: "Job", name: "train" },
    type: "training",
    phase: "Running",
    times: { created: NOON - 60_000, scheduled: NOON - 50_000, started: NOON - 30_000 },
    restarts: 0,
    asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }],
    evidence: [],
    labels: { team: "vision" },
    annotations: {},
    nodeSelector: {},
    tolerations: [],
    ...given,
  };
}

/** A ready node of eight GPUs. */
export function inventoryFact(given: Partial<InventoryFact> = {}): InventoryFact {
  return {
    cluster: "test",
    epoch: 1,
    resourceVersion: "100",
    seenAtMillis: NOON,
    node: "gpu-a",
    uid: "node-1",
    joined: NOON - 3_600_000,
    gpus: [
      {
        vendor: "nvidia",
        model: "NVIDIA-H100-80GB-HBM3",
        count: 8,
        memoryMiB: 81_559,
        replicas: 1,
        sharing: "none",
        mig: { strategy: "none", profiles: {} },
      },
    ],
    capacity: { "nvidia.com/gpu": 8 },
    allocatable: { "nvidia.com/gpu": 8 },
    instanceType: "p5.48xlarge",
    region: "eu-west-1",
    zone: "eu-west-1a",
    pool: "h100",
    capacityType: "on-demand",
    taints: [],
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", since: NOON - 3_500_000 }],
    labels: {},
    ...given,
  };
}

/** A namespace of a team. */
export function namespaceFact(given: Partial<Extract<ClusterFact, { kind: "Namespace" }>> = {}): ClusterFact {
  return {
    cluster: "test",
    epoch: 1,
    resourceVersion: "100",
    seenAtMillis: NOON,
    kind: "Namespace",
    resource: "namespaces",
    namespace: "",
    name: "ml",
    uid: "namespace-1",
    body: { labels: { team: "vision" }, annotations: {} },
    ...given,
  };
}
