import type { RuleGroup } from "../../../alerts/model.ts";
import { inTurns, slicesOf } from "../../../runtime/in-turns.ts";
import type { Expectation, RuleCase } from "./case.ts";
import { costOf } from "./cost.ts";
import { nameOf, type Mutant, type Rule } from "./mutants.ts";
import { arePassed, askedOf, rulesOf, type Play } from "./promtool.ts";

/** So many more of its cases are played of each mutant that lives, round by round. */
const ROUNDS = [1, 1, 2, 6];
/** So many cases one process of promtool plays, and so many of them run at once. */
const PLAYS_OF_PROCESS = 32;
const PROCESSES = 2;

/** The cases that are not as expected on these rules. */
export async function failingCases(
  groups: readonly RuleGroup[],
  cases: readonly RuleCase[],
): Promise<readonly RuleCase[]> {
  return (await failingPlays(cases.map((each) => ({ groups, each })))).map(({ each }) => each);
}

/** The mutants that no case tells from the rules as they are. Of each the cases that read what it changed are played. */
export async function survivorsOf(
  groups: readonly RuleGroup[],
  cases: readonly RuleCase[],
  mutants: readonly Mutant[],
): Promise<readonly Mutant[]> {
  const readers = readersOf(groups, cases);
  let alive = mutants;
  let from = 0;
  for (const count of ROUNDS) {
    const plays = alive.flatMap((mutant) =>
      (readers.get(mutant.makes) ?? [])
        .slice(from, from + count)
        .map((each) => ({ mutant, groups: mutant.groups, each })),
    );
    const killed = new Set((await failingPlays(plays)).map(({ mutant }) => mutant));
    alive = alive.filter((mutant) => !killed.has(mutant));
    from += count;
  }
  return alive;
}

async function failingPlays<P extends Play>(plays: readonly P[]): Promise<readonly P[]> {
  const failing: P[] = [];
  await inTurns(slicesOf(plays, PLAYS_OF_PROCESS), PROCESSES, async (some) => {
    const isPassed = await arePassed(some);
    failing.push(...some.filter((_, index) => !isPassed[index]));
  });
  return failing;
}

/**
 * What of each case reads each rule: a case that asks for every alert is played for the few that a rule has a part in. Those that
 * ask for what the rule makes come first, and of them the quickest.
 */
function readersOf(groups: readonly RuleGroup[], cases: readonly RuleCase[]): ReadonlyMap<string, readonly RuleCase[]> {
  const readers = new Map<string, { readonly each: RuleCase; readonly isAsked: boolean; readonly cost: number }[]>();
  for (const whole of cases) {
    for (const [name, { expect, rules }] of readingParts(groups, whole)) {
      const each = { ...whole, expect };
      const isAsked = askedOf(each).includes(name);
      const cost = costOf(each, rules);
      readers.set(name, [...(readers.get(name) ?? []), { each, isAsked, cost }]);
    }
  }
  return new Map(
    [...readers].map(([name, all]) => [
      name,
      all.toSorted((a, b) => Number(b.isAsked) - Number(a.isAsked) || a.cost - b.cost).map(({ each }) => each),
    ]),
  );
}

interface ReadingPart {
  readonly expect: Expectation[];
  readonly rules: Set<Rule>;
}

/** For each rule that a case reads, by the name of what it makes: the expectations that rest on it, with all that these read. */
function readingParts(groups: readonly RuleGroup[], each: RuleCase): ReadonlyMap<string, ReadingPart> {
  const parts = new Map<string, ReadingPart>();
  const rulesBehind = new Map<string, readonly Rule[]>();
  for (const expectation of each.expect) {
    const alone = { ...each, expect: [expectation] };
    const asked = askedOf(alone).join(" ");
    const rules = rulesBehind.get(asked) ?? rulesOf(groups, alone).flatMap((group) => group.rules);
    rulesBehind.set(asked, rules);
    for (const name of new Set(rules.map(nameOf))) {
      const part = parts.get(name) ?? { expect: [], rules: new Set() };
      parts.set(name, part);
      part.expect.push(expectation);
      for (const rule of rules) part.rules.add(rule);
    }
  }
  return parts;
}
