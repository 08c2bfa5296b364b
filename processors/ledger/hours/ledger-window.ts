import { createHash } from "node:crypto";
import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { ofLastRun, RUN_ORDER } from "../../../runtime/store/schema/runs.ts";
import {
  beginCharges,
  chargeWindow,
  type ChargeFindings,
  type ChargeRules,
  type HourCharges,
} from "../charging/charge-window.ts";
import { chargedUsage } from "../charging/charged-nodes.ts";
import { FLEET } from "../charging/fleet-hours.ts";
import { closingOf, type Closed } from "../closing/closed.ts";
import type { FrozenWeights } from "../closing/frozen.ts";
import { correctWindow } from "../charging/corrections.ts";
import { hasOwnedByMatch, listedMachines } from "../charge/absent-machines.ts";
import { knownDates, type KnownDates } from "../plan/known-dates.ts";
import { meterWindow } from "../metering/meter.ts";
import type { WindowOfCluster } from "./schedule.ts";
import { newRunId, type Run, type RunContent, type Watermark } from "./runs.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** By what hours are metered and charged, ready to be used for many of them. */
export interface LedgerRules {
  readonly charge: ChargeRules;
  readonly dates: KnownDates;
  /** Of all of it: where it differs, charges may. */
  readonly hash: string;
  /** Of prices and owners alone: where they differ, what is closed may have to be corrected. */
  readonly booksHash: string;
  /** Without Kubernetes a slot ends after so long without a sample. */
  readonly absentAfterMillis: number;
  /** Whether the prices know costs that are of no cluster. */
  readonly hasFleetCosts: boolean;
}

/** A slot is there for so long without a sample where nothing else is said. */
export const ABSENT_AFTER_MILLIS = 24 * HOUR_MILLIS;

/** The rules of a configuration, from all of its text that they are made of: the policies, and the rest. */
export function ledgerRules(
  charge: ChargeRules,
  books: string,
  policies = "",
  absentAfterMillis = ABSENT_AFTER_MILLIS,
): LedgerRules {
  return {
    charge,
    dates: knownDates(charge.book, charge.owners.changes, charge.energy),
    hash: sha256(`${books}\n${policies}`),
    booksHash: sha256(books),
    absentAfterMillis,
    hasFleetCosts: hasFleetCosts(charge.book),
  };
}

function hasFleetCosts(book: ChargeRules["book"]): boolean {
  const hasOwned = listedMachines(book).length > 0 || hasOwnedByMatch(book);
  return book.commitments.length + book.fixed.length > 0 || hasOwned;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

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

/** An hour whose charges were made of other usage or by other rules than now, or were not made. */
export interface StaleWindow extends WindowOfCluster {
  readonly usageRun: string;
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

/** What charges are made of: the usage run, the rules, and of those prices and owners. */
function basisOf(usageRun: string, { hash, booksHash }: Pick<LedgerRules, "hash" | "booksHash">): string {
  return `${usageRun} ${hash} ${booksHash}`;
}

/**
 * The hours of a span whose charges are stale, the newest first: in open periods where usage or any rule is another, in closed ones
 * where usage, prices or owners are, as the policies of those stay. What is of no cluster ({@link FLEET}) is made of the usage
 * of all. Fails with a `StoreError`.
 */
export async function staleCharges(
  store: StoreClient,
  { hash, booksHash, hasFleetCosts: isOfFleet }: Pick<LedgerRules, "hash" | "booksHash" | "hasFleetCosts">,
  { from, until = Infinity, openSince }: { readonly from: number; readonly until?: number; readonly openSince: number },
): Promise<readonly StaleWindow[]> {
  const seconds = (millis: number): number => Math.min(Math.max(Math.floor(millis / 1000), 0), LATEST_SECONDS);
  const spanned = "window_start >= fromUnixTimestamp({from:Int64}) AND window_start < fromUnixTimestamp({until:Int64})";
  return store.query<StaleWindow>(
    `WITH metered AS (
       SELECT cluster, window_start AS start, ${ofLastRun("toString(run_id)")} AS usage_run
       FROM runs WHERE kind = 'usage' AND ${spanned} GROUP BY cluster, start
     )
     SELECT cluster, toFloat64(toUnixTimestamp(start)) * 1000 AS windowStart, usage_run AS usageRun
     FROM (
       SELECT toString(cluster) AS cluster, start, usage_run FROM metered
       UNION ALL
       SELECT '${FLEET}', start, toString(reinterpretAsUUID(sipHash128(arrayStringConcat(arraySort(groupArray(usage_run))))))
       FROM metered
       WHERE {fleet:Bool} OR start IN (SELECT window_start FROM runs WHERE kind = 'charge' AND cluster = '${FLEET}')
       GROUP BY start
     ) AS usage
     LEFT JOIN (
       SELECT toString(cluster) AS cluster, window_start AS start,
         splitByChar(' ', argMax(basis, (kind = 'correction', billing_period, ${RUN_ORDER}))) AS made_of
       FROM runs
       WHERE kind IN ('charge', 'correction') AND ${spanned} AND run_id IN (SELECT run_id FROM charge_runs)
       GROUP BY cluster, start
     ) AS charge USING (cluster, start)
     WHERE made_of[1] != usage_run
       OR (start >= fromUnixTimestamp({open:Int64}) AND made_of[2] != {hash:String})
       OR (start < fromUnixTimestamp({open:Int64}) AND made_of[3] != {books:String})
     ORDER BY start DESC`,
    {
      hash,
      books: booksHash,
      from: seconds(from),
      until: seconds(until),
      open: seconds(openSince),
      fleet: isOfFleet,
    },
  );
}

/** The latest moment of a `DateTime`. */
const LATEST_SECONDS = 4_294_967_295;
