import { expect, it } from "vitest";
import { ruleGroups } from "../../alerts/generate.ts";
import { DEFAULT_ALERT_OPTIONS } from "../../alerts/options.ts";
import { inTurns } from "../../runtime/in-turns.ts";
import { parseDuration } from "../../runtime/config/quantity.ts";
import { requirePart } from "../support/parts.ts";
import { CASES } from "../support/rules/cases/all.ts";
import type { RuleCase } from "../support/rules/case.ts";
import { mutantsOf, type Mutant } from "../support/rules/mutants.ts";
import { failuresOf, rulesOf } from "../support/rules/promtool.ts";

const GROUPS = ruleGroups(DEFAULT_ALERT_OPTIONS);
const LEAST_SCORE = 0.95;
/** The quickest cases that read a rule are played in such portions, until one fails. */
const PORTIONS = [2, 6, 12];

it.skipIf(!(await requirePart("promtool")))(
  "changing a threshold, a duration or an operator of the rules makes a case fail",
  async () => {
    const readers = readersOfRules();
    const mutants = mutantsOf(GROUPS);
    const survivors: string[] = [];
    await inTurns(mutants, 2, async (mutant) => {
      if (!(await isKilled(mutant, readers.get(mutant.makes) ?? []))) survivors.push(mutant.what);
    });
    const score = 1 - survivors.length / mutants.length;
    const figures = `${mutants.length} mutants of the rules, ${survivors.length} survive: score ${(100 * score).toFixed(1)} %`;
    process.stdout.write(`${[figures, ...survivors].join("\n  ")}\n`);
    expect(score).toBeGreaterThanOrEqual(LEAST_SCORE);
  },
);

/** The cases that read each rule, the quickest first. */
function readersOfRules(): ReadonlyMap<string, readonly RuleCase[]> {
  const readers = new Map<string, { readonly each: RuleCase; readonly cost: number }[]>();
  for (const each of CASES) {
    const rules = rulesOf(GROUPS, each).flatMap((group) => group.rules);
    const end =
      Math.max(...each.expect.map(({ at }) => parseDuration(at) ?? 0)) / parseDuration(each.evaluate ?? "30s")!;
    for (const rule of rules) {
      const name = "record" in rule ? rule.record : rule.alert;
      readers.set(name, [...(readers.get(name) ?? []), { each, cost: end * rules.length }]);
    }
  }
  return new Map(
    [...readers].map(([name, all]) => [name, all.toSorted((a, b) => a.cost - b.cost).map(({ each }) => each)]),
  );
}

async function isKilled({ groups }: Mutant, cases: readonly RuleCase[]): Promise<boolean> {
  let from = 0;
  for (const portion of PORTIONS) {
    const some = cases.slice(from, from + portion);
    from += portion;
    if (some.length > 0 && (await failuresOf(groups, some)) !== "") return true;
  }
  return false;
}
