import { add, compare, ZERO, type Rational } from "../exact/rational.ts";
import { split, type Weight } from "../exact/split.ts";
import { sum, type Carbon, type GpuHours, type Money } from "../exact/units.ts";
import type { CostKind } from "../price/book.ts";
import type { Payer, SpreadRule } from "./policy.ts";

/** What weighs holders by what they hold. */
export type HolderWeight = Exclude<SpreadRule["by"], "quota">;

/** By what holders weigh where nothing of quotas is to be spread: what a policy by quota adds at the close is spread by cost. */
export function holderWeightOf({ by }: Pick<SpreadRule, "by">): HolderWeight {
  return by === "quota" ? "cost" : by;
}

/** What moves when a line is spread. */
export interface Moved {
  readonly gpuHours: GpuHours;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
  readonly power?: Money | undefined;
  readonly millijoules?: bigint | undefined;
  readonly carbon?: Carbon | undefined;
}

/** A line as far as spreading looks at it. */
export interface PaidLine extends Moved {
  /** Where it stands in its scope and window: lines of one key are spread over each other. */
  readonly scope: string;
  readonly payer: Payer;
  /** Of the holder, where the holder pays. */
  readonly team: string;
  readonly costCenter: string;
  readonly shareMillis: Rational;
}

/** A part of a line that was spread, and who pays it. */
export interface SpreadPart<Line> extends Moved {
  readonly line: Line;
  readonly team: string;
  readonly costCenter: string;
}

/** What became of the lines that were to be spread. */
export interface Spread<Line> {
  readonly parts: readonly SpreadPart<Line>[];
  /** Those that stay the platform's: nobody in their scope pays for anything, or they have no price. */
  readonly unspread: readonly { readonly line: Line; readonly because: "nobody" | "unpriced" }[];
  /** Scopes with holders that have no price: they cannot be weighed by cost, and nothing of theirs was spread. */
  readonly refused: readonly string[];
}

/** What a team and cost centre weighs in a scope. */
export interface Weighed {
  readonly team: string;
  readonly costCenter: string;
  readonly weight: Weight;
}

/** By whom what is to be spread in a scope is borne. */
export interface ScopeWeights {
  /** Each team and cost centre that pays for anything there, in the order of ties. */
  readonly weighed: readonly Weighed[];
  /** Holders there have no price, so that they cannot be weighed by cost: nothing is spread. */
  readonly isRefused: boolean;
}

/** The weights of scopes, by their keys; where a scope is not among them, nobody pays for anything. */
export type Weights = ReadonlyMap<string, ScopeWeights>;

/**
 * Spreads the lines whose payer is `spread` over those who hold in the same scope (ledger, "Policies"): by team and cost centre,
 * weighed by what holders pay for there. GPU-hours, every kind of cost, energy and carbon move by the same weights, each by largest
 * remainder, so that the parts sum to the line. Lines that holders or the platform pay are left as they are.
 */
export function spreadLines<Line extends PaidLine>(lines: readonly Line[], by: HolderWeight): Spread<Line> {
  return spreadByWeights(lines, weightsOf(lines, by));
}

/** The weights of every scope in which something is to be spread, from all of its lines. */
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

/** Spreads the lines whose payer is `spread` by weights that are known: those of a period that was closed stay as they were. */
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

/** Each team and cost centre that pays for anything, in the order of ties, with its weight. */
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

/** Teams and cost centres in the order of ties. */
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
