import { SAMPLES_TOPIC, SERVING_TOPIC } from "../../../domain/messages/topics.ts";
import type { Bus } from "../../../runtime/bus/bus.ts";
import { pause } from "../../../runtime/clock.ts";
import type { StoreClient } from "../../../runtime/store/client.ts";
import { readBooks, readBooksVersion, type Books } from "./books.ts";
import { createDirtyFacts } from "./dirty-facts.ts";
import {
  createDirtyWindows,
  SAMPLE_WINDOWS,
  SERVING_WINDOWS,
  settledUntil,
  type PartitionEnds,
} from "./dirty-windows.ts";
import { hoursToMeter } from "../hours/hours-to-meter.ts";
import type { Term } from "./leader.ts";
import { dropAbandonedCloses } from "../closing/abandoned.ts";
import { auditRules } from "../closing/audit.ts";
import { NOTHING_CLOSED } from "../closed/closed.ts";
import { createFrozenWeights } from "../closed/frozen.ts";
import { computeLedger } from "../hours/compute-hour.ts";
import { computeHours, portionOf } from "../hours/portion.ts";
import type { Findings } from "../metering/findings.ts";
import type { LedgerRules } from "../charging/rules.ts";
import type { StaleWindow } from "../hours/stale-hours.ts";
import { createRecharge, type Recharge } from "./recharge.ts";
import { createSchedule, nextLedger } from "./schedule.ts";
import { keyOf, type WindowOfCluster } from "../runs/window-of-cluster.ts";
import { computeWindow, hasRawRows } from "../rollup/rollups.ts";
import { newRunId } from "../runs/runs.ts";
import { dropSuperseded } from "./superseded.ts";
import type { TermEvents } from "./term-events.ts";
import type { TermTiming } from "./term-timing.ts";
import { HOUR_MILLIS } from "../../../domain/time.ts";

/** The rules and limits by which a term meters and charges. */
export interface TermLedger {
  readonly rules: LedgerRules;
  /** Returns the time before which hours are no longer metered, because their raw rows have begun to expire. */
  meteredSince(nowMillis: number): number;
  /** Charges hours again; by default the term itself does it. */
  readonly recharge?: Recharge;
}

/**
 * Runs the work of a term. It looks for hours with new samples, new facts or passed time, and for hours whose rules or usage have changed.
 * It makes the rollups of the former, and meters and charges them; it charges the latter again, or corrects them. The newest hours come
 * first, several in step. It drops superseded runs. A failure is reported and retried, and never ends the term. The term ends if the store has a higher generation, because
 * another leader was elected, or if the clock was set back.
 */
