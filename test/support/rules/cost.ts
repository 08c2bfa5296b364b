import { parseDuration } from "../../../runtime/config/quantity.ts";
import type { RuleCase } from "./case.ts";
import type { Rule } from "./mutants.ts";

/** The cost that promtool's time grows with: evaluations of a case × characters of its rules' expressions; about 1 s for a million. */
export function costOf({ expect, evaluate = "30s" }: RuleCase, rules: Iterable<Rule>): number {
  const lastMillis = Math.max(...expect.map(({ at }) => parseDuration(at) ?? 0));
  const characters = [...rules].reduce((sum, { expr }) => sum + expr.length, 0);
  return (lastMillis / parseDuration(evaluate)!) * characters;
}
