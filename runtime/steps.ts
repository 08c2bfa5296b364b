/** Work in steps of about one millisecond. The generator returns the result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps of a work at once. Throws if the work throws. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Runs the steps of several works in turns, so that neither a work nor the rest of the process waits for another whole work. */
export interface StepRunner {
  /** Resolves with the result of the work. Rejects with its error. */
  run<Result>(steps: Steps<Result>): Promise<Result>;
}

/** How long the works of a runner may run before timers and sockets get their turn. */
const SLICE_MILLIS = 10;

/** Creates a runner without work. */
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
