import type { RuleGroup } from "../../../alerts/model.ts";
import { inTurns, slicesOf } from "../../../runtime/in-turns.ts";
import type { Expectation, RuleCase } from "./case.ts";
import { costOf } from "./cost.ts";
import { nameOf, type Mutant, type Rule } from "./mutants.ts";
import { arePassed, askedOf, filesOf, rulesOf, type PlayFiles } from "./promtool.ts";
import type { Verdicts } from "./verdicts.ts";

/** The number of further cases that are played in each round for a mutant that has survived so far. */
const ROUNDS = [1, 1, 2, 6];
/** The number of cases in one process of promtool, and the number of processes at once. */
const PLAYS_OF_PROCESS = 32;
const PROCESSES = 2;

/** The cases that fail on these rules, by the recorded verdicts where they exist. */
export async function failingCases(
  groups: readonly RuleGroup[],
  cases: readonly RuleCase[],
  verdicts?: Verdicts,
): Promise<readonly RuleCase[]> {
  const plays = cases.map((each) => ({ each, files: filesOf({ groups, each }) }));
  return (await failingPlays(plays, verdicts)).map(({ each }) => each);
}

/**
 * The surviving mutants: each case has the same verdict on them as on the unchanged rules. Each mutant is played with the cases that read the changed
 * rule. A recorded verdict replaces a play.
 */
export async function survivorsOf(
  groups: readonly RuleGroup[],
  cases: readonly RuleCase[],
  mutants: readonly Mutant[],
  verdicts: Verdicts,
): Promise<readonly Mutant[]> {
  const readers = readersOf(groups, cases);
  let alive = mutants;
  let from = 0;
  for (const count of ROUNDS) {
    const plays = alive.flatMap((mutant) =>
      (readers.get(mutant.makes) ?? [])
        .slice(from, from + count)
        .map((each) => ({ mutant, files: filesOf({ groups: mutant.groups, each }) })),
    );
    const killed = new Set((await failingPlays(plays, verdicts)).map(({ mutant }) => mutant));
    alive = alive.filter((mutant) => !killed.has(mutant));
    from += count;
  }
  return alive;
}

async function failingPlays<P extends { readonly files: PlayFiles }>(
  plays: readonly P[],
  verdicts?: Verdicts,
): Promise<readonly P[]> {
  const isPassed = plays.map(({ files }) => verdicts?.of(files));
  const isDue = (index: number): boolean => verdicts?.isDue(plays[index]!.files) ?? false;
  const asked = [...plays.keys()].filter((index) => isPassed[index] === undefined || isDue(index));
  await inTurns(slicesOf(asked, PLAYS_OF_PROCESS), PROCESSES, async (some) => {
    const found = await arePassed(some.map((index) => plays[index]!.files));
    for (const [turn, index] of some.entries()) {
      if (isPassed[index] === !found[turn]) throw new Error("a recorded verdict is wrong: run npm run test:alerts");
      isPassed[index] = found[turn];
      verdicts?.add(plays[index]!.files, found[turn]!);
    }
  });
  return plays.filter((_, index) => isPassed[index] === false);
}

/**
 * The parts of the cases that read each rule. A case that asks for every alert is played only for those alerts that read the rule. Cases that ask for
 * the rule's own result come first, and the quickest of these before the others.
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

/** For each rule that a case reads, by the name of its result: the expectations that depend on it, with everything that they read. */
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
