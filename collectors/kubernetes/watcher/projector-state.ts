import type { OwnerCache } from "../owners/cache.ts";
import type { KubeObject } from "../projection/kube-object.ts";
import type { NodeOptions } from "../projection/node.ts";
import type { PodOptions } from "../projection/pod.ts";
import type { Remark } from "../projection/remark.ts";
import { createDependentPods, type DependentPods } from "./dependent-pods.ts";
import { createDisruptionBudgets, type DisruptionBudgets } from "./disruption-budgets.ts";
import type { FactRegistries } from "./fact-registries.ts";
import { createMachines, type Machines } from "./machines.ts";
import { createOtherPods, type OtherPodsByNode } from "./other-pods.ts";
import { createPulls, type Pulls } from "./pulls.ts";
import { createRelations, type Relations } from "./relations.ts";

/** The configuration for the projection of pods and nodes. */
export interface ProjectionOptions {
  readonly pods: Omit<PodOptions, "lookup" | "isForGpus" | "gangFacts" | "disruptionBudgets">;
  readonly nodes: Omit<NodeOptions, "cordonedSeenMillis" | "slices" | "others">;
  /** The names of the annotations of namespaces to keep; all by default. */
  readonly namespaceAnnotations?: readonly string[];
}

/** The dependencies of a projector. */
export interface ProjectorOptions {
  readonly registries: FactRegistries;
  readonly owners: OwnerCache;
  readonly projection: ProjectionOptions;
  readonly onRemarks: (object: KubeObject, remarks: readonly Remark[]) => void;
  readonly signal: AbortSignal;
}

/** The dependencies of a projector, and what it knows from objects besides their facts. */
export interface ProjectorState extends ProjectorOptions {
  readonly relations: Relations;
  readonly pulls: Pulls;
  readonly machines: Machines;
  readonly dependents: DependentPods;
  readonly budgets: DisruptionBudgets;
  /** The pods without GPUs. */
  readonly others: OtherPodsByNode;
  /** The versions of the programs and the UID of each node, by the node's name. */
  readonly plugins: Map<string, string>;
  readonly exporters: Map<string, string>;
  readonly nodes: Map<string, string>;
  /** The UIDs of the claims that are reserved for gangs, by namespace and name. */
  readonly gangClaims: Map<string, string>;
  /** Until the first list of pods is complete, the pods without GPUs of an earlier term count. */
  arePodsListed: boolean;
}

/** Creates the state of a projector that has seen no object. */
export function createProjectorState(options: ProjectorOptions): ProjectorState {
  const nodes = new Map<string, string>();
  return {
    ...options,
    relations: createRelations(),
    pulls: createPulls(),
    machines: createMachines(),
    dependents: createDependentPods(),
    budgets: createDisruptionBudgets(),
    others: createOtherPods((node) => nodes.has(node)),
    plugins: new Map(),
    exporters: new Map(),
    nodes,
    gangClaims: new Map(),
    arePodsListed: false,
  };
}
