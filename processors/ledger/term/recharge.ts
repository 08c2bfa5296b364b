import type { StoreClient } from "../../../runtime/store/client.ts";
import { inStep } from "../../../runtime/store/in-step.ts";
import { createFrozenWeights } from "../closed/frozen.ts";
import { chargeAgain, type LedgerTurn, type Recharged } from "../hours/compute-hour.ts";
import type { LedgerRules } from "../charging/rules.ts";
import type { StaleWindow } from "../hours/stale-hours.ts";

/** The leader's generation, the time and the closed periods of a recharge. Plain data, so that it can be sent to another thread. */
export type RechargeTurn = Pick<LedgerTurn, "generation" | "now" | "closed">;

/** Charges hours again whose charges came from other rules or other usage. */
export interface Recharge {
  /** The number of concurrent calls that keep it busy. */
  readonly atOnce: number;
  /** Charges hours of one cluster again, in step. Returns the outcome of each, in the order of the hours. */
  charge(windows: readonly StaleWindow[], turn: RechargeTurn): Promise<readonly PromiseSettledResult<Recharged>[]>;
}

/** Creates a recharge that runs in the caller's thread. */
export function createRecharge(store: StoreClient, rules: LedgerRules): Recharge {
  const weights = createFrozenWeights(store);
  return {
    atOnce: 1,
    charge: (windows, turn) =>
      inStep(store, windows, (window, own) => chargeAgain(own, window, rules, { ...turn, weights })),
  };
}
