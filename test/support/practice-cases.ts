import type { ClusterFactBodies } from "../../domain/cluster-fact.ts";
import type { PracticeRecords } from "../../domain/practice/gather.ts";
import type { WorkloadFact } from "../../domain/workload.ts";
import { NOON } from "./facts.ts";
import { clusterFact, goodNode, goodPod, GOOD_CLUSTER, GOOD_FLEET, gpusWith, spend } from "./practices.ts";

/** A fleet in which a check finds something: its records, the objects, the money at stake, and the beginning of the first fix. */
export interface Case {
  readonly name: string;
  readonly records: Partial<PracticeRecords>;
  readonly objects: readonly string[];
  /** Absent for a check of which the charges show none. */
  readonly atStake?: string;
  readonly fix: string;
  /** The team of the finding; absent for findings of the whole cluster. */
  readonly team?: string;
  /** A fleet that is nearly the same, in which the check finds nothing. */
  readonly near: Partial<PracticeRecords>;
}

/** Returns a fact without one of its optional fields, as an earlier release sends it. */
function lacking<Fact extends object>(fact: Fact, field: keyof Fact): Fact {
  return Object.fromEntries(Object.entries(fact).filter(([name]) => name !== field)) as Fact;
}

const GPUS_8 = { "nvidia.com/gpu": 8 };

/** Two queues of one cohort, beside the other objects. */
function queues(
  research: Partial<ClusterFactBodies["Queue"]>,
  production: Partial<ClusterFactBodies["Queue"]> = {},
): Partial<PracticeRecords> {
  const body = { scheduler: "kueue", parent: "all", quota: {}, admitted: {}, borrowed: {}, pending: 0 } as const;
  return {
    cluster: [
      ...GOOD_CLUSTER,
      clusterFact("Queue", "research", { ...body, ...research }),
      clusterFact("Queue", "production", { ...body, ...production }),
    ],
  };
}

/** The most GPUs of a quota or a queue that were in use at once. */
const used = (uid: string, most: number): Partial<PracticeRecords> => ({
  grantUses: [{ cluster: "test", uid, resource: "nvidia.com/gpu", most }],
});

/** The good fleet, with other fields in the pods of one of its workloads. */
export const pods = (of: string, given: Partial<WorkloadFact>): Partial<PracticeRecords> => ({
  pods: GOOD_FLEET.pods.map((pod) => (pod.workload.name === of ? { ...pod, ...given } : pod)),
});
/** The nodes of the good fleet, with other fields. */
export const nodes = (given: Parameters<typeof goodNode>[1], others: Parameters<typeof goodNode>[1] = {}) => ({
  nodes: [goodNode("gpu-a", given), goodNode("gpu-b", others)],
});
const quota = (hard: Readonly<Record<string, number>>) => ({
  cluster: [
    ...GOOD_CLUSTER.filter(({ kind }) => kind !== "ResourceQuota"),
    clusterFact("ResourceQuota", "gpus", { hard, used: {} }, "ml"),
  ],
});
/** The cluster of the good fleet without the objects of a kind. */
export const without = (kind: string) => ({ cluster: GOOD_CLUSTER.filter((fact) => fact.kind !== kind) });
const poolSpends = (of: Parameters<typeof spend>[1]) => ({
  nodeSpends: GOOD_FLEET.nodeSpends.map((each) => ({ ...each, ...spend("80", of) })),
});
const telemetry = (given: object) => ({
  telemetry: GOOD_FLEET.telemetry.map((each) => (each.node === "gpu-a" ? { ...each, ...given } : each)),
});
const others = (cpuMillicores: number) => ({
  pods: 7,
  names: ["web/cache-0", "web/front-1"],
  requested: { cpuMillicores, memoryBytes: 1_073_741_824 },
});
/** A node of 96 CPUs and 8 GPUs, of which a workload with 2 GPUs holds CPUs. Its free time has cost 30. */
const hoarding = (cpuRequestMillicores: number): Partial<PracticeRecords> => ({
  ...pods("train", { compute: { cpuRequestMillicores: cpuRequestMillicores / 2, memoryRequestBytes: 1 } }),
  nodeSpends: [{ cluster: "test", node: "gpu-a", ...spend("80", { unallocated: "30" }) }],
});
const stranded = (cost: string): Partial<PracticeRecords> => ({
  ...nodes({ gpus: gpusWith({ mig: { strategy: "mixed", profiles: { "1g.20gb": 2, "2g.20gb": 4 } } }) }),
  nodeSpends: [{ cluster: "test", node: "gpu-a", ...spend("80", { stranded: cost }) }],
});
const RACK = "topology.kubernetes.io/rack";
const racked = (...racks: readonly string[]) => ({
  nodes: racks.map((rack, index) => goodNode(`gpu-${"abcd"[index]}`, { labels: { [RACK]: rack } })),
  pods: ["gpu-a", "gpu-b"].map((node) => goodPod(`train-${node}`, { node })),
});
/** Two pods on two nodes that have run for some minutes. */
const spreadFor = (minutes: number): Partial<PracticeRecords> => ({
  pods: ["gpu-a", "gpu-b"].map((node) =>
    goodPod(`train-${node}`, { node, times: { created: 0, started: NOON - minutes * 60_000 } }),
  ),
});

