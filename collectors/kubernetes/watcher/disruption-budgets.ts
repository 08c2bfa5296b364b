import type { ClusterFact, ClusterFactBodies } from "../../../domain/cluster-fact.ts";
import { selects } from "../projection/cluster/budget.ts";
import type { PodObject } from "../projection/pod-object.ts";
import { text, texts } from "../projection/wire.ts";
import type { FactBody } from "./fact-registry.ts";

type BudgetFact = FactBody<Extract<ClusterFact, { kind: "PodDisruptionBudget" }>>;

/** The PodDisruptionBudgets of pods with GPUs. Budgets and pods arrive in any order. */
export interface DisruptionBudgets {
  /** Sets that the budgets are known, even if there are none. Returns the UIDs of the pods for which that is new. */
  setKnown(): readonly string[];
  /** Takes the newest state of a budget. Returns the UIDs of the pods of its namespace. */
  take(budget: BudgetFact): readonly string[];
  drop(budget: BudgetFact): readonly string[];
  /** Keeps the labels of a pod. */
  join(uid: string, pod: PodObject): void;
  leave(uid: string): void;
  /** Returns the names of the budgets that select a pod, in alphabetical order; undefined while they are unknown. */
  namesFor(uid: string): readonly string[] | undefined;
}

interface KnownPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Creates an empty set of budgets and pods. */
export function createDisruptionBudgets(): DisruptionBudgets {
  const budgets = new Map<string, Map<string, ClusterFactBodies["PodDisruptionBudget"]>>();
  const pods = new Map<string, KnownPod>();
  let isKnown = false;

  function podsOf(namespace: string): readonly string[] {
    return [...pods].flatMap(([uid, pod]) => (pod.namespace === namespace ? uid : []));
  }

  return {
    setKnown() {
      if (isKnown) return [];
      isKnown = true;
      return [...pods.keys()];
    },
    take({ namespace, name, body }) {
      const ofNamespace = budgets.get(namespace) ?? new Map<string, typeof body>();
      budgets.set(namespace, ofNamespace.set(name, body));
      return podsOf(namespace);
    },
    drop({ namespace, name }) {
      budgets.get(namespace)?.delete(name);
      return podsOf(namespace);
    },
    join(uid, { metadata }) {
      pods.set(uid, { namespace: text(metadata?.namespace) ?? "", labels: texts(metadata?.labels) });
    },
    leave: (uid) => void pods.delete(uid),
    namesFor(uid) {
      const pod = pods.get(uid);
      if (!isKnown || pod === undefined) return undefined;
      const own = [...(budgets.get(pod.namespace) ?? [])];
      return own.flatMap(([name, budget]) => (selects(budget, pod.labels) ? name : [])).sort();
    },
  };
}
