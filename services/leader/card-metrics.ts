import { perMonth } from "../../domain/advice/card-json.ts";
import { formatAmount, type Money } from "../../domain/exact/units.ts";
import { readAdviceRun, readAdviceSums } from "../../reports/advice/read-cards.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { LeaderJob } from "./jobs.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";

/** How often the metrics are read again: after a new run, and after a decision about a card. */
const REFRESH_MILLIS = 60_000;

/** Shows the newest run's cards that are not dismissed as metrics by team and kind. */
export function cardMetricsJob(options: {
  readonly store: Pick<StoreClient, "query">;
  readonly metrics: Metrics;
  readonly now: () => number;
}): LeaderJob {
  const { store, now } = options;
  const { adviceSaving, adviceCards } = options.metrics;

  function clear(): void {
    adviceSaving.reset();
    adviceCards.reset();
  }

  async function work(): Promise<void> {
    const sums = await readSums(store, now());
    clear();
    for (const { team, kind, cards, owner } of sums) {
      // Numbers for panels and alerts. No money is computed from them.
      adviceSaving.set({ team, kind }, Number(formatAmount(owner)));
      adviceCards.set({ team, kind }, cards);
    }
  }

  return { name: "metrics of cards", everyMillis: REFRESH_MILLIS, work, clear };
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
