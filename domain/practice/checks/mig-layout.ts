import { compare, ZERO } from "../../exact/rational.ts";
import { migProductOf, type FoundProduct } from "../../share/mig-product.ts";
import { splitMig } from "../../share/mig-remainder.ts";
import { migShapeOf, type MigMeasure, type MigShape } from "../../share/mig-shape.ts";
import { affectedNode } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeNode } from "../facts.ts";

/** The least part of a node's cost that counts. */
const LEAST_PERCENT = 2n;
/** A profile that NVIDIA's mig-parted has a layout of, with as many instances as fit: `all-1g.10gb`. */
const OF_MIG_PARTED = /^\d+g\.\d+gb$/;

/** Nodes whose MIG layout leaves rests in which nothing fits. */
export const migLayoutStrands = createCheck(
  {
    name: "mig-layout-strands",
    severity: "medium",
    title: "MIG layouts with rests that nothing fits into",
    what: "The charges of a node with MIG instances have the state `stranded` for at least 2 % of the node's cost: rests of GPUs in which no further instance fits.",
    why: "No pod can get the rest of such a GPU, whatever it requests. Another layout of the same GPU offers all of it.",
    amount: "the cost of the state `stranded` of these nodes",
    states: ["stranded"],
    fix: ({ name, value }) =>
      value === ""
        ? `kubectl get node ${name} --output yaml   # then write a layout without a rest for NVIDIA's mig-parted`
        : `# if the instances of all-${value} suffice for the pods; no pod may hold a GPU when the layout changes
kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data &&
kubectl label node ${name} nvidia.com/mig.config=all-${value} nvidia.com/mig.config.state- --overwrite &&
kubectl wait node/${name} --for=jsonpath='{.metadata.labels.nvidia\\.com/mig\\.config\\.state}'=success --timeout=30m &&
kubectl uncordon ${name}`,
  },
  ({ nodes, migMeasure }) =>
    nodes.flatMap((node) => {
      const { stranded, cost } = node.spend;
      const layout = instancesOf(node);
      if (cost <= 0n || stranded <= 0n || stranded * 100n < cost * LEAST_PERCENT || layout.length === 0) return [];
      const instances = layout.map(([profile, count]) => `${count} ${profile}`).join(", ");
      const percent = (stranded * 100n) / cost;
      return affectedNode(node, {
        value: profileFor(node, migMeasure),
        detail: `${percent} % of the cost, now with ${instances}`,
        atStake: stranded,
      });
    }),
);

/** Returns the MIG instances of a node by profile, most instances first. */
function instancesOf({ gpus }: PracticeNode): readonly (readonly [profile: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { mig } of gpus) {
    for (const [profile, count] of Object.entries(mig.profiles))
      counts.set(profile, (counts.get(profile) ?? 0) + count);
  }
  return [...counts].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
}

/**
 * Returns a profile of which as many instances as fit leave no rest: of the node's own profiles the one with the most instances, otherwise
 * the smallest one of the model. Empty if there is none.
 */
function profileFor(node: PracticeNode, measure: MigMeasure): string {
  const gpus = node.gpus.find(({ mig }) => Object.keys(mig.profiles).length > 0);
  const found = migProductOf(gpus?.model, gpus?.memoryMiB);
  const own = instancesOf(node).map(([profile]) => profile);
  const ofModel = found.isAssumed ? [] : found.product.profiles.map(({ name }) => name);
  const best = [...own, ...ofModel].find(
    (profile) => OF_MIG_PARTED.test(profile) && leavesNoRest(profile, found, measure),
  );
  return best ?? "";
}

function leavesNoRest(profile: string, found: FoundProduct, measure: MigMeasure): boolean {
  const { product } = found;
  const shape = migShapeOf(profile, found);
  const most = product.profiles.find(
    ({ computeSlices, memorySlices }) => computeSlices === shape.computeSlices && memorySlices === shape.memorySlices,
  )?.mostInstances;
  if (most === undefined) return false;
  const { remainder, remainderIs } = splitMig(product, Array<MigShape>(most).fill(shape), measure);
  return compare(remainder, ZERO) === 0 || remainderIs !== "stranded";
}