export async function workTerm(
  options: {
    readonly bus: Bus;
    readonly store: StoreClient;
    readonly now: () => number;
    readonly events: TermEvents;
    readonly timing: TermTiming;
    readonly ledger: TermLedger;
  },
  { generation, signal }: Term,
): Promise<void> {
  const { bus, store, now, events, timing, ledger } = options;
  const ends = (topic: string): Promise<PartitionEnds> => partitionEnds(bus, topic);
  const samples = createDirtyWindows({
    ...SAMPLE_WINDOWS,
    store,
    ends: () => ends(SAMPLES_TOPIC),
    now,
    overlapMillis: timing.overlapMillis,
  });
  const serving = createDirtyWindows({
    ...SERVING_WINDOWS,
    store,
    ends: () => ends(SERVING_TOPIC),
    now,
    overlapMillis: timing.overlapMillis,
  });
  const { absentAfterMillis } = ledger.rules;
  const facts = createDirtyFacts({ store, ends, absentAfterMillis, now });
  const schedule = createSchedule(timing);
  /** Waiting windows with new samples. Facts alone change no rollup. */
  const sampled = new Set<string>();
  /** Hours that facts have changed, until a look is complete. */
  const changed: WindowOfCluster[] = [];
  /** The running hours. Their charges have their own timing. */
  let running: readonly WindowOfCluster[] = [];
  let ledgerAt = 0;
  /** The first hour of each cluster. */
  let known: ReadonlyMap<string, number> = new Map();
  let books: Books = { closed: NOTHING_CLOSED, lives: [], stale: [], begun: undefined };
  /** The version of the books that were read. */
  let booksAt: string | undefined;
  /** The stale hours that still wait. */
  let stale: StaleWindow[] = [];
  const weights = createFrozenWeights(store);
  const again = ledger.recharge ?? createRecharge(store, ledger.rules);
  let lookAt = 0;
  let lookWait = 0;
  let dropAt = 0;
  let latest = 0;

  try {
    // Deletes plans that a crash has left. If an earlier leader still uses one, its rows are lost, but its generation is lower anyway.
    await store.command("TRUNCATE TABLE meter_plan");
    await auditRules(store, { hash: ledger.rules.hash, booksHash: ledger.rules.booksHash }, now());
  } catch (error) {
    events.onError(error);
  }
  while (!signal.aborted) {
    // Of two runs of a term, the later one counts. Runs of the next term count whatever the clock shows.
    if (time() > now()) return;
    try {
      if (now() >= lookAt) {
        const version = await readBooksVersion(store);
        if (version.generation > generation) return;
        const waited = schedule.past(now()).length;
        await look(version.text);
        // Data of the past comes in bursts, so a look that has found some is followed by another one soon.
        const isComing = lookWait === 0 || schedule.past(now()).length > waited;
        lookWait = Math.min(timing.lookMillis, isComing ? LOOK_AGAIN_MILLIS : 2 * lookWait);
      }
      if (now() >= dropAt && !signal.aborted) {
        dropAt = now() + timing.dropMillis;
        events.onDropped((await dropSuperseded(store, now())) + (await dropAbandonedCloses(store, now())));
      }
    } catch (error) {
      events.onError(error);
    }
    if (now() >= lookAt) lookAt = now() + lookWait;
    if (now() >= ledgerAt && !signal.aborted) await chargeRunning();
    events.onWaiting([...new Set([...schedule.past(now()), ...stale].map(({ windowStart }) => windowStart))]);
    const due = signal.aborted ? [] : schedule.next(now());
    const [newestDue, newestStale] = [due, stale].map(([first]) => first?.windowStart ?? -Infinity) as [number, number];
    if (newestStale > newestDue && !signal.aborted) await rechargeSome();
    else if (due.length > 0) await compute(due);
    else await pause(Math.min(timing.quietMillis, Math.max(50, Math.min(lookAt, ledgerAt) - now())), signal);
  }

  /** Returns the time, which never goes back within the current work. */
  function time(): number {
    return (latest = Math.max(latest, now()));
  }

  async function look(version: string): Promise<void> {
    for (const window of await samples.look()) {
      sampled.add(keyOf(window));
      schedule.touch(window, now());
    }
    for (const window of await serving.look()) schedule.touch(window, now());
    changed.push(...(await facts.look()));
    const since = ledger.meteredSince(now());
    const at = `${version} ${facts.found} ${Math.floor(now() / BOOKS_STAND_MILLIS)}`;
    const isNew = at !== booksAt;
    if (isNew) {
      books = await readBooks(store, ledger.rules, { since, now: now() });
      booksAt = at;
      stale = [...books.stale];
    }
    const { due, begun } = hoursToMeter(books.lives, now(), since);
    known = begun;
    running = due.filter(isRunning);
    const isDue = (window: WindowOfCluster): boolean =>
      !isRunning(window) && window.windowStart >= Math.max(since, begun.get(window.cluster) ?? Infinity);
    for (const window of due.filter(isDue)) schedule.add(window, now());
    for (const window of changed.splice(0)) {
      if (isDue(window)) schedule.touch(window, now());
      // The running hour is metered again in any case, and once more after its end.
      else facts.settle(window);
    }
    events.onLooked({
      dirty: schedule.size,
      settledUntilMillis: settledUntil(samples.passedMillis, timing.settleMillis),
      closed: books.closed,
      begun: books.begun,
      isNew,
    });
  }

  /** Computes as many of the first windows as fit into memory together. */
  async function compute(due: readonly WindowOfCluster[]): Promise<void> {
    // A store that cannot answer has its failure reported for the first window.
    const windows = await portionOf(store, due).catch(() => due.slice(0, 1));
    try {
      const { reopened } = await computeHours(store, windows, computeHour);
      for (const window of reopened) schedule.touch(window, now() - timing.quietMillis);
    } catch (error) {
      for (const window of windows) schedule.fail(window, now());
      if (!signal.aborted) events.onError(error);
    }
  }

  async function computeHour(window: WindowOfCluster, own: StoreClient): Promise<Findings> {
    const started = performance.now();
    schedule.begin(window, now());
    const isSampled = sampled.delete(keyOf(window));
    let found: Findings = NOTHING_FOUND;
    try {
      const hasRaw = await hasRawRows(own, window);
      const rows = isSampled && hasRaw ? await makeRollups(own, window) : undefined;
      // The first scrape of a cluster can touch the hour before, in which nothing was known yet.
      const isBefore = rows === 0 && window.windowStart < (known.get(window.cluster) ?? -Infinity);
      const isMetered = hasRaw && !isBefore && !isRunning(window);
      if (isMetered && window.windowStart >= ledger.meteredSince(now())) found = await makeLedger(own, window);
      facts.settle(window);
      schedule.finish(window, performance.now() - started);
    } catch (error) {
      if (isSampled) sampled.add(keyOf(window));
      schedule.fail(window, now());
      if (!signal.aborted) events.onError(error, window);
    }
    return found;
  }

  function isRunning({ windowStart }: WindowOfCluster): boolean {
    return now() < windowStart + HOUR_MILLIS;
  }

  async function chargeRunning(): Promise<void> {
    const begun = performance.now();
    let rows = 0;
    for (const window of running) {
      try {
        if (signal.aborted) return;
        const { outcomes, reopened } = await computeHours(store, [window], (one, own) => makeLedger(own, one));
        for (const other of reopened) schedule.touch(other, now() - timing.quietMillis);
        const [outcome] = outcomes;
        if (outcome!.status === "rejected") throw outcome!.reason;
        rows += outcome!.value.usageRows;
      } catch (error) {
        if (!signal.aborted) events.onError(error, window);
      }
    }
    ledgerAt = nextLedger(timing, { costMillis: performance.now() - begun, rows }, now());
  }

  /** Meters and charges a window. Returns its number of usage rows, and what it has found out about other hours. */
  async function makeLedger(own: StoreClient, window: WindowOfCluster) {
    const turn = {
      generation,
      facts: facts.watermark,
      serving: serving.watermark,
      now: time(),
      closed: books.closed,
      weights,
    };
    const begun = performance.now();
    stale = stale.filter((old) => keyOf(old) !== keyOf(window));
    const { usageRows, discovered, proofs, ...findings } = await computeLedger(own, window, ledger.rules, turn, signal);
    events.onRun({ ...window, kind: "usage", seconds: secondsSince(begun), rows: usageRows });
    events.onCharged({ ...window, findings });
    return { usageRows, discovered, proofs };
  }

  /** Computes the rollups of a window. Returns their number of rows. */
  async function makeRollups(own: StoreClient, window: WindowOfCluster): Promise<number> {
    const begun = performance.now();
    const run = { ...window, runId: newRunId(), generation, watermark: samples.watermark, publishedAt: time() };
    const { rows } = await computeWindow(own, run, signal);
    events.onRun({ ...window, kind: "rollup", seconds: secondsSince(begun), rows });
    return rows;
  }

  /** Charges as many stale hours again as are computed at the same time. After them, windows with new data have their turn. */
  async function rechargeSome(): Promise<void> {
    const portions: (readonly StaleWindow[])[] = [];
    for (let [first] = stale; first !== undefined && portions.length < again.atOnce; [first] = stale) {
      const { cluster } = first;
      const ofCluster = stale.filter((window) => window.cluster === cluster);
      const portion = await portionOf(store, ofCluster).catch(() => ofCluster.slice(0, 1));
      stale = stale.filter((window) => !portion.includes(window));
      portions.push(portion);
    }
    await Promise.all(portions.map(recharge));
  }

  async function recharge(windows: readonly StaleWindow[]): Promise<void> {
    const begun = performance.now();
    const turn = { generation, now: time(), closed: books.closed };
    const outcomes = await again
      .charge(windows, turn)
      .catch((reason: unknown) => windows.map((): PromiseRejectedResult => ({ status: "rejected", reason })));
    for (const [index, window] of windows.entries()) {
      const outcome = outcomes[index]!;
      if (outcome.status === "rejected") {
        // The hour is still stale, whether or not the attempt has written anything.
        booksAt = undefined;
        if (!signal.aborted) events.onError(outcome.reason, window);
        continue;
      }
      const { kind, chargeRows, ...findings } = outcome.value;
      events.onRun({ ...window, kind, seconds: secondsSince(begun), rows: chargeRows });
      events.onCharged({ ...window, findings });
    }
  }
}

const NOTHING_FOUND: Findings = { discovered: [], proofs: new Set() };

/** The wait after a look that has found hours of the past. Without any it doubles, up to the timing's. */
const LOOK_AGAIN_MILLIS = 4_000;

/** The longest time for which the read books are used. A store with several replicas may have shown its version before the rest. */
const BOOKS_STAND_MILLIS = 300_000;

function secondsSince(begun: number): number {
  return (performance.now() - begun) / 1000;
}

async function partitionEnds(bus: Bus, topic: string): Promise<PartitionEnds> {
  return new Map((await bus.watermarks(topic)).map(({ partition, high }) => [partition, high]));
}
