import { counted } from "../../domain/counted.ts";
import { resourceNamesOf } from "../../collectors/kubernetes/projection/gpu-resource.ts";
import { listGpuNodes, type GpuNode } from "../../collectors/kubernetes/gpu-nodes.ts";
import type { RemarkReason } from "../../collectors/kubernetes/projection/remark.ts";
import type { CountedBy } from "../../domain/inventory.ts";
import { countOf, isGuess, withShown } from "../../domain/share/node-gpus.ts";
import { COUNTED } from "../../reports/format/counted.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { errorText } from "../context.ts";
import type { ClusterUnderCheck, Finding } from "./finding.ts";
import type { FoundTarget } from "./jobs.ts";

const MOST_NAMES = 20;

/**
 * Checks the number of each node's GPUs and its source, and whether each node has a target with rows of its name. The GPUs of a node
 * without one are unobserved, and their holders pay for time without measurements.
 */
export async function* checkGpuNodes(
  cluster: ClusterUnderCheck,
  config: Config,
  targets: readonly FoundTarget[],
): AsyncGenerator<Finding> {
  const resourceNames = resourceNamesOf(config.kubernetes.gpuResources, config.kubernetes.hami);
  let nodes: readonly GpuNode[];
  try {
    nodes = await listGpuNodes(cluster.api, { ...cluster, resourceNames });
  } catch (error) {
    yield { ok: false, what: `cluster ${cluster.name}, GPU nodes`, answer: errorText(error) };
    return;
  }
  const ours = targets.filter((target) => (target.cluster ?? config.cluster) === cluster.name);
  yield* countGpus(cluster.name, nodes, ours);
  const names = nodes.filter(({ gpus }) => gpus.length > 0).map(({ name }) => name);
  const seen = new Set(ours.map(({ node }) => node));
  const unseen = names.filter((node) => !seen.has(node));
  const lines = [
    `${unseen.length} of ${names.length} have no target, and their GPUs are unobserved: ${named(unseen)}`,
    ...elsewhere(unseen, targets, config.cluster),
    ...withoutNode(ours),
  ];
  const all = names.length === 0 ? "there are none" : `all ${names.length} have a target`;
  const answer = unseen.length === 0 ? all : lines.join("; ");
  yield { ok: unseen.length === 0, what: `cluster ${cluster.name}, GPU nodes`, answer };
}

/** Remarks that need an action. The bill is wrong or incomplete until then. */
const WRONG = new Set<RemarkReason>(["contradiction", "unmetered"]);

/** Returns the number of GPUs and its sources, and then each node with a remark about its GPUs. */
function* countGpus(cluster: string, nodes: readonly GpuNode[], targets: readonly FoundTarget[]): Generator<Finding> {
  const what = `cluster ${cluster}, GPUs`;
  const counts = new Map<CountedBy, number>();
  const odd: Finding[] = [];
  const guessed: string[] = [];
  for (const { name, gpus, remarks } of nodes) {
    const shown = Math.max(0, ...targets.filter(({ node }) => node === name).map((target) => target.gpus ?? 0));
    const counted = withShown(gpus, shown);
    for (const { count, countedBy: by = "label" } of counted) counts.set(by, (counts.get(by) ?? 0) + count);
    if (countOf(counted) !== countOf(gpus)) {
      const by = gpus.map(({ count, countedBy = "label" }) => `${count} ${COUNTED[countedBy]}`).join(" and ");
      const answer = `${name} has ${by}, and its exporter shows ${shown}; the ledger counts ${countOf(counted)}`;
      odd.push({ ok: gpus.every(({ countedBy }) => isGuess(countedBy)), what, answer });
    }
    for (const { reason, text } of remarks) {
      if (WRONG.has(reason)) odd.push({ ok: false, what, answer: `${name}: ${text}` });
    }
    if (counted.some(({ countedBy }) => isGuess(countedBy))) guessed.push(name);
  }
  const sum = [...counts.values()].reduce((total, count) => total + count, 0);
  const parts = [...counts].map(([by, count]) => `${count} ${COUNTED[by]}`).join(", ");
  const on = nodes.length === 1 ? "1 node" : `${nodes.length} nodes`;
  yield { ok: true, what, answer: sum === 0 ? "there are none" : `${sum} on ${on}: ${parts}` };
  if (guessed.length > 0) {
    const answer = `the number of GPUs is a guess for ${named(guessed)}: add GFD's labels or gpu-ledger/delivered, see docs/gpus.md`;
    yield { ok: true, what, answer };
  }
  yield* odd.slice(0, MOST_NAMES);
}

function named(nodes: readonly string[]): string {
  const further = nodes.length - MOST_NAMES;
  return `${nodes.slice(0, MOST_NAMES).join(", ")}${further > 0 ? ` and ${further} more` : ""}`;
}

/** Returns nodes whose target has another cluster's name. Their rows would never match the cluster's pods. */
function elsewhere(unseen: readonly string[], targets: readonly FoundTarget[], defaultCluster: string): string[] {
  const missed = new Set<string | undefined>(unseen);
  const others = targets.filter(({ node }) => missed.has(node)).map((target) => target.cluster ?? defaultCluster);
  const names = [...new Set(others)].join(", ");
  return others.length === 0
    ? []
    : [
        `${counted(others.length, "target")} of these nodes ${others.length === 1 ? "has" : "have"} another cluster: ${names}. Set the cluster in the job's labels`,
      ];
}

function withoutNode(targets: readonly FoundTarget[]): string[] {
  const count = targets.filter(({ node }) => node === undefined).length;
  return count === 0 ? [] : [`${counted(count, "target")} ${count === 1 ? "has" : "have"} no known node yet`];
}
