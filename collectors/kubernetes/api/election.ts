import { pause, type Clock } from "../../../runtime/clock.ts";
import { ApiError } from "./api-error.ts";
import type { Lease, LeaseState } from "./lease.ts";

/** The term of this collector as the cluster's watcher. */
export interface WatchTerm {
  /** The start of the term, milliseconds since the epoch by the server's clock. Later terms have higher values. */
  readonly epoch: number;
  /** When the previous holder last renewed the lease, by the server's clock; `undefined` if there was none. */
  readonly formerUntilMillis: number | undefined;
  readonly signal: AbortSignal;
}

/** The events of an election, for metrics and logs. */
export interface ElectionEvents {
  onElected(epoch: number): void;
  onDeposed(): void;
  /** The server has answered a request for the lease. */
  onAnswered(): void;
  onError(error: unknown): void;
}

/** The duration of a lease and its renewal. */
export interface ElectionTiming {
  readonly durationMillis: number;
  /** A holder that could not renew for this time gives up, before others may take the lease. */
  readonly giveUpMillis: number;
  readonly renewMillis: number;
}

/** The timing of client-go's elections. */
export const ELECTION_TIMING: ElectionTiming = { durationMillis: 15_000, giveUpMillis: 10_000, renewMillis: 2_000 };

/**
 * Takes part in an election until it is stopped. Clocks of other machines are not trusted: a lease is free if its holder has not written
 * for its duration, by the monotonic clock of this machine. `lead` runs while the lease is held. If the lease is lost, or could not be
 * renewed in time, the term's signal is aborted, and nothing else begins before `lead` has ended. A stop releases the lease, so that the
 * next holder need not wait.
 */
export function startElection(options: {
  readonly lease: Lease;
  readonly identity: string;
  readonly clock: Clock;
  /** Returns the time by the server's clock. */
  readonly serverNowMillis: () => number;
  readonly events: ElectionEvents;
  readonly lead: (term: WatchTerm) => Promise<void>;
  readonly timing?: ElectionTiming;
}): { stop(): Promise<void> } {
  const { lease, identity, clock, serverNowMillis, events, lead, timing = ELECTION_TIMING } = options;
  const { durationMillis, giveUpMillis, renewMillis } = timing;
  const stopping = new AbortController();
  let seen: { readonly state: LeaseState; readonly at: number } | undefined;

  /** Returns whether the lease can be taken: it was released, it is our own, or its holder has not renewed it in time. */
  async function look(): Promise<{ readonly former: LeaseState | undefined; readonly free: boolean }> {
    const former = await lease.read();
    if (former === undefined) return { former, free: true };
    const now = clock.monotonicMillis();
    if (seen?.state.resourceVersion !== former.resourceVersion) seen = { state: former, at: now };
    return {
      former,
      free: former.holder === "" || former.holder === identity || now - seen.at > former.durationMillis,
    };
  }

  async function acquire(former: LeaseState | undefined): Promise<LeaseState> {
    const now = Math.max(serverNowMillis(), (former?.acquiredAtMillis ?? 0) + 1);
    const transitions = former === undefined ? 0 : former.transitions + 1;
    const term = { holder: identity, durationMillis, acquiredAtMillis: now, renewedAtMillis: now, transitions };
    return await lease.write(term, former);
  }

  /**
   * Holds the lease from `acquiredAt` on, by the monotonic clock. This is the moment before the write was sent, because others may count
   * from any moment after it.
   */
  async function hold(first: LeaseState, acquiredAt: number, former: LeaseState | undefined): Promise<void> {
    const ending = new AbortController();
    const stop = (): void => ending.abort();
    stopping.signal.addEventListener("abort", stop, { once: true });
    let deadline = setTimeout(stop, giveUpMillis - (clock.monotonicMillis() - acquiredAt));
    events.onElected(first.acquiredAtMillis);
    const term = { epoch: first.acquiredAtMillis, formerUntilMillis: former?.renewedAtMillis, signal: ending.signal };
    const work = lead(term).catch((error: unknown) => {
      events.onError(error);
      ending.abort();
    });
    let state = first;
    while (!ending.signal.aborted) {
      await pause(renewMillis, ending.signal);
      if (ending.signal.aborted) break;
      const sentAt = clock.monotonicMillis();
      try {
        state = await lease.write({ ...state, renewedAtMillis: serverNowMillis() }, state);
        events.onAnswered();
        clearTimeout(deadline);
        deadline = setTimeout(stop, giveUpMillis - (clock.monotonicMillis() - sentAt));
      } catch (error) {
        events.onError(error);
        const written = await goOnFrom(error, state, lease);
        if (written === undefined) ending.abort();
        else state = written;
      }
    }
    clearTimeout(deadline);
    await work;
    stopping.signal.removeEventListener("abort", stop);
    events.onDeposed();
    if (stopping.signal.aborted) await lease.write({ ...state, holder: "" }, state).catch(() => {});
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const { former, free } = await look();
        events.onAnswered();
        const sentAt = clock.monotonicMillis();
        if (free) await hold(await acquire(former), sentAt, former);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "conflict") events.onError(error);
      }
      await pause(renewMillis, stopping.signal);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Returns the state to continue from after a failed write. A conflict can be with an own write whose response was lost. `undefined` if
 * another collector holds the lease.
 */
async function goOnFrom(error: unknown, state: LeaseState, lease: Lease): Promise<LeaseState | undefined> {
  if (!(error instanceof ApiError) || error.code !== "conflict") return state;
  const now = await lease.read().catch(() => state);
  return now?.holder === state.holder && now.acquiredAtMillis === state.acquiredAtMillis ? now : undefined;
}
