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
  const stop = STOPPING[kind];
  return { what, lines: `kubectl -n ${namespace} ${stop?.(name) ?? `delete ${kind.toLowerCase()}/${name}`}` };
}

/** The commands of kinds that stop in their own way, or whose short name is that of another kind. */
const STOPPING: Readonly<Record<string, (name: string) => string>> = {
  // Kubeflow's notebook controller stops a notebook with this annotation and keeps its volume.
  Notebook: (name) => `annotate notebook/${name} kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite`,
  // https://kserve.github.io/website/docs/model-serving/predictive-inference/frameworks/overview
  InferenceService: (name) => `annotate inferenceservice/${name} serving.kserve.io/stop=true --overwrite`,
  Rollout: (name) => `scale rollouts.argoproj.io/${name} --replicas=0`,
  CronJob: (name) =>
    `patch cronjob/${name} --type merge --patch '{"spec":{"suspend":true}}'   # a run that has begun goes on`,
  Service: (name) => `delete services.serving.knative.dev/${name}`,
  Job: (name) => `delete jobs.batch/${name}   # of Volcano: jobs.batch.volcano.sh/${name}`,
};

/** Returns the lines of a pod template that request an amount of a resource. */
export function limitLines(resource: string, count: number): string {
  return ["resources:", "  limits:", `    ${resource}: ${count}`].join("\n");
}
