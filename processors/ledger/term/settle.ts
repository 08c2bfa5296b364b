import type { StoreClient } from "../../../runtime/store/client.ts";
import type { ChargeFindings } from "../charging/charge-window.ts";
import { readClosed } from "../closed/closed.ts";
import { createFrozenWeights } from "../closed/frozen.ts";
import { computeLedger } from "../hours/compute-hour.ts";
import type { LedgerRules } from "../charging/rules.ts";
import { staleCharges } from "../hours/stale-hours.ts";
import { computeHours, portionOf } from "../hours/portion.ts";
import { createAssigner } from "../invoiced/assign.ts";
import { createRecharge } from "./recharge.ts";
import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/** The result of settling. */
export interface Settled {
  readonly breaches: ChargeFindings["breaches"];
  /** The last generation that was written. Of two runs of one window, the one with the higher generation counts. */
  readonly generation: number;
}

/**
 * Does at once what a leader would do over time, for books without a leader: meters and charges the given hours and the hours that they
 * reopen up to a time, then charges or corrects every stale hour. Fails with a `StoreError`.
 */
export async function settle(
  store: StoreClient,
  windows: readonly WindowOfCluster[],
  rules: LedgerRules,
  { generation: last, now }: { readonly generation: number; readonly now: number },
): Promise<Settled> {
  const closed = await readClosed(store);
  const weights = createFrozenWeights(store);
  const breaches: ChargeFindings["breaches"][number][] = [];
  let generation = last;
  const waiting = new Map(windows.map((window) => [keyOf(window), window]));
  for (let [next] = waiting.values(); next !== undefined; [next] = waiting.values()) {
    const { cluster } = next;
    const portion = await portionOf(
      store,
      [...waiting.values()].filter((window) => window.cluster === cluster),
    );
    for (const window of portion) waiting.delete(keyOf(window));
    const turn = { generation: (generation += 1), facts: new Map(), now, closed, weights };
    const { outcomes, reopened } = await computeHours(store, portion, (window, own) =>
      computeLedger(own, window, rules, turn),
    );
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") throw outcome.reason;
      breaches.push(...outcome.value.breaches);
    }
    for (const window of reopened) if (window.windowStart < now) waiting.set(keyOf(window), window);
  }
  const { invoices } = rules.charge;
  if (invoices !== undefined) await createAssigner(store, invoices).assign({ generation: (generation += 1), now });
  const again = createRecharge(store, rules);
  let stale = await staleCharges(store, rules, { from: -Infinity, openSince: closed.openSince });
  for (let [first] = stale; first !== undefined; [first] = stale) {
    const { cluster } = first;
    const portion = await portionOf(
      store,
      stale.filter((window) => window.cluster === cluster),
    );
    stale = stale.filter((window) => !portion.includes(window));
    for (const outcome of await again.charge(portion, { generation: (generation += 1), now, closed })) {
      if (outcome.status === "rejected") throw outcome.reason;
      breaches.push(...outcome.value.breaches);
    }
  }
  return { breaches, generation };
}
