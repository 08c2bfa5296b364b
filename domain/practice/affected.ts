import { lastUnits, type Money } from "../exact/units.ts";
import type { Affected, FixOf } from "./check.ts";
import type { PracticeNamespace, PracticeNode, PracticeWorkload } from "./facts.ts";

type Found = Partial<Pick<Affected, "detail" | "value" | "atStake">>;

/** Returns a workload as an affected object of its team. */
export function affectedWorkload(workload: Omit<PracticeWorkload, "pods">, found: Found = {}): Affected {
  const { cluster, namespace, kind, name, team, spend, exempt } = workload;
  return { cluster, team, kind, namespace, name, exempt, detail: "", value: "", cost: spend.cost, ...found };
}

/** Returns a node as an affected object of the whole cluster. */
export function affectedNode({ cluster, node, spend, exempt }: PracticeNode, found: Found = {}): Affected {
  const object = { cluster, team: undefined, kind: "Node", namespace: "", name: node, exempt };
  return { ...object, detail: "", value: "", cost: spend.cost, ...found };
}

/** Returns a namespace, or an object in it, as an affected object of its team. */
export function affectedNamespace(
  { cluster, name: namespace, team, cost, exempt }: PracticeNamespace,
  found: Found & Partial<Pick<Affected, "kind" | "name">> = {},
): Affected {
  const object = { cluster, team, kind: "Namespace", namespace, name: namespace, exempt };
  return { ...object, detail: "", value: "", cost, ...found };
}

/** Returns an object of the whole cluster. */
export function affectedCluster(
  cluster: string,
  object: { readonly kind: string; readonly name: string; readonly exempt?: ReadonlySet<string> },
  found: Found & { readonly cost?: Money },
): Affected {
  const { kind, name, exempt = NOTHING } = object;
  return {
    cluster,
    team: undefined,
    kind,
    namespace: "",
    name,
    exempt,
    detail: "",
    value: "",
    cost: lastUnits(0n),
    ...found,
  };
}

const NOTHING: ReadonlySet<string> = new Set();

/** Returns lines for the template of the pods of a workload, with a comment that names the workload. */
export function inTemplate({ kind, namespace, name }: FixOf, lines: string): string {
  return `# in the pod template of ${kind} ${namespace}/${name}\n${lines}`;
}
