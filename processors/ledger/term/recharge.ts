import type { StoreClient } from "../../../runtime/store/client.ts";
import { createFrozenWeights } from "../closing/frozen.ts";
import { chargeAgain, type LedgerTurn, type Recharged } from "../hours/compute-hour.ts";
import type { LedgerRules } from "../hours/rules.ts";
import type { StaleWindow } from "../hours/stale-hours.ts";

/** The leader's generation, the time and the closed periods of a recharge. Plain data, so that it can be sent to another thread. */
export type RechargeTurn = Pick<LedgerTurn, "generation" | "now" | "closed">;

/** Charges hours again whose charges came from other rules or other usage. */
export interface Recharge {
  /** The number of concurrent calls that keep it busy. */
  readonly atOnce: number;
  /** Charges an hour again. Fails with the store's error. */
  charge(window: StaleWindow, turn: RechargeTurn): Promise<Recharged>;
}

/** Creates a recharge that runs in the caller's thread. */
export function createRecharge(store: StoreClient, rules: LedgerRules): Recharge {
  const weights = createFrozenWeights(store);
  return { atOnce: 1, charge: (window, turn) => chargeAgain(store, window, rules, { ...turn, weights }) };
}
