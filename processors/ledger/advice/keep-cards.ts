import { writeCard } from "../../../domain/advice/card-json.ts";
import type { Window } from "../../../domain/advice/evidence.ts";
import { DAY_MILLIS, isoText } from "../../../domain/time.ts";
import { formatAmount } from "../../../domain/exact/units.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { insertRecords } from "../../../runtime/store/schema/records.ts";
import { newRunId } from "../runs/runs.ts";
import type { Advice } from "./make-cards.ts";

/** The number of cards in one insert. A card has up to some 20 kB. */
const CARDS_PER_INSERT = 500;

/** The origin of a run of the cards. */
export interface AdviceBasis {
  /** A text that changes with the rules and with the published usage of the window. */
  readonly basis: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  readonly seconds: number;
}

/**
 * Stores the cards of a window, and then the run that makes them visible. A card has been there since the end of the first window of an
 * unbroken row of windows, one for each day. Fails with a `StoreError`.
 */
export async function keepCards(
  store: StoreClient,
  advice: Advice,
  { basis, madeAt, seconds }: AdviceBasis,
): Promise<void> {
  const { window, cards, workloads, refusals } = advice;
  const runId = newRunId();
  const until = isoText(window.until);
  const known = await readSince(store, window.until - DAY_MILLIS);
  const rows = cards.map((card) => ({
    run_id: runId,
    until_at: until,
    id: card.id,
    kind: card.kind,
    team: card.subject.team,
    since_at: known.get(card.id) ?? until,
    owner_saving: formatAmount(card.saving.owner),
    freed_cost: formatAmount(card.saving.freed),
    organization_saving: formatAmount(card.saving.organization),
    organization_saving_if_freed_leave: formatAmount(card.saving.organizationIfFreedLeave),
    card: JSON.stringify(writeCard(card)),
  }));
  for (let at = 0; at < rows.length; at += CARDS_PER_INSERT)
    await insertRecords(store, "advice_cards", rows.slice(at, at + CARDS_PER_INSERT));
  await insertRecords(store, "advice_runs", [
    {
      run_id: runId,
      from_at: isoText(window.from),
      until_at: until,
      made_at: isoText(madeAt),
      basis,
      seconds,
      cards: cards.length,
      workloads,
      refusals: JSON.stringify(refusals),
    },
  ]);
}

/** Returns since when each card of the window that ended at a time has been there, in ISO 8601. */
async function readSince(store: StoreClient, until: number): Promise<ReadonlyMap<string, string>> {
  const rows = await store.query<{ id: string; since: number }>(
    `SELECT id, toFloat64(toUnixTimestamp64Milli(min(since_at))) AS since
     FROM advice_cards_published WHERE until_at = fromUnixTimestamp64Milli({until:Int64}) GROUP BY id`,
    { until },
  );
  return new Map(rows.map(({ id, since }) => [id, isoText(since)]));
}

/**
 * Returns a text that changes with the published usage of a window, and the basis of the window's last run; undefined without one. Fails
 * with a `StoreError`.
 */
export async function readBasis(
  store: StoreClient,
  { from, until }: Window,
): Promise<{ readonly usage: string; readonly last: string | undefined }> {
  const parameters = { from, until };
  const [usage] = await store.query<{ hash: string }>(
    `SELECT toString(sum(cityHash64(cluster, window_start, hash))) AS hash
     FROM (
       SELECT cluster, window_start, argMax(hash, (generation, published_at)) AS hash
       FROM runs WHERE kind = 'usage' AND window_start >= fromUnixTimestamp(intDiv({from:Int64}, 1000))
         AND window_start < fromUnixTimestamp(intDiv({until:Int64}, 1000))
       GROUP BY cluster, window_start
     )`,
    parameters,
  );
  const [last] = await store.query<{ basis: string }>(
    `SELECT basis FROM advice_runs
     WHERE until_at = fromUnixTimestamp64Milli({until:Int64}) AND from_at = fromUnixTimestamp64Milli({from:Int64})
     ORDER BY made_at DESC, run_id DESC LIMIT 1`,
    parameters,
  );
  return { usage: usage?.hash ?? "", last: last?.basis };
}
