import { startDeadline } from "../../runtime/deadline.ts";
import { Problem } from "../question/problem.ts";

/** The limits of slots. */
export interface SlotLimits {
  /** The most works that run at once. */
  readonly atOnce: number;
  /** The most works of one caller that run at once. The rest is for others. */
  readonly ofCaller: number;
  /** The most works of one caller that wait. */
  readonly waiting: number;
}

/**
 * Slots for work, shared fairly between callers: of those who wait, the caller with the fewest running works is next, and of equals the one
 * whose last turn is the longest ago.
 */
export interface Slots {
  /**
   * Runs `work` in a slot. Fails like `work`, with a {@link Problem} if too many works of the caller wait, and with the reason of `signal` if
   * it is aborted before the work has begun.
   */
  run<Result>(caller: string, work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /**
   * Runs the making of items in a slot. The slot is free when the last item was made, when the reader stops, and when the signal of `items` is
   * aborted, even if the reader asks for nothing more: with `signal`, or if the reader has not read all items within `mostMillis`.
   */
  iterate<Item>(
    caller: string,
    items: (signal: AbortSignal) => AsyncIterable<Item>,
    of: { readonly signal: AbortSignal; readonly mostMillis: number },
  ): AsyncGenerator<Item>;
}

/** The state of a caller with running or waiting works. */
interface Caller {
  running: number;
  /** The number of its last turn; 0 before the first. */
  turn: number;
  readonly waiting: Set<() => void>;
}

/** Creates slots of which none is taken. */
export function createSlots({ atOnce, ofCaller, waiting: most }: SlotLimits): Slots {
  const callers = new Map<string, Caller>();
  let taken = 0;
  let turns = 0;

  function nextCaller(): Caller | undefined {
    const waiting = [...callers.values()].filter(({ running, waiting }) => waiting.size > 0 && running < ofCaller);
    return waiting.toSorted((one, other) => one.running - other.running || one.turn - other.turn)[0];
  }

  function fill(): void {
    for (let next = nextCaller(); taken < atOnce && next !== undefined; next = nextCaller()) {
      const [begin] = next.waiting;
      next.waiting.delete(begin!);
      begin!();
    }
  }

  async function take(name: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const caller = callers.get(name) ?? { running: 0, turn: 0, waiting: new Set() };
    if (caller.waiting.size >= most)
      throw new Problem("busy", `${most} of your questions wait for the store already; ask again in a while`);
    callers.set(name, caller);
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        caller.waiting.delete(begin);
        forgetIdle(name, caller);
        reject(signal.reason as Error);
      };
      const begin = (): void => {
        signal.removeEventListener("abort", leave);
        taken += 1;
        caller.running += 1;
        caller.turn = turns += 1;
        resolve();
      };
      signal.addEventListener("abort", leave, { once: true });
      caller.waiting.add(begin);
      fill();
    });
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      taken -= 1;
      caller.running -= 1;
      forgetIdle(name, caller);
      fill();
    };
  }

  function forgetIdle(name: string, { running, waiting }: Caller): void {
    if (running === 0 && waiting.size === 0) callers.delete(name);
  }

  return {
    async run(caller, work, signal) {
      const release = await take(caller, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
    async *iterate(caller, items, { signal, mostMillis }) {
      const release = await take(caller, signal);
      const deadline = startDeadline(signal, mostMillis);
      deadline.signal.addEventListener("abort", release);
      try {
        yield* items(deadline.signal);
      } finally {
        deadline.end();
        // The signal can be aborted between the turn and the listener.
        release();
      }
    },
  };
}
