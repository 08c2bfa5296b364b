import type { StoreClient } from "../../../runtime/store/client.ts";
import { computeLedger } from "../hours/compute-hour.ts";
import { computeHours, portionOf } from "../hours/portion.ts";
import type { StaleWindow } from "../hours/stale-hours.ts";
import type { Findings } from "../metering/findings.ts";
import { computeWindow, hasRawRows } from "../rollup/rollups.ts";
import { newRunId } from "../runs/runs.ts";
import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { nextLedger } from "./schedule.ts";
import { isRunning, timeOf, type TermState } from "./term-state.ts";

const NOTHING_FOUND: Findings = { discovered: [], proofs: new Set() };

/** Makes the rollups of due hours, and meters and charges them: as many of the first ones as fit into memory together. */
export async function computeDue(term: TermState, due: readonly WindowOfCluster[]): Promise<void> {
  const { store, schedule, events, timing, signal, now } = term;
  // A store that cannot answer has its failure reported for the first window.
  const windows = await portionOf(store, due).catch(() => due.slice(0, 1));
  try {
    const { reopened } = await computeHours(store, windows, (window, own) => computeHour(term, window, own));
    for (const window of reopened) schedule.touch(window, now() - timing.quietMillis);
  } catch (error) {
    for (const window of windows) schedule.fail(window, now());
    if (!signal.aborted) events.onError(error);
  }
}

async function computeHour(term: TermState, window: WindowOfCluster, own: StoreClient): Promise<Findings> {
  const { schedule, sampled, known, ledger, facts, events, signal, now } = term;
  const started = performance.now();
  schedule.begin(window, now());
  const isSampled = sampled.delete(keyOf(window));
  let found: Findings = NOTHING_FOUND;
  try {
    const hasRaw = await hasRawRows(own, window);
    const rows = isSampled && hasRaw ? await makeRollups(term, own, window) : undefined;
    // The first scrape of a cluster can touch the hour before, in which nothing was known yet.
    const isBefore = rows === 0 && window.windowStart < (known.get(window.cluster) ?? -Infinity);
    const isMetered = hasRaw && !isBefore && !isRunning(term, window);
    if (isMetered && window.windowStart >= ledger.meteredSince(now())) found = await makeLedger(term, own, window);
    facts.settle(window);
    schedule.finish(window, performance.now() - started);
  } catch (error) {
    if (isSampled) sampled.add(keyOf(window));
    schedule.fail(window, now());
    if (!signal.aborted) events.onError(error, window);
  }
  return found;
}

/** Meters and charges the running hours. */
export async function chargeRunning(term: TermState): Promise<void> {
  const { store, schedule, events, timing, signal, now } = term;
  const begun = performance.now();
  let rows = 0;
  for (const window of term.running) {
    try {
      if (signal.aborted) return;
      const { outcomes, reopened } = await computeHours(store, [window], (one, own) => makeLedger(term, own, one));
      for (const other of reopened) schedule.touch(other, now() - timing.quietMillis);
      const [outcome] = outcomes;
      if (outcome!.status === "rejected") throw outcome!.reason;
      rows += outcome!.value.usageRows;
    } catch (error) {
      if (!signal.aborted) events.onError(error, window);
    }
  }
  term.ledgerAt = nextLedger(timing, { costMillis: performance.now() - begun, rows }, now());
}

/** Meters and charges a window. Returns its number of usage rows, and what it has found out about other hours. */
async function makeLedger(term: TermState, own: StoreClient, window: WindowOfCluster) {
  const { generation, facts, serving, books, weights, ledger, events, signal } = term;
  const closed = books.closed;
  const turn = {
    generation,
    facts: facts.watermark,
    serving: serving.watermark,
    now: timeOf(term),
    closed,
    weights,
  };
  const begun = performance.now();
  term.stale = term.stale.filter((old) => keyOf(old) !== keyOf(window));
  const { usageRows, discovered, proofs, ...findings } = await computeLedger(own, window, ledger.rules, turn, signal);
  events.onRun({ ...window, kind: "usage", seconds: secondsSince(begun), rows: usageRows });
  events.onCharged({ ...window, findings });
  return { usageRows, discovered, proofs };
}

/** Computes the rollups of a window. Returns their number of rows. */
async function makeRollups(term: TermState, own: StoreClient, window: WindowOfCluster): Promise<number> {
  const { generation, samples, events, signal } = term;
  const begun = performance.now();
  const run = { ...window, runId: newRunId(), generation, watermark: samples.watermark, publishedAt: timeOf(term) };
  const { rows } = await computeWindow(own, run, signal);
  events.onRun({ ...window, kind: "rollup", seconds: secondsSince(begun), rows });
  return rows;
}

/** Charges as many stale hours again as are computed at the same time. After them, windows with new data have their turn. */
export async function rechargeSome(term: TermState): Promise<void> {
  const portions: (readonly StaleWindow[])[] = [];
  for (let [first] = term.stale; first !== undefined && portions.length < term.again.atOnce; [first] = term.stale) {
    const { cluster } = first;
    const ofCluster = term.stale.filter((window) => window.cluster === cluster);
    const portion = await portionOf(term.store, ofCluster).catch(() => ofCluster.slice(0, 1));
    term.stale = term.stale.filter((window) => !portion.includes(window));
    portions.push(portion);
  }
  await Promise.all(portions.map((portion) => recharge(term, portion)));
}

async function recharge(term: TermState, windows: readonly StaleWindow[]): Promise<void> {
  const { generation, again, books, events, signal } = term;
  const begun = performance.now();
  const outcomes = await again
    .charge(windows, { generation, now: timeOf(term), closed: books.closed })
    .catch((reason: unknown) => windows.map((): PromiseRejectedResult => ({ status: "rejected", reason })));
  for (const [index, window] of windows.entries()) {
    const outcome = outcomes[index]!;
    if (outcome.status === "rejected") {
      // The hour is still stale, whether or not the attempt has written anything.
      term.booksAt = undefined;
      if (!signal.aborted) events.onError(outcome.reason, window);
      continue;
    }
    const { kind, chargeRows, ...findings } = outcome.value;
    events.onRun({ ...window, kind, seconds: secondsSince(begun), rows: chargeRows });
    events.onCharged({ ...window, findings });
  }
}

function secondsSince(begun: number): number {
  return (performance.now() - begun) / 1000;
}
