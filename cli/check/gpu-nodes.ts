import { listGpuNodes } from "../../collectors/kubernetes/gpu-nodes.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { attempt, type Finding, type ClusterUnderCheck } from "./finding.ts";
import type { FoundTarget } from "./jobs.ts";

const MOST_NAMES = 20;

/**
 * Whether each node with GPUs has a target whose rows bear its name: the GPUs of one that has none are unobserved, and
 * whoever holds them pays for what nobody measured.
 */
export async function checkGpuNodes(
  cluster: ClusterUnderCheck,
  config: Config,
  targets: readonly FoundTarget[],
): Promise<Finding> {
  const what = `cluster ${cluster.name}, GPU nodes`;
  let ok = true;
  const finding = await attempt(what, async () => {
    const gpuResources = new Map(Object.entries(config.kubernetes.gpuResources));
    const nodes = await listGpuNodes(cluster.api, { ...cluster, gpuResources });
    const ours = targets.filter((target) => (target.cluster ?? config.cluster) === cluster.name);
    const seen = new Set(ours.map(({ node }) => node));
    const unseen = nodes.filter((node) => !seen.has(node));
    ok = unseen.length === 0;
    if (ok) return nodes.length === 0 ? "there are none" : `all ${nodes.length} have a target`;
    return [
      `${unseen.length} of ${nodes.length} have no target, and their GPUs are unobserved: ${named(unseen)}`,
      ...elsewhere(unseen, targets, config.cluster),
      ...untold(ours),
    ].join("; ");
  });
  return { ...finding, ok: finding.ok && ok };
}

function named(nodes: readonly string[]): string {
  const further = nodes.length - MOST_NAMES;
  return `${nodes.slice(0, MOST_NAMES).join(", ")}${further > 0 ? ` and ${further} more` : ""}`;
}

/** Nodes that have a target under another cluster's name: their rows would never meet the cluster's pods. */
function elsewhere(unseen: readonly string[], targets: readonly FoundTarget[], defaultCluster: string): string[] {
  const missed = new Set<string | undefined>(unseen);
  const others = targets.filter(({ node }) => missed.has(node)).map((target) => target.cluster ?? defaultCluster);
  const names = [...new Set(others)].join(", ");
  return others.length === 0
    ? []
    : [`${others.length} targets of these nodes are of cluster ${names}: a job's labels can name the right one`];
}

function untold(targets: readonly FoundTarget[]): string[] {
  const count = targets.filter(({ node }) => node === undefined).length;
  return count === 0 ? [] : [`${count} targets have not told yet which node they are on`];
}
