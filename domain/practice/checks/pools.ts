import { DAY_MILLIS, HOUR_MILLIS } from "../../time.ts";
import { LAST_UNITS_IN_ONE, type Money } from "../../exact/units.ts";
import { affectedCluster } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeFacts, PracticePool } from "../facts.ts";

/** Machines that are paid for whether they run or not. */
const PAID_ANYWAY = new Set(["reserved", "owned"]);
/** The part of the days that charges must cover before a pool is judged. */
const LEAST_COVERED_PERCENT = 90n;

/** Pools that keep nodes without work. */
export const neverScalesDown = createCheck(
  {
    name: "pool-never-scales-down",
    severity: "high",
    title: "Node pools that never scale down",
    what: "A pool of at least two nodes that are not reserved or owned has lost no node in the days, all of its nodes were there the whole time, and its free GPU-hours are at least those of one node. Pools without GPU-hours of holders have their own check.",
    why: "Free nodes cost as much as used ones. An autoscaler removes a node only if its pods can move: pods without a controller, strict PodDisruptionBudgets, local volumes and a minimum size of the pool keep nodes forever.",
    amount: "the cost of the free time of the pool",
    states: ["unallocated"],
    fix: ({ name }) =>
      `kubectl get events -A --field-selector reason=Unconsolidatable   # with Karpenter: why nodes of ${name} stay
kubectl get configmap cluster-autoscaler-status --namespace kube-system -o yaml   # with the cluster autoscaler`,
  },
  (facts) =>
    facts.pools
      .filter(
        (pool) =>
          pool.nodes.length > 1 &&
          !pool.hasShrunk &&
          isObserved(facts, pool) &&
          pool.spend.heldGpuHours > 0n &&
          pool.nodes.every(({ capacityType = "" }) => !PAID_ANYWAY.has(capacityType)) &&
          pool.spend.unallocatedGpuHours * BigInt(pool.nodes.length) >= pool.spend.gpuHours,
      )
      .map((pool) => affectedPool(pool, pool.spend.unallocated)),
);

/** Pools that nobody uses. */
export const poolUnused = createCheck(
  {
    name: "pool-unused",
    severity: "high",
    title: "Node pools that nobody used",
    what: "No pod held a GPU of a pool in the days, and all nodes of the pool were there the whole time.",
    why: "The pool costs its full price for nothing.",
    amount: "the cost of the pool",
    fix: ({ name }) =>
      `kubectl delete nodepool ${name}   # with Karpenter; otherwise delete the pool by the cloud's own command`,
  },
  (facts) =>
    facts.pools
      .filter((pool) => isObserved(facts, pool) && pool.spend.heldGpuHours === 0n)
      .map((pool) => affectedPool(pool, pool.spend.cost)),
);

/** Returns whether all nodes of a pool were there in all of the days, and their charges cover the days. */
function isObserved({ now, days }: PracticeFacts, { nodes, spend }: PracticePool): boolean {
  const gpus = nodes.reduce((count, node) => count + node.gpus.reduce((sum, each) => sum + each.count, 0), 0);
  const hours = BigInt(gpus) * BigInt((days * DAY_MILLIS) / HOUR_MILLIS) * LAST_UNITS_IN_ONE;
  return (
    gpus > 0 &&
    nodes.every(({ joined }) => now - joined >= days * DAY_MILLIS) &&
    spend.gpuHours * 100n >= hours * LEAST_COVERED_PERCENT
  );
}

function affectedPool({ cluster, name, nodes, spend }: PracticePool, atStake: Money) {
  const exempt = new Set([...nodes[0]!.exempt].filter((check) => nodes.every((node) => node.exempt.has(check))));
  const percent = spend.gpuHours === 0n ? 0n : (spend.unallocatedGpuHours * 100n) / spend.gpuHours;
  const detail = `${nodes.length} nodes, ${percent} % of the GPU-hours free`;
  return affectedCluster(cluster, { kind: "NodePool", name, exempt }, { detail, cost: spend.cost, atStake });
}
