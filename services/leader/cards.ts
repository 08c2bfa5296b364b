import type { Logger } from "pino";
import { keepCards, readBasis } from "../../processors/ledger/advice/keep-cards.ts";
import { lastDays, makeCards } from "../../processors/ledger/advice/make-cards.ts";
import { MINUTE_MILLIS } from "../../domain/time.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { LeaderJob } from "./jobs.ts";

/** How often the leader looks whether the cards are of other days, of other usage or by other rules than the last ones. */
const LOOK_MILLIS = 10_000;
/** How long after midnight the last day counts: its last samples may be late. */
const SETTLE_MILLIS = 20 * MINUTE_MILLIS;
/** The least time between two computations of the same days: this multiple of the duration of the last one, at most 15 minutes. */
const AGAIN_FACTOR = 20;
const MOST_AGAIN_MILLIS = 15 * MINUTE_MILLIS;

/** Makes the cards of the last whole days: after each midnight in UTC, and again if late usage or other rules change them. */
export function cardsJob(options: {
  readonly config: Config;
  readonly store: StoreClient;
  readonly logger: Logger;
  readonly now: () => number;
  /** A hash of the ledger's rules. */
  readonly rulesHash: string;
  /** True while hours of a time wait to be charged. */
  readonly isBehind: (window: { readonly from: number; readonly until: number }) => boolean;
}): LeaderJob {
  const { config, store, logger, now, rulesHash, isBehind } = options;
  const ledger = ledgerOf(config);
  const { advice } = config;
  let againAt = -Infinity;
  let madeUntil = 0;

  async function work(): Promise<void> {
    const window = lastDays(advice.days, now() - SETTLE_MILLIS);
    if (isBehind(window)) return;
    if (madeUntil === window.until && now() < againAt) return;
    const { usage, last } = await readBasis(store, window);
    const basis = `${usage} ${rulesHash} ${JSON.stringify(advice)}`;
    if (basis === last) return;
    const begun = performance.now();
    const made = await makeCards(store, ledger, { window, advice });
    const seconds = (performance.now() - begun) / 1000;
    [againAt, madeUntil] = [now() + Math.min(AGAIN_FACTOR * seconds * 1000, MOST_AGAIN_MILLIS), window.until];
    await keepCards(store, made, { basis, madeAt: now(), seconds });
    logger.info({ cards: made.cards.length, workloads: made.workloads, seconds }, "the cards were made");
  }

  return { name: "cards", everyMillis: LOOK_MILLIS, work };
}
