import type { Logger } from "pino";
import { startLeadership } from "../processors/ledger/term/leader.ts";
import type { QueueBoard } from "../processors/live/queue-board.ts";
import { cardsJob } from "./leader/cards.ts";
import { cardMetricsJob } from "./leader/card-metrics.ts";
import { createLeaderJobs } from "./leader/jobs.ts";
import { monthJob } from "./leader/month.ts";
import { queueJob } from "./leader/queue.ts";
import { servingMetricsJob } from "./leader/serving-metrics.ts";
import { trainingEventsJob } from "./leader/training-events.ts";
import type { TermEvents } from "../processors/ledger/term/term-events.ts";
import { TERM_TIMING } from "../processors/ledger/term/term-timing.ts";
import { workTerm } from "../processors/ledger/term/term-work.ts";
import type { TermLedger } from "../processors/ledger/term/term-state.ts";
import type { Recharge } from "../processors/ledger/term/recharge.ts";
import { SCHEDULE_TIMING } from "../processors/ledger/term/schedule.ts";
import type { SplitRule } from "../domain/serving/split-rule.ts";
import { servingOf } from "../runtime/config/serving.ts";
import { hoursIn, isBehind } from "../domain/charge/settling.ts";
import { dateText, periodOf, periodsDue, type BillingPeriod } from "../domain/period.ts";
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
  const totals = { windows: 0, lastSeconds: undefined as number | undefined, dirty: 0 };
  /** The starts of the hours that wait; undefined until a term has looked for them. */
  let hoursWaiting: readonly number[] | undefined;
  const isWaiting = (span: { readonly from: number; readonly until: number }): boolean =>
    hoursWaiting === undefined || hoursIn(hoursWaiting, span).length > 0;
  metrics.leader.set(0);

  const ledger = { ...termLedger(config), recharge: options.recharge };
  const { moneyOnMetrics } = config.server;
  const bills = monthJob({
    ...options,
    policy: ledger.billing,
    isBehind: () => hoursWaiting === undefined || isBehind(hoursWaiting),
    onMetrics: moneyOnMetrics,
  });
  const queue = queueJob(options.board, metrics);
  const jobs = createLeaderJobs(
    [
      queue,
      bills,
      cardsJob({ ...options, rulesHash: ledger.rules.hash, isBehind: isWaiting }),
      ...(moneyOnMetrics ? [cardMetricsJob(options)] : []),
      servingMetricsJob({ ...options, policy: ledger.billing, rule: ledger.servingRule, hasMoney: moneyOnMetrics }),
      ...(config.training.events ? [trainingEventsJob(options)] : []),
    ],
    logger,
  );
  const work: TermEvents = {
    onRun({ kind, cluster, windowStart, seconds, rows }) {
      if (kind === "rollup") {
        totals.windows += 1;
        totals.lastSeconds = seconds;
      }
      metrics.runs.inc({ kind });
      metrics.runSeconds.observe({ kind }, seconds);
      const window = new Date(windowStart).toISOString();
      logger.debug({ kind, cluster, window, seconds, rows }, "a window was published");
    },
    onCharged({ cluster, windowStart, findings }) {
      const { breaches, refusedTeams, refusedScopes, unsplitServices, unpricedGpuHours } = findings;
      const window = new Date(windowStart).toISOString();
      bills.changed();
      metrics.invariantBreaches.inc(breaches.length);
      metrics.unpricedGpuHours.set({ cluster }, unpricedGpuHours);
      metrics.refusedTeams.set({ cluster }, refusedTeams.length);
      for (const breach of breaches)
        logger.error({ cluster, window, ...breach }, "a breach: what it names is missing in the bill of the hour");
      for (const { service, error } of unsplitServices)
        logger.error({ ...service, window, err: error }, "the cost of a model service cannot be split by its counters");
      if (refusedScopes.length > 0)
        logger.warn({ cluster, window, scopes: refusedScopes }, "holders without a price cannot be weighed by cost");
      if (refusedTeams.length > 0)
        logger.debug(
          { cluster, window, teams: refusedTeams },
          "teams that are not in the register or have reserved names were ignored",
        );
    },
    onLooked({ dirty, settledUntilMillis, closed, begun, isNew }) {
      if (isNew) bills.changed();
      const first = begun === undefined ? undefined : periodOf(Math.max(begun, closed.openSince));
      warnOfOverdue(first === undefined ? [] : periodsDue(first, now(), ledger.closingDay));
      totals.dirty = dirty;
      metrics.windowsDirty.set(dirty);
      metrics.settledSeconds.set((settledUntilMillis ?? 0) / 1000);
    },
    onWaiting: (hours) => void (hoursWaiting = hours),
    onDropped: (runs) => metrics.runsDropped.inc(runs),
    onError(error, window) {
      metrics.runErrors.inc();
      logger.warn({ err: error, ...window }, "the computation of an hour failed; it is tried again");
    },
  };
  /** The day of the last warning for each overdue period. */
  const warnedOn = new Map<string, string>();
  function warnOfOverdue(periods: readonly BillingPeriod[]): void {
    metrics.periodsOverdue.set(periods.length);
    for (const { name: period, ...span } of periods) {
      // Until its last hour is charged, nobody can close it.
      if (isWaiting(span)) continue;
      if (warnedOn.get(period) === dateText(now())) continue;
      warnedOn.set(period, dateText(now()));
      logger.warn({ period }, "the closing date of a billing period has come, and the period is still open");
    }
  }
  const timing = { ...SCHEDULE_TIMING, ...TERM_TIMING };
  const leadership = await startLeadership({
    bus,
    store,
    now,
    events: {
      onElected(generation) {
        jobs.begin();
        metrics.leader.set(1);
        logger.info({ generation }, "this processor leads");
      },
      onDeposed(generation) {
        jobs.end();
        metrics.unpricedGpuHours.reset();
        metrics.refusedTeams.reset();
        totals.dirty = 0;
        hoursWaiting = undefined;
        metrics.leader.set(0);
        metrics.windowsDirty.set(0);
        metrics.settledSeconds.set(0);
        metrics.periodsOverdue.set(0);
        logger.info({ generation }, "this processor no longer leads");
      },
      onUnknownRequest: ({ offset, schemaVersion }) =>
        logger.warn({ offset, schemaVersion }, "a request on gpu.ledger is unknown to this release; it is skipped"),
      onError(error) {
        metrics.runErrors.inc();
        logger.warn({ err: error }, "leading failed; it is tried again");
      },
    },
    lead: (term) => workTerm({ bus, store, now, events: work, timing, ledger }, term),
  });

  return {
    status: () => ({
      leader: leadership.generation === undefined ? undefined : { generation: leadership.generation },
      rollups: { ...totals },
      hoursWaiting: leadership.generation === undefined ? undefined : hoursWaiting,
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
