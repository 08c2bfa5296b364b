import type { RuleGroup } from "../../../alerts/model.ts";
import { parseDuration } from "../../../runtime/config/quantity.ts";
import { inTurns, slicesOf } from "../../../runtime/in-turns.ts";
import type { RuleCase } from "./case.ts";
import type { Mutant } from "./mutants.ts";
import { arePassed, askedOf, rulesOf, type Play } from "./promtool.ts";

/** So many more of its cases are played of each mutant that lives, round by round. */
const ROUNDS = [1, 1, 2, 6];
/** So many cases one process of promtool plays, and so many of them run at once. */
const PLAYS_OF_PROCESS = 32;
const PROCESSES = 2;

/** The cases that are not as expected on rules in which nothing was changed: with such a one a mutant's end says nothing. */
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

/** The cases that read each rule: those that ask for what it makes first, and of them the quickest. */
function readersOf(groups: readonly RuleGroup[], cases: readonly RuleCase[]): ReadonlyMap<string, readonly RuleCase[]> {
  const readers = new Map<string, { readonly each: RuleCase; readonly isAsked: boolean; readonly cost: number }[]>();
  for (const each of cases) {
    const rules = rulesOf(groups, each).flatMap((group) => group.rules);
    const asked = new Set(askedOf(each));
    const cost = evaluationsOf(each) * rules.reduce((sum, { expr }) => sum + expr.length, 0);
    for (const name of new Set(rules.map((rule) => ("record" in rule ? rule.record : rule.alert)))) {
      readers.set(name, [...(readers.get(name) ?? []), { each, isAsked: asked.has(name), cost }]);
    }
  }
  return new Map(
    [...readers].map(([name, all]) => [
      name,
      all.toSorted((a, b) => Number(b.isAsked) - Number(a.isAsked) || a.cost - b.cost).map(({ each }) => each),
    ]),
  );
}

function evaluationsOf({ expect, evaluate = "30s" }: RuleCase): number {
  return Math.max(...expect.map(({ at }) => parseDuration(at) ?? 0)) / parseDuration(evaluate)!;
}
