import { affectedWorkload } from "../affected.ts";
import { createCheck } from "../check.ts";

/** Inference that a drain can end completely. */
export const withoutDisruptionBudget = createCheck(
  {
    name: "inference-without-disruption-budget",
    severity: "medium",
    title: "Inference without a PodDisruptionBudget",
    what: "Inference of at least two running pods, of which one is selected by no PodDisruptionBudget. Single pods are left out: a budget for one pod blocks every drain.",
    why: "A drain of nodes, for an upgrade or by an autoscaler, can evict all replicas at once. The service is away while large models load again, on GPUs that are paid meanwhile.",
    fix: ({ namespace, name }) =>
      `kubectl create poddisruptionbudget ${name} --namespace ${namespace} --selector app=${name} --max-unavailable 1   # the labels of its pods, if they have no app`,
  },
  ({ workloads }) =>
    workloads.flatMap((workload) => {
      const running = workload.pods.filter(({ phase }) => phase === "Running");
      const without = running.filter(({ disruptionBudgets }) => disruptionBudgets?.length === 0);
      return workload.type !== "inference" || running.length < 2 || without.length === 0
        ? []
        : affectedWorkload(workload, { detail: `${without.length} of ${running.length} pods` });
    }),
);
