import { z } from "zod";
import type { Dimension } from "../../domain/owner/owner.ts";
import type { OwnerRule } from "../../domain/owner/rule.ts";
import { instant } from "./instant.ts";
import { list, text } from "./words.ts";

const ALLOWED =
  "one of { podLabel }, { podAnnotation }, { ownerLabel }, { namespaceLabel }, { namespace | queue | pool | workload, value, from, until }, each with a name or without";

const pattern = text("a name, a glob such as vision-*, or a regular expression between slashes");
const named = { name: text("the rule's name in explanations; default: its source").optional() };
const given = {
  ...named,
  value: text("the value of the rule"),
  from: instant.optional().describe("The start of the rule."),
  until: instant.optional().describe("The end of the rule (not included)."),
};

const sources = [
  z.strictObject({ podLabel: text("a label or annotation of pods"), ...named }),
  z.strictObject({ podAnnotation: text("an annotation of pods"), ...named }),
  z.strictObject({ ownerLabel: text("a label or annotation of the owners of pods"), ...named }),
  z.strictObject({ namespaceLabel: text("a label or annotation of namespaces"), ...named }),
  z.strictObject({ namespace: pattern, ...given }),
  z.strictObject({ queue: pattern, ...given }),
  z.strictObject({ pool: pattern, ...given }),
  z.strictObject({ workload: pattern, ...given }),
] as const;

/** The schema of a source of an owner, without an owners file. */
export const ownerRule = z.union(sources, { error: ALLOWED });

/** The schema of a source of an owner. `ownersFile: true` marks where in the list the owners file applies. */
export const ownerRuleOrFile = z.union([...sources, z.strictObject({ ownersFile: z.literal(true) })], {
  error: `${ALLOWED}, { ownersFile: true }`,
});

/** The label that each dimension is read from by default: of the pod, of its owner, of its namespace. */
const USUAL: Readonly<Record<Dimension, string>> = {
  team: "team",
  costCenter: "cost-center",
  project: "project",
  environment: "environment",
};

/** Returns the schema of the sources of every dimension, each a list of `rule`. A missing dimension is read from the usual label. */
export function ownerLists<Rule extends z.ZodType<OwnerRule>>(rule: Rule) {
  const of = (dimension: Dimension, what: string) => {
    const name = USUAL[dimension];
    return list(rule)
      .prefault([{ podLabel: name }, { ownerLabel: name }, { namespaceLabel: name }] as z.input<Rule>[])
      .describe(`Sources of a workload's ${what}. The first source with a value counts.`);
  };
  return z
    .strictObject({
      team: of("team", "team"),
      costCenter: of("costCenter", "cost center"),
      project: of("project", "project"),
      environment: of("environment", "environment"),
    })
    .prefault({});
}
