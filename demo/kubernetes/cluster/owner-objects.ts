import type { Fleet } from "../../fleet/fleet.ts";
import { deploymentUid } from "../../fleet/pod.ts";
import { RESIDENTS, servicesOf } from "../../fleet/residents.ts";
import { TEAMS, type Team } from "../../fleet/teams.ts";
import type { KubernetesObject } from "../server/object.ts";
import type { PodLife } from "./lives.ts";
import { LONG_AGO } from "./namespaces.ts";
import { ownersOf, referenceTo } from "./pod-owners.ts";
import { condition } from "./pod-status.ts";
import { timestamp } from "./times.ts";

/** Returns the owners of the pods of these lives, each once, and the Deployments, which stay without pods. */
export function ownerObjects(fleet: Fleet, lives: readonly PodLife[], timeMillis: number): KubernetesObject[] {
  const objects = new Map<string, KubernetesObject>();
  for (const deployment of deployments(fleet)) objects.set(deployment.metadata.uid, deployment);
  for (const life of lives) {
    const owners = ownersOf(life);
    for (const [i, owner] of owners.entries()) {
      if (objects.has(owner.uid) || owner.kind === "Pod") continue;
      const above = owners[i + 1];
      const isQueued = life.pod.type === "training" && life.pod.gang === undefined;
      objects.set(owner.uid, {
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        metadata: {
          name: owner.name,
          namespace: life.pod.namespace,
          uid: owner.uid,
          creationTimestamp: timestamp(life.queuedMillis),
          labels: {
            app: life.pod.labels["app"] ?? "",
            ...(isQueued ? { "kueue.x-k8s.io/queue-name": "gpu" } : {}),
          },
          ...(above === undefined ? {} : { ownerReferences: [referenceTo(above)] }),
        },
        ...specOf(owner.kind, life, timeMillis),
      });
    }
  }
  return [...objects.values()];
}

function specOf(kind: string, life: PodLife, timeMillis: number): Readonly<Record<string, unknown>> {
  const isSuspended = timeMillis < life.createdMillis;
  const size = life.pod.gang?.size ?? 1;
  switch (kind) {
    case "Job":
      return { spec: { parallelism: 1, completions: 1, suspend: isSuspended, ttlSecondsAfterFinished: 600 } };
    case "JobSet":
      return { spec: { suspend: isSuspended, replicatedJobs: [{ name: "main", replicas: 1 }] } };
    case "PyTorchJob":
      return { spec: { pytorchReplicaSpecs: { Worker: { replicas: size, restartPolicy: "OnFailure" } } } };
    case "LeaderWorkerSet":
      return {
        spec: { replicas: 1, leaderWorkerTemplate: { size } },
        status: { conditions: [condition("Available", true, life.startMillis)] },
      };
    default:
      return { spec: { replicas: 1 } };
  }
}

function deployments({ seed }: Fleet): KubernetesObject[] {
  const deployed = (team: Team): readonly string[] =>
    servicesOf(team).filter((name) => name !== RESIDENTS.chat235b.name);
  return TEAMS.flatMap((team) =>
    deployed(team).map((name) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {
        name,
        namespace: team.namespaces.inference,
        uid: deploymentUid(seed, team.name, name),
        creationTimestamp: timestamp(LONG_AGO),
        labels: { app: name },
      },
      spec: { selector: { matchLabels: { app: name } } },
    })),
  );
}
