import type { OwnerReference, WorkloadType } from "../../../domain/workload.ts";
import type { OwnerKinds } from "./kinds.ts";

type Labels = Readonly<Record<string, string>>;

/** The label or annotation with which users set a workload's type. The configuration can name others. */
export const TYPE_LABEL = "gpu-ledger/workload-type";

/** Names of model servers in their charts. */
const ENGINES = new Set(["vllm", "triton", "tritonserver", "sglang", "text-generation-inference", "ollama", "trtllm"]);

/** Labels that operators set on pods of one type, whatever owns them, in the order of the lookup. */
const TELLING: readonly (readonly [label: string, type: WorkloadType, values?: ReadonlySet<string>])[] = [
  ["notebook-name", "notebook"],
  ["component", "notebook", new Set(["singleuser-server"])],
  ["serving.kserve.io/inferenceservice", "inference"],
  ["serving.knative.dev/service", "inference"],
  ["leaderworkerset.sigs.k8s.io/name", "inference"],
  ["ray.io/originated-from-crd", "training", new Set(["RayJob"])],
  ["ray.io/originated-from-crd", "inference", new Set(["RayService"])],
  ["trainer.kubeflow.org/trainjob-ancestor-step", "training"],
  ["training.kubeflow.org/job-name", "training"],
  ["jobset.sigs.k8s.io/jobset-name", "training"],
  ["volcano.sh/job-name", "training"],
  ["nvidia.com/dynamo-component-type", "inference"],
  ["nvidia.com/dynamo-component", "inference"],
  ["llm-d.ai/role", "inference"],
  ["app.kubernetes.io/name", "inference", ENGINES],
  ["app.kubernetes.io/name", "notebook", new Set(["jupyterhub", "jupyterlab"])],
  ["batch.kubernetes.io/job-name", "training"],
];

/** A workload's type and its source: a user's label, the kind of an owner, an operator's label, or none. */
export interface TypeFinding {
  readonly type: WorkloadType;
  /** The label or kind that determined the type, for explanations; empty if none did. */
  readonly by: string;
}

/**
 * Returns the type of a workload, from the first of: the overriding label of the pod or of the nearest owner; the highest owner whose kind
 * has one type; an operator's label; the usual type of the highest owner's kind; other. An overriding label with a value that is not one of
 * the four types is ignored.
 */
export function workloadType(
  facts: {
    readonly owners: readonly OwnerReference[];
    readonly labels: Labels;
    /** Labels and annotations of the pod, then of its owners. */
    readonly overrides: readonly Labels[];
  },
  kinds: OwnerKinds,
  typeLabels: readonly string[] = [TYPE_LABEL],
): TypeFinding {
  for (const labels of facts.overrides) {
    for (const label of typeLabels) {
      const word = labels[label];
      if (word !== undefined && isType(word)) return { type: word, by: label };
    }
  }
  const known = facts.owners.map((owner) => kinds.find(owner)).reverse();
  const made = known.find((kind) => kind?.type !== undefined && kind.generic !== true);
  if (made?.type !== undefined) return { type: made.type, by: made.kind };
  const found = TELLING.find(([label, , values]) => {
    const value = facts.labels[label];
    return value !== undefined && (values === undefined || values.has(value));
  });
  if (found !== undefined) return { type: found[1], by: found[0] };
  const mostly = known.find((kind) => kind?.type !== undefined);
  return mostly?.type === undefined ? { type: "other", by: "" } : { type: mostly.type, by: mostly.kind };
}

function isType(word: string): word is WorkloadType {
  return word === "training" || word === "inference" || word === "notebook" || word === "other";
}
