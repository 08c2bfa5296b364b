import { expect, it } from "vitest";
import type { WorkloadEvidence } from "../../../../domain/advice/evidence.ts";
import { stopRemedy } from "../../../../domain/advice/remedies.ts";

it.each([
  ["Deployment", "scale deployment/one --replicas=0"],
  ["LeaderWorkerSet", "scale leaderworkerset/one --replicas=0"],
  ["Rollout", "scale rollouts.argoproj.io/one --replicas=0"],
  ["Notebook", 'annotate notebook/one kubeflow-resource-stopped="$(date -u +%FT%TZ)" --overwrite'],
  ["InferenceService", "annotate inferenceservice/one serving.kserve.io/stop=true --overwrite"],
  ["CronJob", `patch cronjob/one --type merge --patch '{"spec":{"suspend":true}}'   # a run that has begun goes on`],
  ["Service", "delete services.serving.knative.dev/one"],
  ["Job", "delete jobs.batch/one   # of Volcano: jobs.batch.volcano.sh/one"],
  ["PyTorchJob", "delete pytorchjob/one"],
])("a %s is stopped by %s", (kind, command) => {
  const workload = { kind, namespace: "ml", workload: "one" } as WorkloadEvidence;
  expect(stopRemedy(workload, "stop").lines).toBe(`kubectl -n ml ${command}`);
});
