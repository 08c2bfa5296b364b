import type { StoreClient } from "../../../runtime/store/client.ts";
import { STANDING_BREACHES } from "../../../runtime/store/schema/runs.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import type { Breach } from "../charge/breach.ts";
import type { Run } from "./runs.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";

/**
 * Stores the breaches of a run, unless it is a trial, so that a close can name them. A breach that was found before is stored once. Fails with a
 * `StoreError`.
 */
export async function keepBreaches(
  store: StoreClient,
  { cluster, windowStart, publishedAt, isTrial }: Pick<Run, "cluster" | "windowStart" | "publishedAt" | "isTrial">,
  breaches: readonly Breach[],
): Promise<void> {
  if (isTrial === true || breaches.length === 0) return;
  await insertRecords(
    store,
    "breaches",
    breaches.map((breach) => ({
      cluster,
      window_start: windowStart / 1000,
      ...breach,
      found_at: new Date(publishedAt).toISOString(),
    })),
  );
}

/** A current breach: no run of its hour and kind was published after it. */
export interface StandingBreach extends Breach, WindowOfCluster {}

/** Returns the current breaches of hours within a span, oldest hour first. Fails with a `StoreError`. */
export async function standingBreaches(
  store: StoreClient,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<readonly StandingBreach[]> {
  return store.query<StandingBreach>(
    `SELECT cluster, toFloat64(toUnixTimestamp(window_start)) * 1000 AS windowStart, policy, node, slot, what, expected, found
     ${STANDING_BREACHES}
     ORDER BY window_start, cluster, node, slot, policy, what`,
    { from: Math.floor(from / 1000), until: Math.ceil(until / 1000) },
  );
}

/** Returns a sentence about the first breach, with the number of the others; undefined if there is none. */
export function breachSentence([first, ...others]: readonly StandingBreach[]): string | undefined {
  if (first === undefined) return undefined;
  const { cluster, node, slot, windowStart, policy, what, expected, found } = first;
  const at = `${cluster}/${node} in the hour from ${new Date(windowStart).toISOString()}`;
  const more = others.length === 0 ? "" : `; and ${others.length} more`;
  if (what === "usage") return `${at} cannot be metered: ${found}${more}`;
  if (what === "charges") return `${at} cannot be charged: ${found}${more}`;
  const gpu = slot === "" ? "the rest" : `GPU ${slot}`;
  return `charges of ${gpu} of ${at} do not sum to their cost: ${what} is ${found}, expected ${expected} under ${policy}${more}`;
}
