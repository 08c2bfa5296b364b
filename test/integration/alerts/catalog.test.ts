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
const QUICK_COST = 2_000_000;

/** The cases that cost little, and one in which nothing is wrong, evaluated less often. The mutation test plays all cases. */
const QUICK_CASES = [
  { ...CALM_CASES[0]!, evaluate: "3m" },
  ...CASES.filter(
    (each) =>
      costOf(
        each,
        rulesOf(GROUPS, each).flatMap(({ rules }) => rules),
      ) < QUICK_COST,
  ),
];

describe.skipIf(!requirePart("promtool"))("the alerts, on Prometheus' own evaluation", () => {
  let failing: readonly RuleCase[];
  beforeAll(async () => {
    failing = await failingCases(GROUPS, QUICK_CASES);
  });

  it.each(QUICK_CASES)("$name", async (each) => {
    expect(failing.includes(each) ? await failureOf({ groups: GROUPS, each }) : "").toBe("");
  });

  it("have each a quick case in which they fire, and one in which they do not", () => {
    const asked = QUICK_CASES.flatMap(({ expect: all }) => all.flatMap((each) => ("alert" in each ? [each] : [])));
    const alertsThat = (fire: boolean): ReadonlySet<string> =>
      new Set(asked.filter(({ firing }) => firing.length > 0 === fire).map(({ alert }) => alert));
    const alerts = new Set(
      GROUPS.flatMap(({ rules }) => rules.flatMap((rule) => ("alert" in rule ? [rule.alert] : []))),
    );
    expect(alertsThat(true)).toEqual(alerts);
    expect(alertsThat(false)).toEqual(alerts);
  });
});
