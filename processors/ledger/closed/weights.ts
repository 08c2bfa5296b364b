import { add, rational, ZERO, type Rational } from "../../../domain/exact/rational.ts";
import { amountOf } from "../../../domain/exact/units.ts";
import type { Weight } from "../../../domain/exact/split.ts";
import type { SpreadRule } from "../../../domain/policy/policy.ts";
import {
  holderWeightOf,
  inOrder,
  type HolderWeight,
  type ScopeWeights,
  type Weighed,
  type Weights,
} from "../../../domain/policy/spread.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { StoreParameters } from "../../../runtime/store/store-parameters.ts";
import { scopeKey, WINDOW_MILLIS } from "../charge/spread-charges.ts";

/** A condition on `charges` that selects the frozen lines for weights, with its parameters. */
export interface Condition {
  readonly where: string;
  readonly parameters: StoreParameters;
}

interface WeightRow {
  readonly scope: readonly [cluster: string, place: string, window: string];
  readonly team: string;
  readonly costCenter: string;
  readonly cost: string;
  readonly unpriced: string;
  /** Sums of share numerators, one for each denominator. */
  readonly nums: readonly string[];
  readonly dens: readonly string[];
}

const COLUMNS_OF_SCOPE = { node: "node", pool: "pool", model: "gpu_model", cluster: "''" } as const;

/**
 * Reads the weight of each team and cost center in each scope, from the frozen lines that holders pay themselves. The weights are the same
 * at every call. The store computes the sums, so that no period is in memory. Fails with a `StoreError`.
 */
export async function readWeights(store: StoreClient, rule: SpreadRule, condition: Condition): Promise<Weights> {
  const window =
    rule.window === "period" ? "0" : `intDiv(toUnixTimestamp64Milli(from_at), ${WINDOW_MILLIS[rule.window]})`;
  return readWeightsBy(
    store,
    `tuple(toString(cluster), toString(${COLUMNS_OF_SCOPE[rule.over]}), toString(${window}))`,
    holderWeightOf(rule),
    condition,
  );
}

/**
 * Reads the same weights over other scopes. `scope` is an SQL tuple of a cluster, a scope and a window, each as text. Fails with a
 * `StoreError`.
 */
export async function readWeightsBy(
  store: StoreClient,
  scope: string,
  by: HolderWeight,
  { where, parameters }: Condition,
): Promise<Weights> {
  const rows = await store.query<WeightRow>(
    `SELECT scope, team, costCenter, toString(sum(cost)) AS cost, toString(sum(unpriced)) AS unpriced,
       groupArray(toString(num)) AS nums, groupArray(den) AS dens
     FROM (
       SELECT ${scope} AS scope, team, cost_center AS costCenter, sum(ifNull(effective_cost, 0)) AS cost,
         countIf(effective_cost IS NULL) AS unpriced,
         splitByChar('/', share_millis)[2] AS den, sum(toInt256(splitByChar('/', share_millis)[1])) AS num
       FROM charges
       WHERE payer = 'holder' AND holder != '' AND ${where}
       GROUP BY scope, team, costCenter, den
     )
     GROUP BY scope, team, costCenter`,
    parameters,
  );
  const scopes = new Map<string, { weighed: Weighed[]; isRefused: boolean }>();
  for (const row of rows) {
    const [cluster, place, windowText] = row.scope;
    const key = scopeKey(cluster, place, Number(windowText));
    const known = scopes.get(key) ?? { weighed: [], isRefused: false };
    scopes.set(key, known);
    known.weighed.push({ team: row.team, costCenter: row.costCenter, weight: weightOf(row, by) });
    known.isRefused ||= by === "cost" && row.unpriced !== "0";
  }
  return new Map(
    [...scopes].map(([key, { weighed, isRefused }]): [string, ScopeWeights] => [
      key,
      { weighed: isRefused ? [] : inOrder(weighed), isRefused },
    ]),
  );
}

function weightOf({ cost, nums, dens }: WeightRow, by: HolderWeight): Weight {
  switch (by) {
    case "cost":
      return amountOf<"currency">(cost);
    case "time":
      return shareOf(nums, dens);
    case "even":
      return shareOf(nums, dens).num > 0n ? 1 : 0;
  }
}

function shareOf(nums: readonly string[], dens: readonly string[]): Rational {
  return nums.reduce((sum, num, index) => add(sum, rational(BigInt(num), BigInt(dens[index]!))), ZERO);
}
