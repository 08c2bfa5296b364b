import type { UsageHour } from "../../../domain/allocation/usage-hour.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { beginCharges, chargeWindow, type Charged, type HourCharges } from "../charging/charge-window.ts";
import { invoiceRunOf } from "../charging/read-invoiced.ts";
import { chargedUsage } from "../charging/charged-nodes.ts";
import { correctWindow } from "../charging/corrections.ts";
import { closingOf, type Closed } from "../closed/closed.ts";
import type { FrozenWeights } from "../closed/frozen.ts";
import { meterWindow } from "../metering/meter.ts";
import { meterServing } from "../serving/meter-serving.ts";
import type { Findings } from "../metering/findings.ts";
import { basisOf, type LedgerRules } from "../charging/rules.ts";
import { newRunId, type Run, type Watermark } from "../runs/runs.ts";
import type { WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import type { StaleWindow } from "./stale-hours.ts";

/** The leader's generation, the time, and the state of the input of a computation. */
export interface LedgerTurn {
  readonly generation: number;
  /** The positions of facts below which all facts were considered. */
  readonly facts: Watermark;
  /** The positions of scrapes of engines below which all were considered; absent if nothing follows them. */
  readonly serving?: Watermark;
  readonly now: number;
  /** The closed periods. Their hours are corrected, not charged. */
  readonly closed: Closed;
  readonly weights: FrozenWeights;
}

/** The result of computing an hour. */
export interface LedgerWindow extends Charged, Findings {
  readonly usageRows: number;
}

/**
 * Meters and charges an hour of a cluster, or corrects it if its period is closed. Nodes are charged while they are metered, from the
 * stored rows, so nothing is read again. Fails with a `StoreError`.
 */
export async function computeLedger(
  store: StoreClient,
  { cluster, windowStart }: WindowOfCluster,
  rules: LedgerRules,
  turn: LedgerTurn,
  signal?: AbortSignal,
): Promise<LedgerWindow> {
  const { generation, facts, serving = new Map(), now } = turn;
  const servingOf = { cluster, windowStart, generation, watermark: serving, publishedAt: now, runId: newRunId() };
  const served = await meterServing(store, servingOf, now);
  const servingRun = served === undefined ? "" : servingOf.runId;
  const invoiceRun = await invoiceRunOf(store, { cluster, windowStart }, rules.charge.invoices);
  const window = { cluster, windowStart, usageRun: newRunId(), servingRun, invoiceRun };
  const run = { cluster, windowStart, generation, watermark: facts, publishedAt: now, runId: window.usageRun };
  const { dates, absentAfterMillis } = rules;
  const isOpen = closingOf(turn.closed, windowStart) === undefined;
  const basis = basisOf(window, rules);
  const begun = isOpen ? await beginCharges(store, chargeRunOf(window, turn), rules.charge) : undefined;
  const charges = begun && chargesAsMetered(begun, basis);
  // A node that is missing in an hour of a closed period would be corrected to nothing.
  const options = { dates, absentAfterMillis, asOf: now, signal, onUsage: charges?.add, mayLackNodes: isOpen };
  const { rows, discovered, proofs, breaches } = await meterWindow(store, run, options);
  signal?.throwIfAborted();
  const charged = charges === undefined ? await chargeAgain(store, window, rules, turn) : await charges.end();
  return { ...charged, breaches: [...breaches, ...charged.breaches], usageRows: rows, discovered, proofs };
}

/** Charges nodes from the rows of the meter. If charging fails, metering continues, and the error is thrown at the end. */
function chargesAsMetered(charges: HourCharges, basis: string) {
  let failure: { readonly error: unknown } | undefined;
  return {
    async add(rows: readonly UsageHour[]): Promise<void> {
      if (failure !== undefined) return;
      try {
        for await (const charged of chargedUsage([rows], charges.rules)) await charges.add(charged);
      } catch (error) {
        failure = { error };
      }
    },
    async end(): Promise<Awaited<ReturnType<HourCharges["end"]>>> {
      if (failure !== undefined) throw failure.error;
      return charges.end(basis);
    },
  };
}

/** The result of charging an hour again. */
export interface Recharged extends Charged {
  readonly kind: "charge" | "correction";
}

/**
 * Charges an hour of a cluster from its published usage run `usageRun`. If its period is closed, books the difference to the closed charges
 * in the oldest open period. Fails with a `StoreError`.
 */
export async function chargeAgain(
  store: StoreClient,
  { cluster, windowStart, ...made }: StaleWindow,
  rules: LedgerRules,
  { generation, now, closed, weights }: Omit<LedgerTurn, "facts" | "serving">,
): Promise<Recharged> {
  const run = chargeRunOf({ cluster, windowStart }, { generation, now });
  const basis = basisOf(made, rules);
  const closing = closingOf(closed, windowStart);
  if (closing === undefined) return { kind: "charge", ...(await chargeWindow(store, run, rules.charge, basis)) };
  // Nobody has written the list prices, so they do not correct what somebody has closed.
  if (rules.charge.book.isList === true) return NOTHING_CORRECTED;
  const into = { ...run, billingPeriod: closed.openSince };
  return {
    kind: "correction",
    ...(await correctWindow(store, into, rules.charge, { closing, weights, basis })),
  };
}

const NOTHING_CORRECTED: Recharged = {
  kind: "correction",
  chargeRows: 0,
  breaches: [],
  refusedScopes: [],
  refusedTeams: [],
  unsplitServices: [],
  unpricedGpuHours: 0,
};

function chargeRunOf(
  { cluster, windowStart }: WindowOfCluster,
  { generation, now }: Pick<LedgerTurn, "generation" | "now">,
): Run {
  return { cluster, windowStart, generation, watermark: new Map(), publishedAt: now, runId: newRunId() };
}
