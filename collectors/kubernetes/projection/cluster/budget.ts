import type { ClusterFactBodies, LabelRequirement } from "../../../../domain/cluster-fact.ts";
import type { DisruptionBudgetObject } from "../cluster-object.ts";
import { given, objects, text, texts } from "../wire.ts";

type Budget = ClusterFactBodies["PodDisruptionBudget"];

/** The largest selector that is read. Real selectors have a few requirements. */
const MOST_REQUIREMENTS = 20;
const MOST_VALUES = 50;
const OPERATORS = new Set<string>(["In", "NotIn", "Exists", "DoesNotExist"]);

/**
 * Reads a PodDisruptionBudget. In `policy/v1` an empty selector selects every pod of the namespace, and a missing one selects none
 * (https://kubernetes.io/docs/tasks/run-application/configure-pdb/). A selector that is too large or not understood counts as a missing
 * one.
 */
export function readBudget({ spec }: DisruptionBudgetObject): Budget {
  return given({
    minAvailable: written(spec?.minAvailable),
    maxUnavailable: written(spec?.maxUnavailable),
    selector: spec?.selector === undefined || spec.selector === null ? undefined : readSelector(spec.selector),
  });
}

/** Returns whether a budget selects a pod with these labels. */
export function selects({ selector }: Budget, labels: Readonly<Record<string, string>>): boolean {
  return selector?.every((requirement) => meets(requirement, labels)) === true;
}

function readSelector(
  selector: NonNullable<NonNullable<DisruptionBudgetObject["spec"]>["selector"]>,
): readonly LabelRequirement[] | undefined {
  const equal = Object.entries(texts(selector.matchLabels)).map(([key, value]): LabelRequirement => ({
    key,
    operator: "In",
    values: [value],
  }));
  const others = objects(selector.matchExpressions);
  if (equal.length + others.length > MOST_REQUIREMENTS) return undefined;
  const read = others.map(({ key, operator, values }): LabelRequirement | undefined => {
    const listed = Array.isArray(values) ? values.flatMap((value: unknown) => text(value) ?? []) : [];
    if (text(key) === undefined || operator === undefined || !OPERATORS.has(operator)) return undefined;
    return listed.length > MOST_VALUES
      ? undefined
      : { key: key!, operator: operator as LabelRequirement["operator"], values: listed };
  });
  return read.includes(undefined) ? undefined : [...equal, ...read.filter((each) => each !== undefined)];
}

function meets({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

function written(value: unknown): string | undefined {
  return typeof value === "number" ? String(value) : text(value);
}
