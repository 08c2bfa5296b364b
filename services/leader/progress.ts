import type { Logger } from "pino";
import { hoursIn, isBehind } from "../../domain/charge/settling.ts";
import { dateText, periodOf, periodsDue, type BillingPeriod } from "../../domain/period.ts";
import type { TermEvents } from "../../processors/ledger/term/term-events.ts";
import type { Metrics } from "../../runtime/telemetry/metrics.ts";
import type { ProcessorStatus } from "../role.ts";

/** The dependencies of {@link Progress}. */
export interface ProgressOptions {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
  /** The day of the month on which a period can be closed. */
  readonly closingDay: number;
}

/** How far this processor has computed the ledger, in its metrics, its log and its status. */
export interface Progress {
  begin(generation: number): void;
  end(generation: number): void;
  /** Returns the receiver of a term's events. `bills` is called when the books may have changed. */
  eventsOf(bills: { changed(): void }): TermEvents;
  /** Returns whether hours of a span wait to be charged. All may wait until a term has looked. */
  readonly isWaiting: (span: { readonly from: number; readonly until: number }) => boolean;
  /** Returns whether too many hours wait for a forecast. */
  readonly isBehind: () => boolean;
  status(): Pick<ProcessorStatus, "rollups" | "hoursWaiting">;
}

/** Creates the progress of a processor that does not lead yet. */
export function createProgress({ metrics, logger, now, closingDay }: ProgressOptions): Progress {
  const totals = { windows: 0, lastSeconds: undefined as number | undefined, dirty: 0 };
  /** The starts of the hours that wait; undefined until a term has looked for them. */
  let hoursWaiting: readonly number[] | undefined;
  const warn = createOverdueWarning(logger);
  const isWaiting: Progress["isWaiting"] = (span) =>
    hoursWaiting === undefined || hoursIn(hoursWaiting, span).length > 0;
  metrics.leader.set(0);

  return {
    begin(generation) {
      metrics.leader.set(1);
      logger.info({ generation }, "this processor leads");
    },
    end(generation) {
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
    eventsOf: (bills) => ({
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
      onCharged(charged) {
        bills.changed();
        reportFindings(charged, metrics, logger);
      },
      onLooked({ dirty, settledUntilMillis, closed, begun, isNew }) {
        if (isNew) bills.changed();
        const first = begun === undefined ? undefined : periodOf(Math.max(begun, closed.openSince));
        const overdue = first === undefined ? [] : periodsDue(first, now(), closingDay);
        metrics.periodsOverdue.set(overdue.length);
        // Until the last hour of a period is charged, nobody can close it.
        warn(
          overdue.filter((period) => !isWaiting(period)),
          now(),
        );
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
    }),
    isWaiting,
    isBehind: () => hoursWaiting === undefined || isBehind(hoursWaiting),
    status: () => ({ rollups: { ...totals }, hoursWaiting }),
  };
}

function reportFindings(
  { cluster, windowStart, findings }: Parameters<TermEvents["onCharged"]>[0],
  metrics: Metrics,
  logger: Logger,
): void {
  const { breaches, refusedTeams, refusedScopes, unsplitServices, unpricedGpuHours } = findings;
  const window = new Date(windowStart).toISOString();
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
}

/** Creates a warning about overdue periods, at most once a day for each. */
function createOverdueWarning(logger: Logger): (overdue: readonly BillingPeriod[], nowMillis: number) => void {
  const warnedOn = new Map<string, string>();
  return (overdue, nowMillis) => {
    const today = dateText(nowMillis);
    for (const { name: period } of overdue) {
      if (warnedOn.get(period) === today) continue;
      warnedOn.set(period, today);
      logger.warn({ period }, "the closing date of a billing period has come, and the period is still open");
    }
  };
}
