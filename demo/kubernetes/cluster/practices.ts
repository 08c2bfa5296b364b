import type { Fleet } from "../../fleet/fleet.ts";
import { hashText, uuidOf } from "../../fleet/hash.ts";
import type { FleetNode } from "../../fleet/node.ts";
import { servicesOf } from "../../fleet/residents.ts";
import { TEAMS } from "../../fleet/teams.ts";
import type { KubernetesObject } from "../server/object.ts";
import { LONG_AGO } from "./namespaces.ts";
import { addressOf, hasNoTaint } from "./nodes.ts";
import { machineAt } from "./outages.ts";
import { condition } from "./pod-status.ts";
import { DAY, MINUTE, timestamp } from "./times.ts";

/**
 * The practices that the demo's cluster does not follow, beside those of `pod-practices.ts`: a few of each kind, so that `gpu-ledger audit
 * practices` has findings. Other findings come from the fleet itself: its old drivers, its mixed exporters, and its namespaces of services
 * without a quota.
 */

/** Services without a PodDisruptionBudget. */
const WITHOUT_BUDGET = new Set(["planner", "ocr"]);
/** Namespaces without a LimitRange. */
const WITHOUT_LIMIT_RANGE = new Set(["robotics-serve"]);
/** Pods without GPUs on the lab's machines, with their requests of CPU. */
const PLAIN_PODS = [
  { name: "feature-cache-0", cpu: "6" },
  { name: "label-studio-0", cpu: "4" },
];

/** Returns the LimitRange of each namespace that has one. */
export function limitRangeObjects({ seed, namespaces }: Fleet): KubernetesObject[] {
  return namespaces
    .filter(({ name }) => !WITHOUT_LIMIT_RANGE.has(name))
    .map(({ name: namespace }) => ({
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: {
        name: "defaults",
        namespace,
        uid: uuidOf(hashText(seed, `limit-range/${namespace}`)),
        creationTimestamp: timestamp(LONG_AGO + DAY),
      },
      spec: { limits: [{ type: "Container", defaultRequest: { cpu: "4", memory: "32Gi" } }] },
    }));
}

/** Returns the PodDisruptionBudget of each service that has one. */
export function budgetObjects({ seed }: Fleet): KubernetesObject[] {
  return TEAMS.flatMap((team) =>
    servicesOf(team)
      .filter((name) => !WITHOUT_BUDGET.has(name))
      .map((name) => ({
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: {
          name,
          namespace: team.namespaces.inference,
          uid: uuidOf(hashText(seed, `budget/${team.namespaces.inference}/${name}`)),
          creationTimestamp: timestamp(LONG_AGO + DAY),
        },
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
      })),
  );
}

/** Returns the pods without GPUs on a node at a time. */
export function plainPodObjects(node: FleetNode, timeMillis: number): KubernetesObject[] {
  const machine = hasNoTaint(node) ? machineAt(node, timeMillis) : undefined;
  if (machine === undefined) return [];
  const started = machine.joinedMillis + 2 * MINUTE;
  return PLAIN_PODS.map(({ name, cpu }) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${name}-${node.name}`,
      namespace: "platform-ml-lab",
      uid: uuidOf(hashText(node.key, `plain/${name}/${machine.uid}`)),
      creationTimestamp: timestamp(machine.joinedMillis + MINUTE),
      labels: { app: name.replace(/-\d+$/, "") },
    },
    spec: {
      containers: [
        {
          name: "main",
          image: "registry.example/lab/tools:3",
          resources: { requests: { cpu, memory: "16Gi" }, limits: { memory: "16Gi" } },
        },
      ],
      nodeName: node.name,
      restartPolicy: "Always",
    },
    status: {
      phase: machine.isReady ? "Running" : "Pending",
      conditions: [condition("PodScheduled", true, started), condition("Ready", machine.isReady, started)],
      hostIP: addressOf(node),
      startTime: timestamp(started),
    },
  }));
}
