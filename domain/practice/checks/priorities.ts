import { sum } from "../../exact/units.ts";
import { affectedCluster, affectedWorkload, inTemplate } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeFacts, PracticeWorkload } from "../facts.ts";
import { groupBy } from "../../grouped.ts";

/** How much a new class is above the value that all have. */
const ABOVE = 1_000;
const RANKED = new Set(["inference", "training"]);

/** Inference and training without a priority. */
export const withoutPriorityClass = createCheck(
  {
    name: "no-priority-class",
    severity: "medium",
    title: "Inference and training without a PriorityClass",
    what: "A pod of inference or training names no PriorityClass and got none from a global default.",
    why: "When GPUs are short, the scheduler cannot prefer inference to training, and preempts nothing for it. Users wait while a sweep runs.",
    fix: (object) => {
      const { value: type } = object;
      const priority = type === "inference" ? 100_000 : 1_000;
      return `kubectl create priorityclass ${type} --value=${priority}   # once, if the class is missing
${inTemplate(object, `priorityClassName: ${type}`)}`;
    },
  },
  ({ workloads }) =>
    workloads
      .filter(({ type, pods }) => RANKED.has(type) && pods.some(({ priorityClass }) => priorityClass === undefined))
      .map((workload) => affectedWorkload(workload, { value: workload.type, detail: workload.type })),
);

/** Clusters in which inference is not preferred. */
export const samePriority = createCheck(
  {
    name: "same-priority",
    severity: "medium",
    title: "Inference and training with the same priority",
    what: "All pods of inference and of training in a cluster have PriorityClasses of the same value.",
    why: "The classes have no effect: inference cannot take a GPU from training.",
    fix: ({ name, value }) =>
      `kubectl create priorityclass above-training --value=${value}   # for inference, instead of ${name}`,
  },
  (facts) =>
    groupBy(facts.workloads, ({ cluster }) => [cluster]).flatMap((workloads) => {
      const [{ cluster }] = workloads;
      const inference = workloads.filter(({ type }) => type === "inference");
      const training = workloads.filter(({ type }) => type === "training");
      const [ofInference, ofTraining] = [valuesOf(facts, inference), valuesOf(facts, training)];
      const [value] = ofInference.values;
      const all = new Set([...ofInference.values, ...ofTraining.values]);
      if (ofInference.values.size === 0 || ofTraining.values.size === 0 || all.size > 1) return [];
      const cost = sum(inference.map(({ spend }) => spend.cost));
      const name = [...ofInference.names].sort().join(", ");
      return affectedCluster(
        cluster,
        { kind: "PriorityClass", name },
        {
          detail: `value ${value}`,
          value: String(value! + ABOVE),
          cost,
        },
      );
    }),
);

function valuesOf(facts: PracticeFacts, workloads: readonly PracticeWorkload[]) {
  const values = new Set<number>();
  const names = new Set<string>();
  for (const { cluster, pods } of workloads) {
    for (const { priorityClass } of pods) {
      const value = priorityClass === undefined ? undefined : facts.priorityOf(cluster, priorityClass);
      if (value === undefined) continue;
      values.add(value);
      names.add(priorityClass!);
    }
  }
  return { values, names };
}
