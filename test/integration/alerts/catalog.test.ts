import { beforeAll, describe, expect, it } from "vitest";
import { ruleGroups } from "../../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { requirePart } from "../../support/parts.ts";
import { CASES } from "../../support/rules/cases/all.ts";
import { CALM_CASES } from "../../support/rules/cases/calm.ts";
import type { RuleCase } from "../../support/rules/case.ts";
import { costOf } from "../../support/rules/cost.ts";
import { failingCases } from "../../support/rules/mutation.ts";
import { failureOf, rulesOf } from "../../support/rules/promtool.ts";

const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);

/** The answers that a case expects: for each alert of the case, whether the alert fires. */
const answersOf = ({ expect: all }: RuleCase): readonly string[] =>
  all.flatMap((each) => ("alert" in each ? [`${each.alert} ${each.firing.length > 0 ? "fires" : "is silent"}`] : []));

/**
 * For each alert the cheapest case in which it fires and the cheapest in which it is silent, and one case in which nothing is wrong, evaluated
 * less often. The mutation test plays all cases.
 */
function quickCases(): readonly RuleCase[] {
  const costs = CASES.map((each) => ({
    each,
    cost: costOf(
      each,
      rulesOf(GROUPS, each).flatMap(({ rules }) => rules),
    ),
  }));
  const answered = new Set<string>();
  const quick = costs
    .toSorted((a, b) => a.cost - b.cost)
    .filter(({ each }) => {
      const answers = answersOf(each);
      const isNeeded = answers.some((answer) => !answered.has(answer));
      if (isNeeded) for (const answer of answers) answered.add(answer);
      return isNeeded;
    });
  return [{ ...CALM_CASES[0]!, evaluate: "3m" }, ...quick.map(({ each }) => each)];
}

const QUICK_CASES = quickCases();

describe.skipIf(!requirePart("promtool"))("the alerts, evaluated by Prometheus", () => {
  let failing: readonly RuleCase[];
  beforeAll(async () => {
    failing = await failingCases(GROUPS, QUICK_CASES);
  });

  it.each(QUICK_CASES)("$name", async (each) => {
    expect(failing.includes(each) ? await failureOf({ groups: GROUPS, each }) : "").toBe("");
  });

  it("have a quick case each in which they fire, and one in which they are silent", () => {
    const alerts = GROUPS.flatMap(({ rules }) => rules.flatMap((rule) => ("alert" in rule ? [rule.alert] : [])));
    const wanted = alerts.flatMap((alert) => [`${alert} fires`, `${alert} is silent`]);
    expect(new Set(QUICK_CASES.flatMap(answersOf))).toEqual(new Set(wanted));
  });
});
