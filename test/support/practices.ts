import type { ClusterFact, ClusterFactBodies } from "../../domain/cluster-fact.ts";
import { amountOf, type GpuHours, type Money } from "../../domain/exact/units.ts";
import type { InventoryFact, NodeGpus } from "../../domain/inventory.ts";
import type { PracticeFacts, Spend } from "../../domain/practice/facts.ts";
import { gatherPractices, type PracticeRecords } from "../../domain/practice/gather.ts";
import { EXEMPT_MARK } from "../../domain/practice/exempt.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { inventoryFact, namespaceFact, NOON, workloadFact } from "./facts.ts";
import { ownerRules } from "./owner-rules.ts";

/** The days of test practices. */
export const DAYS = 7;
const WEEK_MILLIS = DAYS * 86_400_000;

/** Charges in decimal texts: the cost, and other parts if a check reads them. */
export function spend(cost: string, others: Partial<Record<keyof Spend, string>> = {}): Spend {
  const money = (text = "0"): Money => amountOf<"currency">(text);
  const hours = (text = "0"): GpuHours => amountOf<"gpu-hour">(text);
  return {
    cost: money(cost),
    idle: money(others.idle),
    waiting: money(others.waiting),
    unallocated: money(others.unallocated),
    stranded: money(others.stranded),
    gpuHours: hours(others.gpuHours),
    heldGpuHours: hours(others.heldGpuHours),
    unallocatedGpuHours: hours(others.unallocatedGpuHours),
  };
}

/** A pod of its own UID, that follows every practice; the given fields replace the defaults. */
export function goodPod(name: string, given: Parameters<typeof workloadFact>[0] = {}): ReturnType<typeof workloadFact> {
  return workloadFact({
    uid: name,
    name,
    priorityClass: "batch",
    tolerations: ["nvidia.com/gpu"],
    compute: {
      cpuRequestMillicores: 8_000,
      memoryRequestBytes: 68_719_476_736,
      memoryLimitBytes: 68_719_476_736,
    },
    unpinnedImages: [],
    checkpoints: "argument",
    disruptionBudgets: ["budget"],
    ...given,
  });
}

/** A pod that succeeded some minutes after it was bound, with a limit of time. Its Job is its own. */
export function endedPod(
  name: string,
  minutes: number,
  deadlineSeconds: number,
  given: Parameters<typeof workloadFact>[0] = {},
): WorkloadFact {
  const scheduled = NOON - 86_400_000;
  return goodPod(name, {
    phase: "Succeeded",
    owners: [{ apiVersion: "batch/v1", kind: "Job", name: "train", uid: `job-of-${name}` }],
    times: { created: scheduled, scheduled, started: scheduled + 30_000, finished: scheduled + minutes * 60_000 },
    deadlineSeconds,
    ...given,
  });
}

/** A GPU node that follows every practice, and that was there the whole week. */
export function goodNode(node: string, given: Partial<InventoryFact> = {}): InventoryFact {
  return inventoryFact({
    node,
    uid: node,
    joined: NOON - 2 * WEEK_MILLIS,
    taints: [{ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" }],
    driverVersion: "580.95.05",
    cudaVersion: "13.0",
    devicePluginVersion: "v0.17.1",
    exporterVersion: "4.8.2",
    compute: { cpuMillicores: 96_000, memoryBytes: 1_099_511_627_776 },
    ...given,
  });
}

/** The GPUs of a good node with other fields. */
export function gpusWith(given: Partial<NodeGpus>): readonly NodeGpus[] {
  return [{ ...inventoryFact().gpus[0]!, ...given }];
}

/** A fact of another object of the cluster. */
export function clusterFact<Kind extends keyof ClusterFactBodies>(
  kind: Kind,
  name: string,
  body: ClusterFactBodies[Kind],
  namespace = "",
): ClusterFact {
  const { cluster, epoch, resourceVersion, seenAtMillis } = namespaceFact();
  const origin = { cluster, epoch, resourceVersion, seenAtMillis };
  return { ...origin, kind, resource: kind, namespace, name, uid: `${kind}/${namespace}/${name}`, body } as ClusterFact;
}

/** The objects of a cluster that follows every practice: a namespace with a quota and a limit range, and two priorities. */
export const GOOD_CLUSTER: readonly ClusterFact[] = [
  namespaceFact(),
  clusterFact("ResourceQuota", "gpus", { hard: { "nvidia.com/gpu": 8 }, used: {} }, "ml"),
  clusterFact("LimitRange", "defaults", { defaults: {}, max: {} }, "ml"),
  clusterFact("PriorityClass", "batch", { value: 1_000, preempts: false }),
  clusterFact("PriorityClass", "production", { value: 100_000, preempts: true }),
];

/** A fleet that follows every practice: the training, the inference and the notebook of a team on two nodes. */
export const GOOD_FLEET: PracticeRecords = {
  now: NOON,
  days: DAYS,
  migMeasure: "max",
  pods: [
    goodPod("train-0"),
    goodPod("train-1"),
    ...["chat-0", "chat-1"].map((name) =>
      goodPod(name, {
        workload: { kind: "Deployment", name: "chat" },
        type: "inference",
        node: "gpu-b",
        priorityClass: "production",
      }),
    ),
    goodPod("ada-0", {
      workload: { kind: "Notebook", name: "ada" },
      type: "notebook",
      node: "gpu-b",
      asks: [{ kind: "mig", resource: "nvidia.com/mig-1g.10gb", profile: "1g.10gb", count: 1 }],
    }),
  ],
  limited: [],
  nodes: [goodNode("gpu-a"), goodNode("gpu-b")],
  cluster: GOOD_CLUSTER,
  grantUses: [],
  workloadSpends: [
    { cluster: "test", namespace: "ml", kind: "Job", name: "train", ...spend("100") },
    { cluster: "test", namespace: "ml", kind: "Deployment", name: "chat", ...spend("60") },
    { cluster: "test", namespace: "ml", kind: "Notebook", name: "ada", ...spend("5.5", { idle: "2.25" }) },
  ],
  nodeSpends: ["gpu-a", "gpu-b"].map((node) => ({
    cluster: "test",
    node,
    ...spend("80", { gpuHours: "1344", heldGpuHours: "1200", unallocatedGpuHours: "144", unallocated: "8" }),
  })),
  telemetry: ["gpu-a", "gpu-b"].map((node) => ({ cluster: "test", node, hasSamples: true, hasProfiling: true })),
};

/** Returns the facts that checks read of some records. */
export function practicesOf(records: Partial<PracticeRecords> = {}): PracticeFacts {
  return gatherPractices({ ...GOOD_FLEET, ...records }, ownerRules({ team: [{ namespaceLabel: "team" }] }));
}

/** Returns the same records with an exemption on each pod, node and namespace. */
export function exempted(records: Partial<PracticeRecords>, value: string): Partial<PracticeRecords> {
  const { pods, limited, nodes, cluster } = { ...GOOD_FLEET, ...records };
  const mark = { [EXEMPT_MARK]: value };
  const marked = (pod: WorkloadFact): WorkloadFact => ({ ...pod, annotations: { ...pod.annotations, ...mark } });
  return {
    ...records,
    pods: pods.map(marked),
    limited: limited.map(({ newest, ended }) => ({ newest: marked(newest), ended })),
    nodes: nodes.map((node) => ({ ...node, labels: { ...node.labels, ...mark } })),
    cluster: cluster.map((fact) =>
      fact.kind === "Namespace" ? { ...fact, body: { ...fact.body, labels: { ...fact.body.labels, ...mark } } } : fact,
    ),
  };
}
