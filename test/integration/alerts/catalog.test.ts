import { describe, expect, it } from "vitest";
import { ruleGroups } from "../../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../../alerts/options.ts";
import { requirePart } from "../../support/parts.ts";
import { CASES } from "../../support/rules/cases/all.ts";
import { failureOf } from "../../support/rules/promtool.ts";

const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);

describe.skipIf(!(await requirePart("promtool")))("the alerts, on Prometheus' own evaluation", () => {
  it.each(CASES)("$name", async (each) => {
    expect(await failureOf({ groups: GROUPS, each })).toBe("");
  });
});
