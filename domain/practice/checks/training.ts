import { counted } from "../../counted.ts";
import { MINUTE_MILLIS } from "../../time.ts";
import { affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeFacts, PracticeWorkload } from "../facts.ts";

/** Training that an interruption sets back to its start. */
export const spotWithoutCheckpoints = createCheck(
  {
    name: "spot-training-without-checkpoints",
    severity: "high",
    title: "Training on spot nodes without evidence of checkpoints",
    what: "A pod of training runs on a spot node, and none of its arguments, environment variables, volumes, labels and annotations contains `checkpoint` or `ckpt`.",
    why: "The cloud can take a spot node away within minutes. Without a checkpoint, all GPU time of the run is lost. If the program writes checkpoints anyway, exempt it.",
    amount: "the cost of these workloads, which an interruption makes worthless",
    fix: (object) =>
      inTemplate(
        object,
        "env: [{ name: CHECKPOINT_DIR, value: /checkpoints }]   # on a volume that outlives the pod, and a program that resumes from there",
      ),
  },
  (facts) =>
    facts.workloads.flatMap((workload) => {
      if (workload.type !== "training") return [];
      const nodes = workload.pods.flatMap(({ checkpoints, cluster, node }) =>
        checkpoints === "none" && facts.nodeOf(cluster, node)?.capacityType === "spot" ? node : [],
      );
      return nodes.length === 0
        ? []
        : affectedWorkload(workload, {
            detail: `${counted(nodes.length, "pod")}, such as on ${nodes.toSorted()[0]}`,
            atStake: workload.spend.cost,
          });
    }),
);

/** How long a pod of a job waits until the job counts as half-placed. */
const HALF_PLACED_MILLIS = 5 * MINUTE_MILLIS;

/** Jobs that hold GPUs and cannot start. */
export const halfPlaced = createCheck(
  {
    name: "gang-half-placed",
    severity: "high",
    title: "Jobs that were seen half-placed",
    what: "A training of several pods held GPUs while its other pods had no node: either its charges have the state `waiting`, or one of its pods has waited for a node for more than 5 minutes while another is bound.",
    why: "The bound pods pay for GPUs that cannot work. Two such jobs can wait for each other forever. A scheduler with gangs places all pods of a job or none.",
    amount: "the cost of the state `waiting`, which only a job with a gang has",
    states: ["waiting"],
    fix: ({ kind, namespace, name }) =>
      `# on ${kind} ${namespace}/${name} itself, with Kueue and waitForPodsReady; or a PodGroup of Volcano with minMember
metadata: { labels: { kueue.x-k8s.io/queue-name: QUEUE } }`,
  },
  ({ workloads, now }) =>
    workloads.flatMap((workload) => {
      const { type, pods, spend } = workload;
      if (type !== "training") return [];
      const bound = pods.filter(({ node }) => node !== "").length;
      const isLate = pods.some(({ node, times }) => node === "" && now - times.created > HALF_PLACED_MILLIS);
      const isHalf = bound > 0 && isLate;
      if (spend.waiting <= 0n && !isHalf) return [];
      const hasGang = pods.some(({ gang }) => gang !== undefined);
      const state = isHalf ? `${bound} of ${pods.length} pods are bound now` : "held GPUs before it was complete";
      return affectedWorkload(workload, {
        detail: `${state}, ${hasGang ? "with a gang" : "without a gang"}`,
        atStake: spend.waiting,
      });
    }),
);

/**
 * Labels of nodes for the smallest part of the network that several nodes share: of Kubernetes' racks, of NVIDIA's topograph, of AWS and of
 * Google. The first one that a node has counts.
 */
const NETWORK_LABELS = [
  "topology.kubernetes.io/rack",
  "network.topology.nvidia.com/leaf",
  "topology.k8s.aws/network-node-layer-3",
  "cloud.google.com/gce-topology-subblock",
];

/** Jobs whose pods talk over more switches than needed. */
export const acrossRacks = createCheck(
  {
    name: "job-across-racks",
    severity: "medium",
    title: "Jobs across racks or switches",
    what: "The nodes of a training of several nodes have different values of a topology label (rack, leaf, network node, sub-block), although one value has enough nodes for the whole job.",
    why: "The pods exchange their gradients over more switches, and all GPUs of the job wait for the slowest path.",
    fix: ({ value, ...object }) =>
      inTemplate(
        { ...object, value },
        `metadata: { annotations: { kueue.x-k8s.io/podset-required-topology: ${value} } }`,
      ),
  },
  (facts) => {
    const sizes = sizesOf(facts);
    return facts.workloads.flatMap((workload) => {
      if (workload.type !== "training") return [];
      const names = new Set(workload.pods.map(({ node }) => node).filter((node) => node !== ""));
      const places = [...names].map((node) => placeOf(facts, workload, node));
      const label = places[0]?.label;
      if (places.length < 2 || places.some((place) => place === undefined || place.label !== label)) return [];
      const values = new Set(places.map((place) => place!.value));
      const fits = [...values].some((value) => sizes.get(keyOf(workload.cluster, label!, value))! >= names.size);
      if (values.size < 2 || !fits) return [];
      return affectedWorkload(workload, {
        value: label!,
        detail: `${names.size} nodes in ${values.size} of ${label}`,
      });
    });
  },
);

function placeOf(facts: PracticeFacts, { cluster }: PracticeWorkload, node: string) {
  const labels = facts.nodeOf(cluster, node)?.labels ?? {};
  const label = NETWORK_LABELS.find((name) => labels[name] !== undefined);
  return label === undefined ? undefined : { label, value: labels[label]! };
}

/** Returns the number of nodes with each value of a label. */
function sizesOf({ nodes }: PracticeFacts): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { cluster, labels } of nodes) {
    for (const label of NETWORK_LABELS) {
      if (labels[label] === undefined) continue;
      const key = keyOf(cluster, label, labels[label]);
      sizes.set(key, (sizes.get(key) ?? 0) + 1);
    }
  }
  return sizes;
}

function keyOf(cluster: string, label: string, value: string): string {
  return JSON.stringify([cluster, label, value]);
}
