import { join, resolve } from "node:path";
import { open } from "lmdb";
import pLimit, { type LimitFunction } from "p-limit";

/** The right to open the log of a folder or to write to it. At any time one holder of one process has it. */
export interface Turn {
  /** Waits for the turn, and has it until `work` is done. */
  take<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** For each folder, the holders of this process. */
const ofProcess = new Map<string, LimitFunction>();

/**
 * Opens the turn of a folder.
 *
 * LMDB's write lock alone is not enough. An environment that is opened while another process commits sets the number of the newest transaction back,
 * and the next writer then overwrites that transaction (OpenLDAP's ITS#9496; lmdb-js 3.5.6 has the fault). So the turn is the write lock of a second, empty environment. As LMDB's locks are robust mutexes, a killed holder
 * does not keep the turn.
 *
 * Inside a process holders wait for each other before they wait for that lock: a call that takes a lock of LMDB on the event loop, as the first use
 * of a table does, would wait forever for a transaction whose changes must still run on that loop.
 */
export async function openTurn(folder: string): Promise<Turn> {
  const path = resolve(folder);
  const limit = ofProcess.get(path) ?? pLimit(1);
  ofProcess.set(path, limit);
  const lock = await limit(() =>
    open({ path: join(path, "turn.mdb"), noSubdir: true, overlappingSync: false, eventTurnBatching: false }),
  );
  return {
    take: (work) => limit(async () => await lock.transaction(async () => work())),
    close: () => limit(() => lock.close()),
  };
}
