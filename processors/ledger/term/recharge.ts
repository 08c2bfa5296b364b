import type { StoreClient } from "../../../runtime/store/client.ts";
import { createFrozenWeights } from "../closing/frozen.ts";
import { chargeAgain, type LedgerTurn, type Recharged } from "../hours/compute-hour.ts";
import type { LedgerRules } from "../hours/rules.ts";
import type { StaleWindow } from "../hours/stale-hours.ts";

/** Who charges an hour again, and when: plain data, so that one thread can tell another. */
export type RechargeTurn = Pick<LedgerTurn, "generation" | "now" | "closed">;

/** Charges hours again that were charged by other rules, or of other usage. */
export interface Recharge {
  /** So many at once keep it at work. */
  readonly atOnce: number;
  /** Fails with what went wrong in the store. */
  charge(window: StaleWindow, turn: RechargeTurn): Promise<Recharged>;
}

/** In the thread of whoever asks. */
export function createRecharge(store: StoreClient, rules: LedgerRules): Recharge {
  const weights = createFrozenWeights(store);
  return { atOnce: 1, charge: (window, turn) => chargeAgain(store, window, rules, { ...turn, weights }) };
}