/** Pods that have succeeded after 36 minutes, each in a Job of its own, with limits in seconds. */
const limited = (...seconds: readonly number[]): Partial<PracticeRecords> => ({
  limited: [
    {
      newest: goodPod("train-9", { phase: "Succeeded" }),
      ended: seconds.map((limitSeconds, index) => ({
        run: `ended-${index}`,
        begun: NOON,
        finished: NOON + 36 * 60_000,
        limitSeconds,
        gpus: 1,
      })),
    },
  ],
});

/** A case of each check, in the order of the documentation. */
export const CASES: readonly Case[] = [
  {
    name: "gpu-node-without-taint",
    records: nodes({
      taints: [
        { key: "node.kubernetes.io/not-ready", value: "", effect: "NoSchedule" },
        { key: "ToBeDeletedByClusterAutoscaler", value: "1772323200", effect: "NoSchedule" },
        { key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" },
        { key: "node.cilium.io/agent-not-ready", value: "", effect: "NoExecute" },
      ],
    }),
    objects: ["Node gpu-a"],
    fix: "kubectl taint nodes gpu-a nvidia.com/gpu=present:NoSchedule --overwrite",
    near: nodes({ taints: [{ key: "team", value: "vision", effect: "NoExecute" }] }),
  },
  {
    name: "pods-without-gpu-on-gpu-node",
    records: nodes({ others: others(24_000) }),
    objects: ["Node gpu-a: 7 pods with 25 % of the node, as much as 2 GPUs need: web/cache-0, web/front-1 and others"],
    atStake: "2",
    fix: "kubectl get pods -A -o wide --field-selector spec.nodeName=gpu-a",
    near: nodes({ others: others(4_000) }),
  },
  {
    name: "cpu-or-memory-gone",
    records: hoarding(72_000),
    objects: ["Node gpu-a: 2 of 6 free GPUs without CPU: Job ml/train with 2 GPUs has 72 CPU (fair: 24)"],
    atStake: "10",
    fix: 'kubectl get pods -A -o wide --field-selector spec.nodeName=gpu-a\n# in the pod template of Job ml/train\nresources: { requests: { cpu: "12" } }',
    near: hoarding(60_000),
  },
  {
    name: "tolerates-everything",
    records: pods("train", { tolerations: ["*"] }),
    objects: ["Job ml/train"],
    fix: "# in the pod template of Job ml/train\ntolerations:",
    team: "vision",
    near: pods("train", { tolerations: ["nvidia.com/gpu", "spot"] }),
  },
  {
    name: "namespace-without-quota",
    records: quota({}),
    objects: ["Namespace ml/ml: requests 4 nvidia.com/gpu, 1 nvidia.com/mig-1g.10gb now"],
    fix: "kubectl create quota gpus --namespace ml --hard=requests.nvidia.com/gpu=4,requests.nvidia.com/mig-1g.10gb=1",
    team: "vision",
    near: quota({ "nvidia.com/gpu": 1 }),
  },
  {
    name: "quota-above-capacity",
    records: quota({ "nvidia.com/gpu": 17, "amd.com/gpu": 0 }),
    objects: ["ResourceQuota ml/gpus: 17 nvidia.com/gpu of 16"],
    fix: `kubectl patch resourcequota gpus --namespace ml --type merge --patch '{"spec":{"hard":{"requests.nvidia.com/gpu":"16"}}}'`,
    team: "vision",
    near: quota({ "nvidia.com/gpu": 16 }),
  },
  {
    name: "quota-unused",
    records: used("ResourceQuota/ml/gpus", 4),
    objects: ["ResourceQuota ml/gpus: at most 4 of 8 nvidia.com/gpu"],
    fix: `kubectl patch resourcequota gpus --namespace ml --type merge --patch '{"spec":{"hard":{"requests.nvidia.com/gpu":"4"}}}'`,
    team: "vision",
    near: used("ResourceQuota/ml/gpus", 5),
  },
  {
    name: "queue-quota-unused",
    records: { ...queues({ quota: GPUS_8 }), ...used("Queue//research", 0) },
    objects: ["Queue /research: at most 0 of 8 nvidia.com/gpu"],
    fix: "kubectl edit Queue research # lower the quota: nvidia.com/gpu to 0",
    near: queues({ quota: GPUS_8 }),
  },
  {
    name: "starving-queue",
    records: queues({ quota: GPUS_8, pending: 3 }, { borrowed: { "nvidia.com/gpu": 2 } }),
    objects: ["Queue /research: 0 of 8 nvidia.com/gpu admitted, production borrows 2"],
    fix: `kubectl patch Queue research --type merge --patch '{"spec":{"preemption":{"reclaimWithinCohort":"Any"}}}'`,
    near: queues({ quota: GPUS_8, admitted: GPUS_8, pending: 3 }, { borrowed: { "nvidia.com/gpu": 2 } }),
  },
  {
    name: "namespace-without-limit-range",
    records: without("LimitRange"),
    objects: ["Namespace ml/ml"],
    fix: "apiVersion: v1\nkind: LimitRange",
    team: "vision",
    near: {},
  },
  {
    name: "no-priority-class",
    records: {
      pods: GOOD_FLEET.pods.map((pod) => lacking(pod, "priorityClass")),
    },
    objects: ["Job ml/train: training", "Deployment ml/chat: inference"],
    fix: "kubectl create priorityclass training --value=1000   # once, if the class is missing\n# in the pod template of Job ml/train\npriorityClassName: training",
    team: "vision",
    near: pods("ada", {}),
  },
  {
    name: "same-priority",
    records: pods("chat", { priorityClass: "batch" }),
    objects: ["PriorityClass /batch: value 1000"],
    fix: "kubectl create priorityclass above-training --value=2000 ",
    near: pods("chat", { priorityClass: "unknown" }),
  },
  {
    name: "no-cpu-and-memory-requests",
    records: pods("train", { compute: { memoryRequestBytes: 1 } }),
    objects: ["Job ml/train: no request of CPU"],
    fix: "# in the pod template of Job ml/train\nresources:",
    team: "vision",
    near: { pods: GOOD_FLEET.pods.map((pod) => lacking(pod, "compute")) },
  },
  {
    name: "memory-request-unlike-limit",
    records: pods("chat", {
      compute: { cpuRequestMillicores: 1, memoryRequestBytes: 8_589_934_592, memoryLimitBytes: 17_179_869_184 },
    }),
    objects: ["Deployment ml/chat: requests 8Gi, limit 16Gi"],
    fix: "# in the pod template of Deployment ml/chat\nresources: { requests: { memory: 16Gi }, limits: { memory: 16Gi } }",
    team: "vision",
    near: pods("chat", { compute: { memoryRequestBytes: 5, memoryLimitBytes: 5, cpuLimitMillicores: 9 } }),
  },
  {
    name: "image-not-pinned",
    records: pods("train", { unpinnedImages: ["ml/trainer:latest", "ml/tool"] }),
    objects: ["Job ml/train: ml/tool, ml/trainer:latest"],
    fix: "# in the pod template of Job ml/train\nimage: ml/tool@sha256:…",
    team: "vision",
    near: {},
  },
  {
    name: "training-on-time-slices",
    records: nodes({ gpus: gpusWith({ sharing: "time-slicing", replicas: 4 }) }),
    objects: ["Job ml/train: gpu-a"],
    fix: "# in the pod template of Job ml/train\nnodeSelector:",
    team: "vision",
    near: nodes({ gpus: gpusWith({ sharing: "mps", replicas: 4 }) }, { gpus: gpusWith({ sharing: "time-slicing" }) }),
  },
  {
    name: "whole-gpu-for-notebook",
    records: pods("ada", { asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }] }),
    objects: ["Notebook ml/ada: gpu-b"],
    atStake: "2.25",
    fix: "# in the pod template of Notebook ml/ada\nresources:",
    team: "vision",
    near: {
      ...pods("ada", { asks: [{ kind: "gpu", resource: "nvidia.com/gpu", count: 1 }] }),
      ...nodes({}, { gpus: gpusWith({ sharing: "time-slicing", replicas: 4 }) }),
    },
  },
  {
    name: "mig-layout-strands",
    records: stranded("1.6"),
    objects: ["Node gpu-a: 2 % of the cost, now with 4 2g.20gb, 2 1g.20gb"],
    atStake: "1.6",
    fix: `# if the instances of all-2g.20gb suffice for the pods; no pod may hold a GPU when the layout changes
kubectl drain gpu-a --ignore-daemonsets --delete-emptydir-data &&
kubectl label node gpu-a nvidia.com/mig.config=all-2g.20gb nvidia.com/mig.config.state- --overwrite &&
kubectl wait node/gpu-a --for=jsonpath='{.metadata.labels.nvidia\\.com/mig\\.config\\.state}'=success --timeout=30m &&
kubectl uncordon gpu-a`,
    near: stranded("1.599999"),
  },
  {
    name: "spot-training-without-checkpoints",
    records: { ...pods("train", { checkpoints: "none" }), ...nodes({ capacityType: "spot" }) },
    objects: ["Job ml/train: 2 pods, such as on gpu-a"],
    atStake: "100",
    fix: "# in the pod template of Job ml/train\nenv:",
    team: "vision",
    near: nodes({ capacityType: "spot" }),
  },
  {
    name: "gang-half-placed",
    records: {
      pods: [goodPod("train-0"), goodPod("train-1", { node: "", times: { created: NOON - 400_000 } })],
    },
    objects: ["Job ml/train: 1 of 2 pods are bound now, without a gang"],
    atStake: "0",
    fix: "# on Job ml/train itself, with Kueue",
    team: "vision",
    near: {
      pods: [goodPod("train-0"), goodPod("train-1", { node: "", times: { created: NOON - 200_000 } })],
    },
  },
  {
    name: "job-across-racks",
    records: racked("r1", "r2", "r2"),
    objects: [`Job ml/train: 2 nodes in 2 of ${RACK}`],
    fix: `# in the pod template of Job ml/train\nmetadata: { annotations: { kueue.x-k8s.io/podset-required-topology: ${RACK} } }`,
    team: "vision",
    near: racked("r1", "r2", "r3"),
  },
  {
    name: "job-over-too-many-nodes",
    records: spreadFor(61),
    objects: ["Job ml/train: 2 GPUs on 2 nodes, 1 is enough"],
    fix: "# in the pod template of Job ml/train\nmetadata: { annotations: { kueue.x-k8s.io/podset-preferred-topology: kubernetes.io/hostname } }",
    team: "vision",
    near: spreadFor(60),
  },
  {
    name: "time-limit-far-above-need",
    records: limited(10_800, 10_800, 10_800),
    objects: ["Job ml/train: 3 pods used 20 % of at least 180 min, the longest 36 min"],
    fix: "# in the manifest of Job ml/train: twice the longest use; the time counts from the start of the Job\nspec: { activeDeadlineSeconds: 4320 }",
    team: "vision",
    near: limited(10_800, 10_800, 10_799),
  },
  {
    name: "inference-without-disruption-budget",
    records: pods("chat", { disruptionBudgets: [] }),
    objects: ["Deployment ml/chat: 2 of 2 pods"],
    fix: "kubectl get pods --namespace ml --show-labels   # which label have all pods of chat, and no others?\nkubectl create poddisruptionbudget chat --namespace ml --selector LABEL=VALUE --max-unavailable 1",
    team: "vision",
    near: { pods: [goodPod("chat-0", { type: "inference", disruptionBudgets: [] })] },
  },
  {
    name: "pool-never-scales-down",
    records: poolSpends({ gpuHours: "1344", heldGpuHours: "600", unallocatedGpuHours: "700", unallocated: "30.25" }),
    objects: ["NodePool /h100: 2 nodes, 52 % of the GPU-hours free"],
    atStake: "60.5",
    fix: "kubectl get events -A",
    near: {
      ...poolSpends({ gpuHours: "1344", heldGpuHours: "600", unallocatedGpuHours: "700", unallocated: "30.25" }),
      nodes: [...GOOD_FLEET.nodes, goodNode("gpu-gone", { end: { atMillis: NOON - 3_600_000, inferred: false } })],
    },
  },
  {
    name: "pool-unused",
    records: poolSpends({ gpuHours: "1344", unallocatedGpuHours: "1344" }),
    objects: ["NodePool /h100: 2 nodes, 100 % of the GPU-hours free"],
    atStake: "160",
    fix: "kubectl delete nodepool",
    near: {
      ...poolSpends({ gpuHours: "1344", unallocatedGpuHours: "1344" }),
      ...nodes({ joined: NOON - 3_600_000 }),
    },
  },
  {
    name: "node-without-exporter",
    records: telemetry({ hasSamples: false, hasProfiling: undefined }),
    objects: ["Node gpu-a"],
    fix: "kubectl label nodes gpu-a nvidia.com/gpu.deploy.dcgm-exporter=true --overwrite",
    near: { ...telemetry({ hasSamples: false }), ...nodes({ joined: NOON - 1_800_000 }) },
  },
  {
    name: "no-profiling-counters",
    records: telemetry({ hasProfiling: false }),
    objects: ["Node gpu-a"],
    fix: "gpu-ledger generate exporter-config",
    near: telemetry({ hasProfiling: undefined }),
  },
  {
    name: "driver-end-of-life",
    records: nodes({ driverVersion: "450.142.00" }),
    objects: ["Node gpu-a: driver 450.142.00, supported until 2023-07"],
    fix: "kubectl patch clusterpolicy",
    near: nodes({ driverVersion: "535.183.01" }, { driverVersion: "525.1" }),
  },
  {
    name: "driver-versions-mixed",
    records: {
      nodes: [goodNode("gpu-a", { driverVersion: "570.1" }), goodNode("gpu-b"), goodNode("gpu-c")],
    },
    objects: ["Node gpu-a: driver 570 with CUDA 13.0, others have driver 580 with CUDA 13.0"],
    fix: "kubectl drain gpu-a",
    near: nodes({ driverVersion: "570.1", pool: "other" }),
  },
  {
    name: "device-plugin-versions-mixed",
    records: nodes({ devicePluginVersion: "v0.14.0" }),
    objects: ["Node gpu-a: device plugin v0.14.0, others have device plugin v0.17.1"],
    fix: `kubectl get pods -A --selector app=nvidia-device-plugin-daemonset -o 'custom-columns=NODE:.spec.nodeName,IMAGE:.spec.containers[*].image'
kubectl patch clusterpolicy cluster-policy --type merge --patch '{"spec":{"devicePlugin":{"version":"v0.17.1"}}}'`,
    near: nodes({ devicePluginVersion: "v1", gpus: gpusWith({ vendor: "amd" }) }),
  },
  {
    name: "exporter-versions-mixed",
    records: nodes({ exporterVersion: "3.1.2" }),
    objects: ["Node gpu-a: exporter 3.1.2, others have exporter 4.8.2"],
    fix: `kubectl get pods -A --selector app=nvidia-dcgm-exporter -o 'custom-columns=NODE:.spec.nodeName,IMAGE:.spec.containers[*].image'
kubectl patch clusterpolicy cluster-policy --type merge --patch '{"spec":{"dcgmExporter":{"version":"4.8.2"}}}'`,
    near: { nodes: GOOD_FLEET.nodes.map((node) => lacking(node, "exporterVersion")) },
  },
];
