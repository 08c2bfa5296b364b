import type { Remedy } from "./card.ts";
import type { WorkloadEvidence } from "./evidence.ts";

/** Kinds whose number of pods `kubectl scale` sets. */
const SCALED = ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"];

/** Returns the command that sets the replicas of a workload; undefined if its kind has none. */
export function scaleCommand({ kind, namespace, workload }: WorkloadEvidence, replicas: number): string | undefined {
  if (kind === "LeaderWorkerSet" || SCALED.includes(kind))
    return `kubectl -n ${namespace} scale ${kind.toLowerCase()}/${workload} --replicas=${replicas}`;
  return undefined;
}

/** Returns the command that ends a workload. A workload that can start again is scaled to 0 or stopped. Any other workload is deleted. */
export function stopRemedy(workload: WorkloadEvidence, what: string): Remedy {
  const { kind, namespace, workload: name } = workload;
  const scale = scaleCommand(workload, 0);
  if (scale !== undefined) return { what, lines: scale };
  // Kubeflow's notebook controller stops a notebook with this annotation and keeps its volume.
  if (kind === "Notebook")
    return {
      what,
      lines: `kubectl -n ${namespace} annotate notebook/${name} kubeflow-resource-stopped="$(date -u +%FT%TZ)"`,
    };
  return { what, lines: `kubectl -n ${namespace} delete ${kind.toLowerCase()}/${name}` };
}

/** Returns the lines of a pod template that request an amount of a resource. */
export function limitLines(resource: string, count: number): string {
  return ["resources:", "  limits:", `    ${resource}: ${count}`].join("\n");
}
