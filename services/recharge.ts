import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import type { Recharged } from "../processors/ledger/hours/compute-hour.ts";
import type { Recharge } from "../processors/ledger/term/recharge.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreAddress } from "../runtime/store/connection.ts";
import type { RechargeThread } from "./recharge-thread.ts";

/** The limit of threads. More would wait for the store. */
const MOST_THREADS = 4;
/** Two portions at once: one is computed while the other waits for the store. */
const PORTIONS_A_THREAD = 2;
const IDLE_MILLIS = 10_000;

/** Threads that charge hours again: one for each core, at most four. They exist while there is work. */
export interface RechargeThreads extends Recharge {
  /** Ends the threads and aborts their work. */
  stop(): Promise<void>;
}

/** Creates the threads' manager without starting a thread. */
export function createRechargeThreads(config: Config, address: StoreAddress): RechargeThreads {
  const threads = Math.min(availableParallelism(), MOST_THREADS);
  const given: RechargeThread = { config, address };
  const pool = new Piscina({
    filename: fileURLToPath(new URL("recharge-thread.js", import.meta.url)),
    workerData: given,
    minThreads: 0,
    maxThreads: threads,
    concurrentTasksPerWorker: PORTIONS_A_THREAD,
    idleTimeout: IDLE_MILLIS,
    // A thread that blocks while it waits for its next task could not read the store's answer to its other task.
    atomics: "disabled",
  });
  return {
    atOnce: threads * PORTIONS_A_THREAD,
    charge: (windows, turn) => pool.run({ windows, turn }) as Promise<readonly PromiseSettledResult<Recharged>[]>,
    stop: () => pool.destroy(),
  };
}
