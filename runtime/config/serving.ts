import { z } from "zod";
import { DEFAULT_SERVING, MOST_TENANTS, TOKEN_WEIGHTS, type ServingRules } from "../../domain/serving/rules.ts";
import { SPLIT_RULES } from "../../domain/serving/split-rule.ts";
import { list, oneOf, text, whole } from "./words.ts";

const weight = whole(0, 1000);

/** The schema of the key `serving`. */
export const serving = z
  .strictObject({
    rules: list(oneOf(...SPLIT_RULES))
      .min(1, { error: "at least one rule" })
      .refine((rules) => new Set(rules).size === rules.length, { error: "each rule once" })
      .default(DEFAULT_SERVING.rules.map(({ rule }) => rule))
      .describe(
        "The rules that split the cost of busy engines over prefill and decode. Reports show the first one by default.",
      ),
    weights: z
      .strictObject({ computed: weight, generated: weight })
      .refine(({ computed, generated }) => computed + generated > 0, { error: "at least one weight above 0" })
      .default(TOKEN_WEIGHTS)
      .describe("The weights of a computed and of a generated token, for the rule `weights`."),
    tenants: whole(1, 10_000)
      .default(MOST_TENANTS)
      .describe("The most tenants of a model in an hour. The tenant `other` has those with the fewest tokens."),
    models: z
      .record(
        text("a gateway's name of a model"),
        z.strictObject({ model: text("an engine's name of a model"), adapter: text("an adapter").optional() }),
        { error: "names of models with the engines' models" },
      )
      .default({})
      .describe("The engines' models and adapters behind the names that gateways use, if the names differ."),
  })
  .prefault({})
  .describe("The cost of inference. See docs/serving.md.");

/** Returns the rules of a configuration. */
export function servingOf({ rules, weights, tenants, models }: z.output<typeof serving>): ServingRules {
  const [first, ...others] = rules.map((rule) => ({ rule, tokens: weights, mostTenants: tenants }));
  return {
    rules: [first!, ...others],
    models: new Map(Object.entries(models).map(([name, { model, adapter = "" }]) => [name, { model, adapter }])),
  };
}
