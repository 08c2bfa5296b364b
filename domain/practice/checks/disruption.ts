import { affectedWorkload } from "../affected.ts";
import { createCheck } from "../check.ts";

/** Kinds whose number of pods the API server can read for `maxUnavailable`. */
const SCALED: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"]);

/** Inference that a drain can end completely. */
export const withoutDisruptionBudget = createCheck(
  {
    name: "inference-without-disruption-budget",
    severity: "medium",
    title: "Inference without a PodDisruptionBudget",
    what: "Inference of at least two running pods, of which one is selected by no PodDisruptionBudget. Single pods are left out: a budget for one pod blocks every drain.",
    why: "A drain of nodes, for an upgrade or by an autoscaler, can evict all replicas at once. The service is away while large models load again, on GPUs that are paid meanwhile.",
    fix: ({ kind, namespace, name, value }) =>
      `kubectl get pods --namespace ${namespace} --show-labels   # which label have all pods of ${name}, and no others?
kubectl create poddisruptionbudget ${name} --namespace ${namespace} --selector LABEL=VALUE ${SCALED.has(kind) ? "--max-unavailable 1" : `--min-available ${value}`}`,
  },
  ({ workloads }) =>
    workloads.flatMap((workload) => {
      const running = workload.pods.filter(({ phase }) => phase === "Running");
      const without = running.filter(({ disruptionBudgets }) => disruptionBudgets?.length === 0);
      return workload.type !== "inference" || running.length < 2 || without.length === 0
        ? []
        : affectedWorkload(workload, {
            detail: `${without.length} of ${running.length} pods`,
            value: String(running.length - 1),
          });
    }),
);
