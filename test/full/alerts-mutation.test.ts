import { expect, it } from "vitest";
import { ruleGroups } from "../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../alerts/options.ts";
import { inTurns } from "../../runtime/in-turns.ts";
import { requirePart } from "../support/parts.ts";
import { CASES } from "../support/rules/cases/all.ts";
import type { RuleCase } from "../support/rules/case.ts";
import { rulesFor } from "../support/rules/closure.ts";
import { mutantsOf, type Mutant } from "../support/rules/mutants.ts";
import { asked, failuresOf } from "../support/rules/promtool.ts";

const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);
const LEAST_SCORE = 0.95;
/** So many cases are played at once; the first that fails is enough. */
const AT_ONCE = 4;

it.skipIf(!(await requirePart("promtool")))(
  "changing a threshold, a duration or an operator makes a case fail",
  async () => {
    const readers = new Map<string, RuleCase[]>();
    for (const each of CASES) {
      const rules = rulesFor(GROUPS, asked(each)).flatMap((group) => group.rules);
      for (const rule of rules) {
        const name = "record" in rule ? rule.record : rule.alert;
        readers.set(name, [...(readers.get(name) ?? []), each]);
      }
    }
    const mutants = mutantsOf(GROUPS);
    const survivors: string[] = [];
    await inTurns(mutants, 2, async (mutant) => {
      if (!(await isKilled(mutant, readers.get(mutant.makes) ?? []))) survivors.push(mutant.what);
    });
    const score = 1 - survivors.length / mutants.length;
    process.stdout.write(
      `${mutants.length} mutants, ${survivors.length} survive: score ${(100 * score).toFixed(1)} %\n${survivors.join("\n")}\n`,
    );
    expect(score).toBeGreaterThanOrEqual(LEAST_SCORE);
  },
);

async function isKilled({ groups }: Mutant, cases: readonly RuleCase[]): Promise<boolean> {
  for (let from = 0; from < cases.length; from += AT_ONCE) {
    if ((await failuresOf(groups, cases.slice(from, from + AT_ONCE))) !== "") return true;
  }
  return false;
}
