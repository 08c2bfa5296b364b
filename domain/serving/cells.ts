import { add, multiply, rational, ZERO, type Rational } from "../exact/rational.ts";
import type { Replica, ServingTarget } from "./service.ts";
import {
  phaseWeights,
  type BusyPhase,
  type Phase,
  type SplitBasis,
  type SplitRule,
  type TokenWeights,
} from "./split-rule.ts";
import type { ModelWork } from "./work.ts";

/** A part of a replica's cost: the phase of a model, with its share. The shares of a replica's cells sum to 1. */
export interface Cell {
  readonly model: string;
  readonly phase: Phase;
  readonly basis: SplitBasis;
  readonly share: Rational;
}

/** The rule of a split. */
export interface CellRule {
  readonly rule: SplitRule;
  readonly tokens: TokenWeights;
}

/**
 * Returns the cells of a replica, without its time before it served. The pages of a pod have equal parts. The time of a page is split into
 * starting, unmeasured, idle and busy. Busy time is split over models and phases by the rule. Idle and unmeasured time belong to the models as busy
 * time does; without busy time, in equal parts. A replica without pages is unmeasured.
 */
export function cellsOf(
  { targets }: Pick<Replica, "targets">,
  frontend: readonly ModelWork[],
  rule: CellRule,
): readonly Cell[] {
  if (targets.length === 0) return [{ model: "", phase: "unmeasured", basis: "none", share: rational(1n) }];
  const part = rational(1, targets.length);
  return added(
    targets.flatMap((target) =>
      cellsOfTarget(target, frontend, rule).map((cell) => ({ ...cell, share: multiply(cell.share, part) })),
    ),
  );
}

/** Returns the cells with all of the cost in one phase. Each model keeps its share. */
export function inPhase(cells: readonly Cell[], phase: Phase): readonly Cell[] {
  return added(cells.map((cell) => ({ ...cell, phase, basis: "none" })));
}

function cellsOfTarget(target: ServingTarget, frontend: readonly ModelWork[], rule: CellRule): readonly Cell[] {
  const models = withFrontend(target.models, frontend);
  const served = Math.max(target.servedMillis, target.coveredMillis);
  const { basis, weights } = phaseWeights(
    rule.rule,
    models.map(({ work }) => work),
    rule.tokens,
  );
  const busy = weights.flatMap((ofModel, index) =>
    (Object.entries(ofModel) as [BusyPhase, number][]).map(([phase, weight]) => ({
      model: models[index]!.model,
      phase,
      weight,
    })),
  );
  const total = busy.reduce((sum, { weight }) => sum + weight, 0);
  const shares = busy.flatMap(({ model, phase, weight }) =>
    weight === 0 ? [] : [{ model, phase, basis, share: rational(weight, total) }],
  );
  const whole: readonly Cell[] =
    shares.length > 0 ? shares : [{ model: "", phase: "inference", basis: "none", share: rational(1n) }];
  const ofTime = (millis: number, cells: readonly Cell[]): readonly Cell[] =>
    millis <= 0 ? [] : cells.map((cell) => ({ ...cell, share: multiply(cell.share, rational(millis, served)) }));
  if (served <= 0) return inPhase(whole, "unmeasured");
  const loading = Math.min(target.loadingMillis, served - target.coveredMillis);
  return added([
    ...ofTime(loading, inPhase(whole, "starting")),
    ...ofTime(served - target.coveredMillis - loading, inPhase(whole, "unmeasured")),
    ...ofTime(target.idleMillis, inPhase(whole, "idle")),
    ...ofTime(target.coveredMillis - target.idleMillis, whole),
  ]);
}

/** Returns the models of a page with the tokens that a frontend counted for them. */
function withFrontend(models: readonly ModelWork[], frontend: readonly ModelWork[]): readonly ModelWork[] {
  if (frontend.length === 0) return models;
  return models.map((own) => {
    const { computedTokens, cachedTokens, generatedTokens } =
      frontend.find(({ model }) => model === own.model)?.work ?? own.work;
    return { ...own, work: { ...own.work, computedTokens, cachedTokens, generatedTokens } };
  });
}

/** Returns cells with equal model, phase and basis as one, sorted by model and phase. */
function added(cells: readonly Cell[]): readonly Cell[] {
  const sums = new Map<string, Cell>();
  for (const cell of cells) {
    const key = JSON.stringify([cell.model, cell.phase, cell.basis]);
    sums.set(key, { ...cell, share: add(sums.get(key)?.share ?? ZERO, cell.share) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
}
