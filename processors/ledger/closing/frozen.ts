import type { Policy } from "../../../domain/policy/policy.ts";
import type { Weights } from "../../../domain/policy/spread.ts";
import { periodOf } from "../../../domain/period.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import type { BookedCharge } from "../../../runtime/store/schema/charges.ts";
import { chargeOf, SELECTED_CHARGES, type ChargeRow } from "../charging/charge-rows.ts";
import { WINDOW_MILLIS } from "../charge/spread-charges.ts";
import type { WindowOfCluster } from "../hours/schedule.ts";
import type { ClosedPeriod } from "./closed.ts";
import { readWeights } from "./weights.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** A condition on tables with rows of runs: a valid closing froze their run. */
export const FROZEN = `run_id IN (
  SELECT run_id FROM closed_runs
  WHERE kind IN ('charge', 'correction', 'close') AND close_id IN (SELECT close_id FROM closed_periods)
)`;

const BETWEEN =
  "from_at >= fromUnixTimestamp64Milli({from:Int64}) AND from_at < fromUnixTimestamp64Milli({until:Int64})";

/**
 * Reads the lines that closed periods have booked for an hour of a cluster under a policy: the charges, the lines spread at the close, and
 * the corrections in periods that are closed themselves. A true-up belongs to no hour. Fails with a `StoreError`.
 */
export async function readBooked(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  policy: string,
): Promise<readonly BookedCharge[]> {
  const rows = await store.query<ChargeRow>(
    `SELECT ${SELECTED_CHARGES} FROM charges
     WHERE policy = {policy:String} AND cluster = {cluster:String} AND ${BETWEEN} AND ${FROZEN}
       AND payer != 'spread' AND state != 'true-up'`,
    { policy, cluster, from: windowStart, until: windowStart + HOUR_MILLIS },
  );
  return rows.map(chargeOf);
}

/** The spread weights that closings froze, read when they are needed. */
export interface FrozenWeights {
  /** Returns the weights by which an hour of a closed period was spread under a policy. */
  of(closing: Pick<ClosedPeriod, "closeId">, policy: Policy, windowStart: number): Promise<Weights>;
}

/** Creates a reader of frozen weights. For each policy it caches the weights of the last requested day or period. */
export function createFrozenWeights(store: StoreClient): FrozenWeights {
  const remembered = new Map<string, { readonly key: string; readonly weights: Weights }>();
  return {
    async of({ closeId }, { name, spread }, windowStart) {
      const span = windowOf(spread.window, windowStart);
      const key = `${closeId} ${span.from}`;
      const known = remembered.get(name);
      if (known?.key === key) return known.weights;
      const weights = await readWeights(store, spread, {
        where: `policy = {policy:String} AND ${BETWEEN} AND run_id IN (
          SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind = 'charge'
        )`,
        parameters: { policy: name, close: closeId, ...span },
      });
      remembered.set(name, { key, weights });
      return weights;
    },
  };
}

function windowOf(window: Policy["spread"]["window"], at: number): { readonly from: number; readonly until: number } {
  if (window === "period") return periodOf(at);
  const from = Math.floor(at / WINDOW_MILLIS[window]) * WINDOW_MILLIS[window];
  return { from, until: from + WINDOW_MILLIS[window] };
}
