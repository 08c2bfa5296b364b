import { MINUTE_MILLIS } from "../../time.ts";
import { affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeFacts, PracticeNode, PracticeWorkload } from "../facts.ts";
import { gpusOf, isWhole, wholeGpusOf } from "../room.ts";

/** How long all pods of a job must have run: a shorter job ends before its placement matters. */
const LEAST_MILLIS = 61 * MINUTE_MILLIS;

/** Jobs that lie on more nodes than they need. */
export const overTooManyNodes = createCheck(
  {
    name: "job-over-too-many-nodes",
    severity: "medium",
    title: "Jobs on more nodes than they need",
    what: "A training uses more nodes than its GPUs need. Checked after 61 minutes, for whole GPUs of one model on nodes of equal size.",
    why: "The pods exchange their gradients over the network instead of inside a node, and all GPUs of the job wait for it. The GPUs that are left on each node are too few for the next large job.",
    fix: (object) =>
      inTemplate(
        object,
        "metadata: { annotations: { kueue.x-k8s.io/podset-preferred-topology: kubernetes.io/hostname } }   # with Kueue; otherwise a preferred podAffinity with this topologyKey",
      ),
  },
  (facts) =>
    facts.workloads.flatMap((workload) => {
      if (workload.type !== "training") return [];
      const placement = placementOf(facts, workload);
      if (placement === undefined) return [];
      const { sizes, nodes, gpusPerNode } = placement;
      const gpus = sizes.reduce((sum, size) => sum + size, 0);
      const enough = binsFor(sizes, gpusPerNode);
      if (enough >= nodes) return [];
      return affectedWorkload(workload, {
        detail: `${gpus} GPUs on ${nodes} nodes, ${enough} ${enough === 1 ? "is" : "are"} enough`,
      });
    }),
);

/** The place of a job: the GPUs of each pod, the number of nodes, and the GPUs that each of these nodes has. */
interface Placement {
  readonly sizes: readonly number[];
  readonly nodes: number;
  readonly gpusPerNode: number;
}

/** Returns the place of a job; undefined if one of its pods is new or has no whole GPUs, or if its nodes are unknown or not alike. */
function placementOf(facts: PracticeFacts, { pods }: PracticeWorkload): Placement | undefined {
  const sizes: number[] = [];
  const nodes = new Set<PracticeNode>();
  for (const pod of pods) {
    const { phase, node: name, cluster, times } = pod;
    const size = wholeGpusOf(pod);
    const node = facts.nodeOf(cluster, name);
    const isOld = times.started !== undefined && facts.now - times.started >= LEAST_MILLIS;
    if (phase !== "Running" || !isOld || size === undefined || node === undefined) return undefined;
    sizes.push(size);
    nodes.add(node);
  }
  const kinds = [...nodes].map(kindOf);
  if (kinds.some((kind) => kind === undefined || kind !== kinds[0])) return undefined;
  const [first] = nodes;
  return first && { sizes, nodes: nodes.size, gpusPerNode: gpusOf(first) };
}

/** Returns the model and the number of the GPUs of a node; undefined if they are unknown, of several kinds, shared or divided. */
function kindOf({ gpus: [first, ...more] }: PracticeNode): string | undefined {
  return first?.model === undefined || more.length > 0 || !isWhole(first) ? undefined : `${first.count} ${first.model}`;
}

/** Returns the number of nodes that pods of these sizes fill, the largest pod first, each on the first node with room. */
function binsFor(sizes: readonly number[], gpusPerNode: number): number {
  const bins: number[] = [];
  for (const size of sizes.toSorted((a, b) => b - a)) {
    const place = bins.findIndex((free) => free >= size);
    if (place === -1) bins.push(gpusPerNode - size);
    else bins[place]! -= size;
  }
  return bins.length;
}
