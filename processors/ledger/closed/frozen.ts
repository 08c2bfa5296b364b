import type { Policy } from "../../../domain/policy/policy.ts";
import type { Weights } from "../../../domain/policy/spread.ts";
import { periodOf } from "../../../domain/period.ts";
import { groupedBy } from "../../../domain/grouped.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { together } from "../../../runtime/store/in-step.ts";
import type { BookedCharge } from "../../../runtime/store/schema/charges.ts";
import { chargeOf, SELECTED_CHARGES, type ChargeRow } from "./charge-rows.ts";
import { WINDOW_MILLIS } from "../charge/spread-charges.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import type { ClosedPeriod } from "./closed.ts";
import { readWeights } from "./weights.ts";
import { HOUR_MILLIS, hourOf } from "../../../domain/time.ts";

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
  return together(store, readAllBooked, { cluster, windowStart, policy });
}

async function readAllBooked(
  store: StoreClient,
  asked: readonly (WindowOfCluster & { readonly policy: string })[],
): Promise<readonly (readonly BookedCharge[])[]> {
  const starts = asked.map(({ windowStart }) => windowStart);
  const rows = await store.query<ChargeRow & { readonly bookedUnder: string }>(
    `SELECT policy AS bookedUnder, ${SELECTED_CHARGES} FROM charges
     WHERE policy IN {policies:Array(String)} AND cluster = {cluster:String} AND ${BETWEEN} AND ${FROZEN}
       AND payer != 'spread' AND state != 'true-up'`,
    {
      policies: asked.map(({ policy }) => policy),
      cluster: asked[0]!.cluster,
      from: Math.min(...starts),
      until: Math.max(...starts) + HOUR_MILLIS,
    },
  );
  const keyOf = (policy: string, millis: number): string => `${hourOf(millis)} ${policy}`;
  const booked = rows.map((row) => ({ policy: row.bookedUnder, charge: chargeOf(row) }));
  const byHour = groupedBy(booked, ({ policy, charge }) => keyOf(policy, charge.fromMillis));
  return asked.map(({ policy, windowStart }) =>
    (byHour.get(keyOf(policy, windowStart)) ?? []).map(({ charge }) => charge),
  );
}

/** The spread weights that closings froze, read when they are needed. */
export interface FrozenWeights {
  /** Returns the weights by which an hour of a closed period was spread under a policy. */
  of(closing: Pick<ClosedPeriod, "closeId">, policy: Policy, windowStart: number): Promise<Weights>;
}

/** Creates a reader of frozen weights. For each policy it caches the weights of the last requested day or period. */
export function createFrozenWeights(store: StoreClient): FrozenWeights {
  const remembered = new Map<string, { readonly key: string; readonly weights: Promise<Weights> }>();
  return {
    of({ closeId }, { name, spread }, windowStart) {
      const span = windowOf(spread.window, windowStart);
      const key = `${closeId} ${span.from}`;
      const known = remembered.get(name);
      if (known?.key === key) return known.weights;
      const weights = readWeights(store, spread, {
        where: `policy = {policy:String} AND ${BETWEEN} AND run_id IN (
          SELECT run_id FROM closed_runs WHERE close_id = toUUID({close:String}) AND kind = 'charge'
        )`,
        parameters: { policy: name, close: closeId, ...span },
      });
      remembered.set(name, { key, weights });
      weights.catch(() => remembered.delete(name));
      return weights;
    },
  };
}

function windowOf(window: Policy["spread"]["window"], at: number): { readonly from: number; readonly until: number } {
  if (window === "period") return periodOf(at);
  const from = Math.floor(at / WINDOW_MILLIS[window]) * WINDOW_MILLIS[window];
  return { from, until: from + WINDOW_MILLIS[window] };
}
