import { add, compare, ZERO, type Rational } from "../exact/rational.ts";
import { split, type Weight } from "../exact/split.ts";
import { sum, type Carbon, type GpuHours, type Money } from "../exact/units.ts";
import type { CostKind } from "../price/book.ts";
import type { Payer, SpreadRule } from "./policy.ts";

/** The ways to weigh holders by what they hold. */
export type HolderWeight = Exclude<SpreadRule["by"], "quota">;

/** Returns the weight of holders for a spread without quotas. A policy by quota spreads by cost what it adds at the close. */
export function holderWeightOf({ by }: Pick<SpreadRule, "by">): HolderWeight {
  return by === "quota" ? "cost" : by;
}

/** The amounts that move when a line is spread. */
export interface Moved {
  readonly gpuHours: GpuHours;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
  readonly power?: Money | undefined;
  readonly millijoules?: bigint | undefined;
  readonly carbon?: Carbon | undefined;
}

/** The fields of a line that spreading reads. */
export interface PaidLine extends Moved {
  /** The key of the line's scope and window. Lines with the same key are spread over each other. */
  readonly scope: string;
  readonly payer: Payer;
  /** The holder's team, if the holder pays. */
  readonly team: string;
  readonly costCenter: string;
  readonly shareMillis: Rational;
}

/** A part of a spread line, and its payer. */
export interface SpreadPart<Line> extends Moved {
  readonly line: Line;
  readonly team: string;
  readonly costCenter: string;
}

/** The result of a spread. */
export interface Spread<Line> {
  readonly parts: readonly SpreadPart<Line>[];
  /** Lines that were not spread: no holder in their scope pays for anything, or the line or a holder has no price. */
  readonly unspread: readonly { readonly line: Line; readonly because: "nobody" | "unpriced" }[];
  /** Scopes whose holders have no price. They cannot be weighted by cost, and none of their lines were spread. */
  readonly refused: readonly string[];
}

/** The weight of a team and cost center in a scope. */
export interface Weighed {
  readonly team: string;
  readonly costCenter: string;
  readonly weight: Weight;
}

/** The payers of the spread costs in a scope. */
export interface ScopeWeights {
  /** Each team and cost center that pays for anything in the scope, in the order for ties. */
  readonly weighed: readonly Weighed[];
  /** Holders in the scope have no price, so they cannot be weighted by cost and nothing is spread. */
  readonly isRefused: boolean;
}

/** The weights of scopes, by scope key. In a scope that is missing, no holder pays for anything. */
export type Weights = ReadonlyMap<string, ScopeWeights>;

/**
 * Spreads the lines whose payer is `spread` over the holders in the same scope (docs/policies.md), by team and cost center, weighted by
 * what the holders pay for there. GPU-hours, every kind of cost, energy and carbon use the same weights. Each is split by largest
 * remainder, so the parts sum to the line. Lines of holders and of the platform do not change.
 */
export function spreadLines<Line extends PaidLine>(lines: readonly Line[], by: HolderWeight): Spread<Line> {
  return spreadByWeights(lines, weightsOf(lines, by));
}

/** Returns the weights of every scope with a line to spread, from all of its lines. */
function weightsOf(lines: readonly PaidLine[], by: HolderWeight): Weights {
  const spread = new Set(lines.flatMap(({ payer, scope }) => (payer === "spread" ? [scope] : [])));
  const holders = new Map<string, PaidLine[]>();
  for (const line of lines) {
    if (line.payer !== "holder" || !spread.has(line.scope)) continue;
    const scope = holders.get(line.scope);
    if (scope === undefined) holders.set(line.scope, [line]);
    else scope.push(line);
  }
  return new Map(
    [...holders].map(([scope, all]) => {
      const isRefused = by === "cost" && all.some(({ costs }) => costs === undefined);
      return [scope, { weighed: isRefused ? [] : weigh(all, by), isRefused }];
    }),
  );
}

/** Spreads the lines whose payer is `spread` by known weights: the weights of a closed period do not change. */
export function spreadByWeights<Line extends PaidLine>(lines: readonly Line[], weights: Weights): Spread<Line> {
  const parts: SpreadPart<Line>[] = [];
  const unspread: { line: Line; because: "nobody" | "unpriced" }[] = [];
  const refused = new Set<string>();
  for (const line of lines) {
    if (line.payer !== "spread") continue;
    const scope = weights.get(line.scope);
    if (scope?.isRefused === true) refused.add(line.scope);
    const isUnpriced = line.costs === undefined || scope?.isRefused === true;
    const done = isUnpriced ? undefined : spreadLine(line, scope?.weighed ?? []);
    if (done !== undefined) parts.push(...done);
    else unspread.push({ line, because: isUnpriced ? "unpriced" : "nobody" });
  }
  return { parts, unspread, refused: [...refused] };
}

/** Returns each team and cost center that pays for anything, with its weight, in the order for ties. */
function weigh(holders: readonly PaidLine[], by: HolderWeight): readonly Weighed[] {
  const groups = new Map<string, PaidLine[]>();
  for (const line of holders) {
    const key = JSON.stringify([line.team, line.costCenter]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
  }
  const weighed = [...groups.values()].map((group) => {
    const { team, costCenter } = group[0]!;
    return { team, costCenter, weight: weightOf(group, by) };
  });
  return inOrder(weighed);
}

/** Sorts teams and cost centers in the order for ties. */
export function inOrder<Payer extends Pick<Weighed, "team" | "costCenter">>(
  payers: readonly Payer[],
): readonly Payer[] {
  const keyed = payers.map((payer) => ({ payer, key: JSON.stringify([payer.team, payer.costCenter]) }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ payer }) => payer);
}

function weightOf(group: readonly PaidLine[], by: HolderWeight): Weight {
  switch (by) {
    case "cost":
      return sum(group.map(({ costs }) => costs!.effective));
    case "time":
      return group.reduce((total, { shareMillis }) => add(total, shareMillis), ZERO);
    case "even":
      return group.some(({ shareMillis }) => compare(shareMillis, ZERO) > 0) ? 1 : 0;
  }
}

function spreadLine<Line extends PaidLine>(
  line: Line,
  weighed: readonly Weighed[],
): readonly SpreadPart<Line>[] | undefined {
  const weights = weighed.map(({ weight }) => weight);
  const hours = split(line.gpuHours, weights);
  if (hours === undefined || line.costs === undefined) return undefined;
  const divided = <Count extends bigint>(amount: Count | undefined): readonly Count[] | undefined =>
    amount === undefined ? undefined : split(amount, weights);
  const list = divided(line.costs.list)!;
  const contracted = divided(line.costs.contracted)!;
  const effective = divided(line.costs.effective)!;
  const power = divided(line.power);
  const millijoules = divided(line.millijoules);
  const carbon = divided(line.carbon);
  return weighed.flatMap(({ team, costCenter }, index) => {
    const amounts = [hours, list, contracted, effective, power, millijoules, carbon];
    if (amounts.every((parts) => (parts?.[index] ?? 0n) === 0n)) return [];
    return [
      {
        line,
        team,
        costCenter,
        gpuHours: hours[index]!,
        costs: { list: list[index]!, contracted: contracted[index]!, effective: effective[index]! },
        power: power?.[index],
        millijoules: millijoules?.[index],
        carbon: carbon?.[index],
      },
    ];
  });
}
