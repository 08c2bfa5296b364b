import type { Logger } from "pino";
import { repeat, type Repeated } from "../../runtime/lifecycle/repeat.ts";

/** Work that only the leader repeats. */
export interface LeaderJob {
  /** The name in the log. */
  readonly name: string;
  readonly everyMillis: number;
  /** Works once. The signal is aborted when this processor no longer leads. */
  work(signal: AbortSignal): void | Promise<void>;
  /** Removes what the job shows: another processor leads. */
  clear?(): void;
  /** Closes what the job has opened. */
  close?(): Promise<void>;
}

/** The jobs of a processor, which run while it leads. */
export interface LeaderJobs {
  /** Runs each job at once, then in its interval. */
  begin(): void;
  /** Ends the jobs, and removes what they show. Work under way is not waited for. */
  end(): void;
  /** Ends the jobs for good. */
  stop(): Promise<void>;
}

/** Creates the jobs of a processor that does not lead yet. A failed job is tried again; the first failure in a row is a warning. */
export function createLeaderJobs(jobs: readonly LeaderJob[], logger: Logger): LeaderJobs {
  let term: { readonly stopping: AbortController; readonly repeated: readonly Repeated[] } | undefined;

  function start(job: LeaderJob, signal: AbortSignal): Repeated {
    let hasFailed = false;
    const turn = async (): Promise<void> => {
      try {
        await job.work(signal);
        hasFailed = false;
      } finally {
        // The leadership may have ended during the work.
        if (term === undefined) job.clear?.();
      }
    };
    return repeat(job.everyMillis, turn, (error) => {
      if (signal.aborted) return;
      logger[hasFailed ? "debug" : "warn"](
        { err: error, job: job.name },
        "a job of the leader failed; it is tried again",
      );
      hasFailed = true;
    });
  }

  function end(): void {
    const ending = term;
    term = undefined;
    ending?.stopping.abort();
    for (const each of ending?.repeated ?? []) void each.stop();
    for (const job of jobs) job.clear?.();
  }

  return {
    begin() {
      end();
      const stopping = new AbortController();
      term = { stopping, repeated: jobs.map((job) => start(job, stopping.signal)) };
    },
    end,
    async stop() {
      end();
      for (const job of jobs) await job.close?.();
    },
  };
}
