/** Work in steps of about a millisecond; what it comes to is returned. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all steps of a work at once. Throws what the work throws. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does the steps of many works by turns, so that none of them, nor anything else in the process, waits for a whole other one. */
export interface StepRunner {
  /** Resolves with what the work comes to; rejects with what it throws. */
  run<Result>(steps: Steps<Result>): Promise<Result>;
}

/** How long the works of a runner have the process before timers and sockets have their turn. */
const SLICE_MILLIS = 10;

/** A runner that has no work yet. */
export function createStepRunner(): StepRunner {
  const turns: (() => boolean)[] = [];
  let isWaiting = false;

  function work(): void {
    isWaiting = false;
    const until = performance.now() + SLICE_MILLIS;
    for (let turn = turns.shift(); turn !== undefined; turn = performance.now() < until ? turns.shift() : undefined)
      if (turn()) turns.push(turn);
    if (turns.length > 0) wait();
  }

  function wait(): void {
    if (!isWaiting) setImmediate(work);
    isWaiting = true;
  }

  return {
    run<Result>(steps: Steps<Result>) {
      return new Promise<Result>((resolve, reject) => {
        const turn = (): boolean => {
          try {
            const { done, value } = steps.next();
            if (done === true) resolve(value);
            return done !== true;
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
            return false;
          }
        };
        turns.push(turn);
        wait();
      });
    },
  };
}
