/** Lanes: how many statements of a kind run at once, so that reports do not hold up inserts. */
import { FaceError } from "./face-error.ts";

/** How many may run at once and how many may wait. */
export interface LaneSize {
  readonly concurrent: number;
  readonly waiting: number;
}

/** The lanes of the store: inserts with their rows, other statements, and pings. */
export const laneSizes = {
  inserts: { concurrent: 2, waiting: 256 },
  statements: { concurrent: 4, waiting: 256 },
  ping: { concurrent: 1, waiting: 64 },
} as const satisfies Readonly<Record<string, LaneSize>>;

/** The name of a lane. */
export type LaneName = keyof typeof laneSizes;

/**
 * Threads that libuv needs: each running statement holds one until the engine has finished, and files, gzip and DNS
 * need some beside them. Set as `UV_THREADPOOL_SIZE` before the process starts.
 */
export const storeThreadPoolSize = Object.values(laneSizes).reduce((sum, lane) => sum + lane.concurrent, 0) + 5;

/** A lane with its bounded queue. */
export interface Lane {
  readonly running: number;
  readonly waiting: number;
  /** Runs `work` when its turn comes; refuses with 202 when the queue is full, and skips it when `signal` aborted. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** Makes a lane. First come, first served. */
export function createLane(name: string, size: LaneSize): Lane {
  const queue: (() => void)[] = [];
  let running = 0;

  const next = (): void => {
    running -= 1;
    queue.shift()?.();
  };

  return {
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
    async run(work, signal) {
      if (running >= size.concurrent) {
        if (queue.length >= size.waiting) {
          throw new FaceError(
            202,
            `Too many simultaneous queries: ${running} run and ${queue.length} wait in the lane "${name}"`,
          );
        }
        await new Promise<void>((resolve) => {
          queue.push(() => {
            running += 1;
            resolve();
          });
        });
      } else {
        running += 1;
      }
      try {
        if (signal?.aborted === true) throw new FaceError(159, "The client went away before its turn came");
        return await work();
      } finally {
        next();
      }
    },
  };
}
