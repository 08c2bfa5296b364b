/** Lanes limit how many statements of a kind run at the same time, so that reports do not delay inserts. */
import pLimit from "p-limit";
import { AdapterError } from "./adapter-error.ts";

/** The most running and the most waiting statements. */
export interface LaneSize {
  readonly concurrent: number;
  readonly waiting: number;
}

/** The lanes of the store: inserts with their rows, other statements of the program, questions of callers, and pings. */
export const laneSizes = {
  inserts: { concurrent: 2, waiting: 256 },
  statements: { concurrent: 4, waiting: 256 },
  questions: { concurrent: 4, waiting: 256 },
  ping: { concurrent: 1, waiting: 64 },
} as const satisfies Readonly<Record<string, LaneSize>>;

/** The name of a lane. */
export type LaneName = keyof typeof laneSizes;

/**
 * The threads that libuv needs. Each running statement occupies one until the engine has finished, and files, gzip and DNS need some more.
 * Set as `UV_THREADPOOL_SIZE` before the process starts.
 */
export const storeThreadPoolSize = Object.values(laneSizes).reduce((sum, lane) => sum + lane.concurrent, 0) + 5;

/** A lane with its bounded queue. */
export interface Lane {
  readonly running: number;
  readonly waiting: number;
  /** Runs `work` when its turn comes. Fails with 202 if the queue is full, and with 394 without running `work` if `signal` was aborted. */
  run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

/** Fails with 394 if the client of a statement has disconnected. */
export function refuseDeparted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new AdapterError(394, "The client disconnected before its query started");
}

/** Creates a lane. First come, first served. */
export function createLane(name: string, { concurrent, waiting }: LaneSize): Lane {
  const limit = pLimit(concurrent);
  /** The number of running and waiting statements. */
  let taken = 0;
  return {
    get running() {
      return Math.min(taken, concurrent);
    },
    get waiting() {
      return Math.max(0, taken - concurrent);
    },
    async run(work, signal) {
      if (taken >= concurrent + waiting)
        throw new AdapterError(
          202,
          `Too many simultaneous queries: ${concurrent} run and ${waiting} wait in the lane "${name}"`,
        );
      taken += 1;
      try {
        return await limit(async () => {
          refuseDeparted(signal);
          return await work();
        });
      } finally {
        taken -= 1;
      }
    },
  };
}
