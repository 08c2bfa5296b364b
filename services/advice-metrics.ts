import type { Logger } from "pino";
import { perMonth } from "../domain/advice/card-json.ts";
import { formatAmount, type Money } from "../domain/exact/units.ts";
import { readAdviceRun, readAdviceSums } from "../reports/advice/read-cards.ts";
import { repeat, type Repeated } from "../runtime/lifecycle/repeat.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";

/** How often the metrics are read again: after a new run, and after a decision about a card. */
const REFRESH_MILLIS = 60_000;

type AdviceMetrics = Pick<Metrics, "adviceSaving" | "adviceCards">;

/** Shows the newest run's cards that are not dismissed as metrics by team and kind, while this processor leads. */
export function startAdviceMetrics(options: {
  readonly store: Pick<StoreClient, "query">;
  readonly metrics: AdviceMetrics;
  readonly logger: Logger;
  readonly now: () => number;
  readonly isLeading: () => boolean;
}): Repeated {
  const { store, metrics, logger, now, isLeading } = options;

  async function refresh(): Promise<void> {
    const sums = isLeading() ? await readSums(store, now()) : [];
    resetAdviceMetrics(metrics);
    // The leadership may have ended during the query.
    if (!isLeading()) return;
    for (const { team, kind, cards, owner } of sums) {
      // Numbers for panels and alerts. No money is computed from them.
      metrics.adviceSaving.set({ team, kind }, Number(formatAmount(owner)));
      metrics.adviceCards.set({ team, kind }, cards);
    }
  }

  return repeat(REFRESH_MILLIS, refresh, (error) =>
    logger.debug({ err: error }, "the cards cannot be read for the metrics; it is tried again"),
  );
}

/** Removes the series of the cards: another processor leads. */
export function resetAdviceMetrics({ adviceSaving, adviceCards }: AdviceMetrics): void {
  adviceSaving.reset();
  adviceCards.reset();
}

interface ShownSum {
  readonly team: string;
  readonly kind: string;
  readonly cards: number;
  /** The owner's saving per month of 730 h. */
  readonly owner: Money;
}

async function readSums(store: Pick<StoreClient, "query">, now: number): Promise<readonly ShownSum[]> {
  const run = await readAdviceRun(store);
  if (run === undefined) return [];
  const sums = await readAdviceSums(store, run, { teams: "all", now });
  return sums.flatMap(({ team, kind, cards, owner, isDismissed }) =>
    isDismissed ? [] : [{ team, kind, cards, owner: perMonth(owner, run.window) }],
  );
}
