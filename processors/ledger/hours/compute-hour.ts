import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { beginCharges, chargeWindow, type ChargeFindings, type HourCharges } from "../charging/charge-window.ts";
import { chargedUsage } from "../charging/charged-nodes.ts";
import { correctWindow } from "../charging/corrections.ts";
import { closingOf, type Closed } from "../closing/closed.ts";
import type { FrozenWeights } from "../closing/frozen.ts";
import { meterWindow } from "../metering/meter.ts";
import { basisOf, type LedgerRules } from "./rules.ts";
import { newRunId, type Run, type RunContent, type Watermark } from "./runs.ts";
import type { WindowOfCluster } from "./schedule.ts";
import type { StaleWindow } from "./stale-hours.ts";

/** Who computes, when, and what was looked at by then. */
export interface LedgerTurn {
  readonly generation: number;
  /** The places of facts below which all had been considered. */
  readonly facts: Watermark;
  readonly now: number;
  /** Hours of closed periods are corrected, not charged. */
  readonly closed: Closed;
  readonly weights: FrozenWeights;
}

/** What an hour came to. */
export interface LedgerWindow extends ChargeFindings {
  readonly usageRows: number;
  readonly chargeRows: number;
  /** Other hours that are to be computed again, as this one proved who held something in them. */
  readonly reopened: readonly WindowOfCluster[];
}

/**
 * Meters and charges an hour of a cluster, or corrects it where it is closed. Nodes are charged as they are metered, by the rows that are
 * stored, so that nothing is read again. Fails with a `StoreError`.
 */
export async function computeLedger(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  rules: LedgerRules,
  turn: LedgerTurn,
  signal?: AbortSignal,
): Promise<LedgerWindow> {
  const { generation, facts, now } = turn;
  const window = { cluster, windowStart, usageRun: newRunId() };
  const run = { cluster, windowStart, generation, watermark: facts, publishedAt: now, runId: window.usageRun };
  const { dates, absentAfterMillis } = rules;
  const isOpen = closingOf(turn.closed, windowStart) === undefined;
  const begun = isOpen ? await beginCharges(store, chargeRunOf(window, rules, turn), rules.charge) : undefined;
  const charges = begun && chargesAsMetered(begun);
  const options = { dates, absentAfterMillis, asOf: now, signal, onUsage: charges?.add };
  const { rows, reopened } = await meterWindow(store, run, options);
  signal?.throwIfAborted();
  const charged =
    charges === undefined ? await chargeAgain(store, window, rules, turn) : rechargedOf("charge", await charges.end());
  return {
    ...charged,
    usageRows: rows,
    reopened: reopened.map((start) => ({ cluster, windowStart: start })),
  };
}

/** Charges nodes by the rows of the meter. What cannot be charged is metered all the same: a failure is told at the end. */
function chargesAsMetered(charges: HourCharges) {
  let failure: { readonly error: unknown } | undefined;
  return {
    async add(rows: readonly UsageHour[]): Promise<void> {
      if (failure !== undefined) return;
      try {
        for await (const { node, charged } of chargedUsage([rows], charges.rules)) await charges.add(node, charged);
      } catch (error) {
        failure = { error };
      }
    },
    async end(): Promise<Awaited<ReturnType<HourCharges["end"]>>> {
      if (failure !== undefined) throw failure.error;
      return charges.end();
    },
  };
}

/** What an hour that was charged again came to. */
export interface Recharged extends ChargeFindings {
  readonly kind: "charge" | "correction";
  readonly chargeRows: number;
}

/**
 * Charges an hour of a cluster by what the meter has published of it, as `usageRun`; where it is closed, books what differs from what
 * was closed in the oldest period that is open. Fails with a `StoreError`.
 */
export async function chargeAgain(
  store: StoreClient,
  { cluster, windowStart, usageRun }: StaleWindow,
  rules: LedgerRules,
  { generation, now, closed, weights }: Omit<LedgerTurn, "facts">,
): Promise<Recharged> {
  const run = chargeRunOf({ cluster, windowStart, usageRun }, rules, { generation, now });
  const closing = closingOf(closed, windowStart);
  if (closing === undefined) return rechargedOf("charge", await chargeWindow(store, run, rules.charge));
  const into = { ...run, billingPeriod: closed.openSince };
  return rechargedOf("correction", await correctWindow(store, into, rules.charge, { closing, weights }));
}

function chargeRunOf(
  { cluster, windowStart, usageRun }: StaleWindow,
  rules: LedgerRules,
  { generation, now }: Pick<LedgerTurn, "generation" | "now">,
): Run {
  const basis = basisOf(usageRun, rules);
  return { cluster, windowStart, generation, watermark: new Map(), publishedAt: now, runId: newRunId(), basis };
}

function rechargedOf(
  kind: Recharged["kind"],
  { content, ...findings }: ChargeFindings & { readonly content: RunContent | undefined },
): Recharged {
  return { ...findings, kind, chargeRows: content?.rows ?? 0 };
}
