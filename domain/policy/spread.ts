import { add, compare, ZERO, type Rational } from "../exact/rational.ts";
import { split, type Weight } from "../exact/split.ts";
import { sum, type GpuHours, type Money } from "../exact/units.ts";
import type { CostKind } from "../price/book.ts";
import type { Payer, SpreadRule } from "./policy.ts";

/** A line as far as spreading looks at it. */
export interface PaidLine {
  /** Where it stands in its scope and window: lines of one key are spread over each other. */
  readonly scope: string;
  readonly payer: Payer;
  /** Of the holder, where the holder pays. */
  readonly team: string;
  readonly costCenter: string;
  readonly shareMillis: Rational;
  readonly gpuHours: GpuHours;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
}

/** A part of a line that was spread, and who pays it. */
export interface SpreadPart<Line> {
  readonly line: Line;
  readonly team: string;
  readonly costCenter: string;
  readonly gpuHours: GpuHours;
  readonly costs: Readonly<Record<CostKind, Money>> | undefined;
}

/** What became of the lines that were to be spread. */
export interface Spread<Line> {
  readonly parts: readonly SpreadPart<Line>[];
  /** Those that stay the platform's: nobody in their scope pays for anything, or they have no price. */
  readonly unspread: readonly { readonly line: Line; readonly because: "nobody" | "unpriced" }[];
  /** Scopes with holders that have no price: they cannot be weighed by cost, and nothing of theirs was spread. */
  readonly refused: readonly string[];
}

interface Weighed {
  readonly team: string;
  readonly costCenter: string;
  readonly weight: Weight;
}

/**
 * Spreads the lines whose payer is `spread` over those who hold in the same scope (ledger, "Policies"): by team and cost centre,
 * weighed by what holders pay for there. GPU-hours and every kind of cost move by the same weights, each by largest remainder,
 * so that the parts sum to the line. Lines that holders or the platform pay are left as they are.
 */
export function spreadLines<Line extends PaidLine>(lines: readonly Line[], by: SpreadRule["by"]): Spread<Line> {
  const byScope = new Map<string, Line[]>();
  for (const line of lines) {
    const scope = byScope.get(line.scope);
    if (scope === undefined) byScope.set(line.scope, [line]);
    else scope.push(line);
  }
  const parts: SpreadPart<Line>[] = [];
  const unspread: { line: Line; because: "nobody" | "unpriced" }[] = [];
  const refused: string[] = [];
  for (const [scope, all] of byScope) {
    const spreadable = all.filter(({ payer }) => payer === "spread");
    if (spreadable.length === 0) continue;
    const holders = all.filter(({ payer }) => payer === "holder");
    if (by === "cost" && holders.some(({ costs }) => costs === undefined)) {
      refused.push(scope);
      unspread.push(...spreadable.map((line) => ({ line, because: "unpriced" as const })));
      continue;
    }
    const weighed = weigh(holders, by);
    for (const line of spreadable) {
      const done = line.costs === undefined ? undefined : spreadLine(line, weighed);
      if (done !== undefined) parts.push(...done);
      else unspread.push({ line, because: line.costs === undefined ? "unpriced" : "nobody" });
    }
  }
  return { parts, unspread, refused };
}

/** Each team and cost centre that pays for anything, in the order of ties, with its weight. */
function weigh(holders: readonly PaidLine[], by: SpreadRule["by"]): readonly Weighed[] {
  const groups = new Map<string, PaidLine[]>();
  for (const line of holders) {
    const key = JSON.stringify([line.team, line.costCenter]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => {
      const { team, costCenter } = group[0]!;
      return { team, costCenter, weight: weightOf(group, by) };
    });
}

function weightOf(group: readonly PaidLine[], by: SpreadRule["by"]): Weight {
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
  const { list, contracted, effective } = line.costs;
  const costs = {
    list: split(list, weights)!,
    contracted: split(contracted, weights)!,
    effective: split(effective, weights)!,
  };
  return weighed.flatMap(({ team, costCenter }, index) => {
    const part = {
      line,
      team,
      costCenter,
      gpuHours: hours[index]!,
      costs: {
        list: costs.list[index]!,
        contracted: costs.contracted[index]!,
        effective: costs.effective[index]!,
      },
    };
    return part.gpuHours === 0n && part.costs.list === 0n && part.costs.effective === 0n ? [] : [part];
  });
}
