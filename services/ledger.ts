import type { Logger } from "pino";
import { startLeadership } from "../processors/ledger/term/leader.ts";
import type { QueueBoard } from "../processors/live/queue-board.ts";
import { cardsJob } from "./leader/cards.ts";
import { cardMetricsJob } from "./leader/card-metrics.ts";
import { invoiceJobs } from "./leader/invoices.ts";
import { createLeaderJobs } from "./leader/jobs.ts";
import { monthJob } from "./leader/month.ts";
import { createProgress } from "./leader/progress.ts";
import { queueJob } from "./leader/queue.ts";
import { servingMetricsJob } from "./leader/serving-metrics.ts";
import { trainingEventsJob } from "./leader/training-events.ts";
import { TERM_TIMING } from "../processors/ledger/term/term-timing.ts";
import { workTerm } from "../processors/ledger/term/term-work.ts";
import type { TermLedger } from "../processors/ledger/term/term-state.ts";
import type { Recharge } from "../processors/ledger/term/recharge.ts";
import { SCHEDULE_TIMING } from "../processors/ledger/term/schedule.ts";
import type { SplitRule } from "../domain/serving/split-rule.ts";
import { servingOf } from "../runtime/config/serving.ts";
import { rulesOfConfig } from "./ledger-rules.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { Bus } from "../runtime/bus/bus.ts";
import type { StoreClient } from "../runtime/store/client.ts";
import type { Metrics } from "../runtime/telemetry/metrics.ts";
import type { ProcessorStatus } from "./role.ts";
import { DAY_MILLIS } from "../domain/time.ts";

/** A processor's part in the ledger, as leader or not. */
export interface Ledger {
  status(): Pick<ProcessorStatus, "leader" | "rollups" | "hoursWaiting" | "month" | "queue">;
  /** Ends the work in progress and gives up the leadership. */
  stop(): Promise<void>;
}

/** Takes part in the leader election, and makes rollups, usage and charges while leading. Failures are counted and retried. */
export async function startLedger(options: {
  readonly config: Config;
  readonly bus: Bus;
  readonly store: StoreClient;
  /** The live queue. */
  readonly board: QueueBoard;
  /** Charges hours again after a change of their rules. */
  readonly recharge: Recharge;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
}): Promise<Ledger> {
  const { config, bus, store, metrics, logger, now } = options;
  const ledger = { ...termLedger(config), recharge: options.recharge };
  const progress = createProgress({ metrics, logger, now, closingDay: ledger.closingDay });
  const { moneyOnMetrics } = config.server;
  const bills = monthJob({
    ...options,
    policy: ledger.billing,
    isBehind: progress.isBehind,
    onMetrics: moneyOnMetrics,
  });
  const queue = queueJob(options.board, metrics);
  const jobs = createLeaderJobs(
    [
      queue,
      bills,
      cardsJob({ ...options, rulesHash: ledger.rules.hash, isBehind: progress.isWaiting }),
      ...(moneyOnMetrics ? [cardMetricsJob(options)] : []),
      servingMetricsJob({ ...options, policy: ledger.billing, rule: ledger.servingRule, hasMoney: moneyOnMetrics }),
      ...invoiceJobs({ ...options, sources: config.invoices, book: ledger.rules.charge.book }),
      ...(config.training.events ? [trainingEventsJob(options)] : []),
    ],
    logger,
  );
  const timing = { ...SCHEDULE_TIMING, ...TERM_TIMING };
  const leadership = await startLeadership({
    bus,
    store,
    now,
    events: {
      onElected(generation) {
        jobs.begin();
        progress.begin(generation);
      },
      onDeposed(generation) {
        jobs.end();
        progress.end(generation);
      },
      onUnknownRequest: ({ offset, schemaVersion }) =>
        logger.warn({ offset, schemaVersion }, "a request on gpu.ledger is unknown to this release; it is skipped"),
      onError(error) {
        metrics.runErrors.inc();
        logger.warn({ err: error }, "leading failed; it is tried again");
      },
    },
    lead: (term) => workTerm({ bus, store, now, events: progress.eventsOf(bills), timing, ledger }, term),
  });

  return {
    status: () => ({
      leader: leadership.generation === undefined ? undefined : { generation: leadership.generation },
      ...progress.status(),
      month: bills.view(),
      queue: queue.view(),
    }),
    async stop() {
      await jobs.stop();
      await leadership.stop();
    },
  };
}

/** Returns the ledger of a term: charges by the kept policies, and charges again in open billing periods. */
function termLedger(config: Config): TermLedger & {
  readonly billing: string;
  readonly servingRule: SplitRule;
  readonly closingDay: number;
} {
  const { rules, policies } = rulesOfConfig(config);
  return {
    billing: policies[0].name,
    servingRule: servingOf(config.serving).rules[0].rule,
    rules,
    closingDay: config.closing.day,
    meteredSince: (now) => now - (config.store.rawDays - 1) * DAY_MILLIS,
  };
}
