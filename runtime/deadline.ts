import { setMaxListeners } from "node:events";

/** A signal that is aborted with another signal, or when its time is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True if the signal was aborted because its time was over. */
  readonly isOver: boolean;
  /** Ends the timer. Nothing aborts the signal afterwards. */
  end(): void;
}

/**
 * Starts a deadline: `signal` with a time limit. The reason is a `TimeoutError` when the time is over. The timer does not keep the process
 * alive. It replaces `AbortSignal.any([signal, AbortSignal.timeout(millis)])`, which only weak references hold in Node 20: after a garbage
 * collection its time is never over. Any number of deadlines can share `signal`: Node warns of a leak from 11 listeners on, and each deadline
 * removes its own.
 */
export function startDeadline(signal: AbortSignal, millis: number): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  };
  const abort = (): void => {
    end();
    controller.abort(signal.reason);
  };
  const timer = setTimeout(() => {
    end();
    isOver = true;
    controller.abort(new DOMException(`not done within ${millis} ms`, "TimeoutError"));
  }, millis).unref();
  setMaxListeners(0, signal);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    end,
  };
}
