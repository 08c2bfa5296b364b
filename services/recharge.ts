import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Piscina } from "piscina";
import type { Recharged } from "../processors/ledger/hours/compute-hour.ts";
import type { Recharge } from "../processors/ledger/term/recharge.ts";
import type { Config } from "../runtime/config/schema.ts";
import type { StoreAddress } from "../runtime/store/connection.ts";
import type { RechargeThread } from "./recharge-thread.ts";

/** More than that wait for the store. */
const MOST_THREADS = 4;
/** While one waits for the store, the other is computed. */
const HOURS_A_THREAD = 2;
const IDLE_MILLIS = 10_000;

/** Threads that charge hours again, as many as there are cores, four at most: they are there while there is something to do. */
export interface RechargeThreads extends Recharge {
  /** Ends them, with what they are at. */
  stop(): Promise<void>;
}

/** Starts no thread yet. */
export function createRechargeThreads(config: Config, address: StoreAddress): RechargeThreads {
  const threads = Math.min(availableParallelism(), MOST_THREADS);
  const given: RechargeThread = { config, address };
  const pool = new Piscina({
    filename: fileURLToPath(new URL("recharge-thread.js", import.meta.url)),
    workerData: given,
    minThreads: 0,
    maxThreads: threads,
    concurrentTasksPerWorker: HOURS_A_THREAD,
    idleTimeout: IDLE_MILLIS,
    // A thread that waits for its next task by blocking could not read what the store answers to its other one.
    atomics: "disabled",
  });
  return {
    atOnce: threads * HOURS_A_THREAD,
    charge: (window, turn) => pool.run({ window, turn }) as Promise<Recharged>,
    stop: () => pool.destroy(),
  };
}
