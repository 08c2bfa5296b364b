import { pause } from "../../../runtime/clock.ts";
import { dropAbandonedCloses } from "../closing/abandoned.ts";
import { auditRules } from "../closing/audit.ts";
import { hoursToMeter } from "../hours/hours-to-meter.ts";
import { keyOf, type WindowOfCluster } from "../../../domain/charge/window-of-cluster.ts";
import { readBooks, readBooksVersion } from "./books.ts";
import { settledUntil } from "./dirty-windows.ts";
import type { Term } from "./leader.ts";
import { dropSuperseded } from "./superseded.ts";
import { chargeRunning, computeDue, rechargeSome } from "./term-compute.ts";
import { createTermState, isRunning, timeOf, type TermOptions, type TermState } from "./term-state.ts";

/** The wait after a look that has found hours of the past. Without any it doubles, up to the timing's. */
const LOOK_AGAIN_MILLIS = 4_000;

/** The longest time for which the read books are used. A store with several replicas may have shown its version before the rest. */
const BOOKS_STAND_MILLIS = 300_000;

/**
 * Runs the work of a term. It looks for hours with new samples, new facts or passed time, and for hours whose rules or usage have changed.
 * It makes the rollups of the former, and meters and charges them; it charges the latter again, or corrects them. The newest hours come
 * first, several in step. It drops superseded runs. A failure is reported and retried, and never ends the term. The term ends if the store has a higher generation, because
 * another leader was elected, or if the clock was set back.
 */
export async function workTerm(options: TermOptions, given: Term): Promise<void> {
  const term = createTermState(options, given);
  const { events, timing, schedule, signal, now } = term;
  await begin(term);
  while (!signal.aborted) {
    // Of two runs of a term, the later one counts. Runs of the next term count whatever the clock shows.
    if (timeOf(term) > now()) return;
    if (!(await lookAround(term))) return;
    if (now() >= term.ledgerAt && !signal.aborted) await chargeRunning(term);
    events.onWaiting([...new Set([...schedule.past(now()), ...term.stale].map(({ windowStart }) => windowStart))]);
    const due = signal.aborted ? [] : schedule.next(now());
    const [newestDue, newestStale] = [due, term.stale].map(([first]) => first?.windowStart ?? -Infinity) as [
      number,
      number,
    ];
    if (newestStale > newestDue && !signal.aborted) await rechargeSome(term);
    else if (due.length > 0) await computeDue(term, due);
    else await pause(Math.min(timing.quietMillis, Math.max(50, Math.min(term.lookAt, term.ledgerAt) - now())), signal);
  }
}

async function begin({ store, ledger: { rules }, events, now }: TermState): Promise<void> {
  try {
    // Deletes plans that a crash has left. If an earlier leader still uses one, its rows are lost, but its generation is lower anyway.
    await store.command("TRUNCATE TABLE meter_plan");
    await auditRules(store, { hash: rules.hash, booksHash: rules.booksHash }, now());
  } catch (error) {
    events.onError(error);
  }
}

/** Looks for hours and drops superseded runs, each when its time has come. Returns false if another leader was elected. */
async function lookAround(term: TermState): Promise<boolean> {
  const { store, schedule, events, timing, signal, now } = term;
  try {
    if (now() >= term.lookAt) {
      const version = await readBooksVersion(store);
      if (version.generation > term.generation) return false;
      const waited = schedule.past(now()).length;
      await look(term, version.text);
      // Data of the past comes in bursts, so a look that has found some is followed by another one soon.
      const isComing = term.lookWait === 0 || schedule.past(now()).length > waited;
      term.lookWait = Math.min(timing.lookMillis, isComing ? LOOK_AGAIN_MILLIS : 2 * term.lookWait);
    }
    if (now() >= term.dropAt && !signal.aborted) {
      term.dropAt = now() + timing.dropMillis;
      events.onDropped((await dropSuperseded(store, now())) + (await dropAbandonedCloses(store, now())));
    }
  } catch (error) {
    events.onError(error);
  }
  if (now() >= term.lookAt) term.lookAt = now() + term.lookWait;
  return true;
}

async function look(term: TermState, version: string): Promise<void> {
  const { store, samples, serving, facts, schedule, sampled, changed, ledger, events, timing, now } = term;
  for (const window of await samples.look()) {
    sampled.add(keyOf(window));
    schedule.touch(window, now());
  }
  for (const window of await serving.look()) schedule.touch(window, now());
  changed.push(...(await facts.look()));
  const since = ledger.meteredSince(now());
  const at = `${version} ${facts.found} ${Math.floor(now() / BOOKS_STAND_MILLIS)}`;
  const isNew = at !== term.booksAt;
  if (isNew) {
    await term.invoices?.assign({ generation: term.generation, now: timeOf(term) });
    term.books = await readBooks(store, ledger.rules, { since, now: now() });
    term.booksAt = at;
    term.stale = term.books.stale;
  }
  const { due, begun } = hoursToMeter(term.books.lives, now(), since);
  term.known = begun;
  term.running = due.filter((window) => isRunning(term, window));
  const isDue = (window: WindowOfCluster): boolean =>
    !isRunning(term, window) && window.windowStart >= Math.max(since, begun.get(window.cluster) ?? Infinity);
  for (const window of due.filter(isDue)) schedule.add(window, now());
  for (const window of changed.splice(0)) {
    if (isDue(window)) schedule.touch(window, now());
    // The running hour is metered again in any case, and once more after its end.
    else facts.settle(window);
  }
  events.onLooked({
    dirty: schedule.size,
    settledUntilMillis: settledUntil(samples.passedMillis, timing.settleMillis),
    closed: term.books.closed,
    begun: term.books.begun,
    isNew,
  });
}
