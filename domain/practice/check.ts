import { lastUnits, sum, type Money } from "../exact/units.ts";
import type { ChargeState } from "../charge/charge.ts";
import type { PracticeFacts } from "./facts.ts";
import { groupBy } from "../grouped.ts";

/** How soon a finding should be mended. */
export type Severity = (typeof SEVERITIES)[number];

/** The severities, the most urgent first. */
export const SEVERITIES = ["high", "medium", "low"] as const;

/** An object that does not follow a practice. */
export interface Affected {
  readonly cluster: string;
  /** The team that owns the object; undefined if the object belongs to the whole cluster. */
  readonly team: string | undefined;
  readonly kind: string;
  /** Empty for an object without a namespace. */
  readonly namespace: string;
  readonly name: string;
  /** The finding about the object, in a few words. */
  readonly detail: string;
  /** The value that mends the object, for the fix of its check; empty if the fix needs none. */
  readonly value: string;
  /** The cost of the object, by which the objects of a finding are sorted if no money is at stake. */
  readonly cost: Money;
  /** The part of the cost that the practice wastes or can lose; absent if the charges do not show one. */
  readonly atStake?: Money | undefined;
  readonly exempt: ReadonlySet<string>;
}

/** The name of an object, and the value that mends it. */
export type FixOf = Pick<Affected, "kind" | "namespace" | "name" | "value">;

/** An object of a finding. */
export type FoundObject = Pick<Affected, "kind" | "namespace" | "name" | "detail" | "atStake">;

/** The objects of one team, or of the whole cluster, that do not follow a practice. */
export interface Finding {
  readonly check: string;
  readonly severity: Severity;
  readonly title: string;
  readonly cluster: string;
  /** Undefined if the objects belong to the whole cluster. */
  readonly team: string | undefined;
  /** The objects with the most money at stake, or else with the highest cost, at most {@link MOST_OBJECTS}. */
  readonly objects: readonly FoundObject[];
  /** The number of all objects. */
  readonly count: number;
  /** The money at stake of all objects, over the days of the practices; undefined for a check of which the charges show none. */
  readonly atStake: Money | undefined;
  /** Commands or lines of manifests that mend the first objects. */
  readonly fixes: readonly string[];
}

/** The description of a check, from which its page is written. */
export interface CheckText {
  /** The name in the configuration, in exemptions and in metrics. */
  readonly name: string;
  readonly severity: Severity;
  /** The problem, as the title of a finding. */
  readonly title: string;
  /** The exact condition of the check. */
  readonly what: string;
  /** The reason why that is a problem. */
  readonly why: string;
  /** The meaning of the money at stake: charges for GPUs without work, or work that would be lost. Absent if the charges do not show any. */
  readonly amount?: string;
  /** The states whose charges are the money at stake, or have it as a part; all if absent. */
  readonly states?: readonly ChargeState[];
  /** Returns a command or lines of a manifest that mend an object. */
  readonly fix: (object: FixOf) => string;
}

/** A check of a practice. */
export interface Check extends CheckText {
  readonly check: (facts: PracticeFacts) => readonly Finding[];
}

/** The most objects that a finding names. */
export const MOST_OBJECTS = 20;
/** The most objects that a finding mends by name. */
const MOST_FIXES = 5;

/** Creates a check from its text and from a function that returns the affected objects. Exempt objects are left out. */
export function createCheck(text: CheckText, affectedIn: (facts: PracticeFacts) => readonly Affected[]): Check {
  return {
    ...text,
    check(facts) {
      const affected = affectedIn(facts).filter(({ exempt }) => !exempt.has(text.name));
      return groupBy(affected, ({ cluster, team }) => [cluster, team]).map((objects) => findingOf(text, objects));
    },
  };
}

function findingOf(
  { name: check, severity, title, amount, fix }: CheckText,
  affected: readonly [Affected, ...Affected[]],
): Finding {
  const [first] = affected;
  const highest = highestOf(affected);
  return {
    check,
    severity,
    title,
    cluster: first.cluster,
    team: first.team,
    objects: highest.map(({ kind, namespace, name, detail, atStake }) => ({ kind, namespace, name, detail, atStake })),
    count: affected.length,
    atStake: amount === undefined ? undefined : sum(affected.map(({ atStake }) => atStake ?? lastUnits(0n))),
    fixes: [...new Set(highest.slice(0, MOST_FIXES).map(fix))],
  };
}

/** Returns the {@link MOST_OBJECTS} objects with the most money, highest first. A fleet has ten thousand objects, so not all are sorted. */
function highestOf(affected: readonly Affected[]): readonly Affected[] {
  const highest: Affected[] = [];
  for (const object of affected) {
    if (highest.length === MOST_OBJECTS && byMoney(highest.at(-1)!, object) <= 0) continue;
    const place = highest.findIndex((other) => byMoney(object, other) < 0);
    highest.splice(place === -1 ? highest.length : place, 0, object);
    if (highest.length > MOST_OBJECTS) highest.pop();
  }
  return highest;
}

function byMoney(a: Affected, b: Affected): number {
  const [one, other] = [a.atStake ?? a.cost, b.atStake ?? b.cost];
  if (one !== other) return one < other ? 1 : -1;
  return byName(a, b);
}

function byName(a: Affected, b: Affected): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Returns a part of an amount, rounded down to the last unit. The part is from 0 to 1. */
export function partOf(amount: Money, part: number): Money {
  const PARTS = 1_000_000;
  return lastUnits((amount * BigInt(Math.round(part * PARTS))) / BigInt(PARTS));
}
