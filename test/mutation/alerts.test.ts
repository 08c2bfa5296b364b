import { expect, it } from "vitest";
import { ruleGroups } from "../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../alerts/options.ts";
import { readChecked } from "../long-tests/tests.ts";
import { requirePart } from "../support/parts.ts";
import { CASES } from "../support/rules/cases/all.ts";
import { equivalenceOf } from "../support/rules/equivalents.ts";
import { mutantsOf, mutantText } from "../support/rules/mutants.ts";
import { failingCases, survivorsOf } from "../support/rules/mutation.ts";
import { failureOf } from "../support/rules/promtool.ts";
import { openVerdicts } from "../support/rules/verdicts.ts";

const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);
const LEAST_SCORE = 0.95;

it.skipIf(!requirePart("promtool"))(
  "changing a threshold, a duration or an operator of the rules makes a case fail",
  async () => {
    const isAnew = process.env["ALERTS"] === "anew";
    const verdicts = openVerdicts({ isAnew, turn: readChecked().turn });
    // A case that fails on unchanged rules proves nothing about a mutant.
    for (const each of await failingCases(GROUPS, CASES, verdicts))
      expect({ name: each.name, failure: await failureOf({ groups: GROUPS, each }) }).toMatchObject({ failure: "" });

    const mutants = mutantsOf(GROUPS);
    const survivors = await survivorsOf(GROUPS, CASES, mutants, verdicts);
    if (isAnew) verdicts.save();
    const equivalents = mutants.filter((mutant) => equivalenceOf(mutant) !== undefined);
    const missed = survivors.filter((mutant) => !equivalents.includes(mutant));
    const score = 1 - survivors.length / mutants.length;
    const scoreOfOthers = 1 - missed.length / (mutants.length - equivalents.length);
    process.stdout.write(
      `${[
        `${mutants.length} mutants of the rules, ${survivors.length} survive: score ${percent(score)}`,
        `without ${equivalents.length} that change no answer: score ${percent(scoreOfOthers)}`,
        ...missed.map((mutant) => `  ${mutantText(mutant)}`),
      ].join("\n")}\n`,
    );
    expect(equivalents.filter((mutant) => !survivors.includes(mutant)).map(mutantText)).toEqual([]);
    expect(scoreOfOthers).toBeGreaterThanOrEqual(LEAST_SCORE);
  },
);

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}
