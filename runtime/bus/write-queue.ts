import { statfsSync } from "node:fs";
import type { RootDatabase } from "lmdb";
import { BusError } from "./bus.ts";

/** The most bytes of one transaction, so that other processes get their turn. */
const TRANSACTION_BYTES = 16 * 1024 * 1024;
const TRANSACTION_CHANGES = 4096;
/** Linux error numbers that LMDB reports for a truncated write and for a full disk. */
const EIO = 5;
const ENOSPC = 28;

interface QueuedChange {
  readonly bytes: number;
  /** Runs the change. Its exception is kept for `settle`. */
  run(): void;
  settle(): void;
  fail(error: BusError): void;
}

/** Queued changes of the log, in the order of the calls. */
export interface WriteQueue {
  /** Resolves with the result of `change` when its transaction is durable. */
  add<Result>(change: () => Result, bytes: number): Promise<Result>;
  /** Waits for the added changes. Later additions fail with `closed`. */
  close(): Promise<void>;
}

/**
 * Creates a queue with group commit: changes that are added while a transaction is being synced go into the next one together, and their
 * senders share one sync. The commit and its sync run on a thread of lmdb-js, not on the event loop.
 *
 * A failed commit rejects all of its changes: with `disk-full` (a retry can help) if the disk is full, otherwise with `unavailable`.
 *
 * @param options.inTurn runs each transaction when other processes may not write. Without it the folder belongs to this process.
 * @param options.finish runs inside every transaction, after its changes
 */
export function createWriteQueue(
  root: RootDatabase,
  folder: string,
  options: {
    readonly inTurn?: <Result>(work: () => Promise<Result>) => Promise<Result>;
    readonly finish?: () => void;
  } = {},
): WriteQueue {
  const { inTurn = (work) => work(), finish = () => undefined } = options;
  let queue: QueuedChange[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  function nextBatch(): QueuedChange[] {
    let bytes = 0;
    let count = 0;
    for (const change of queue) {
      if (count > 0 && (bytes + change.bytes > TRANSACTION_BYTES || count === TRANSACTION_CHANGES)) break;
      bytes += change.bytes;
      count += 1;
    }
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    return batch;
  }

  /** Returns the reason for which the transaction was not stored. */
  async function commit(batch: readonly QueuedChange[]): Promise<BusError | undefined> {
    try {
      await root.transaction(() => {
        for (const change of batch) change.run();
        finish();
      });
      return undefined;
    } catch (error) {
      // lmdb-js ends the process if the reason, a promise of the error, has no handler at once.
      return await explainFailure(error, folder, batch);
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = nextBatch();
      const failure = await inTurn(() => commit(batch)).catch((error: unknown) => explainFailure(error, folder, batch));
      for (const change of batch) {
        if (failure === undefined) change.settle();
        else change.fail(failure);
      }
    }
    draining = undefined;
  }

  return {
    add<Result>(change: () => Result, bytes: number) {
      if (closed) return Promise.reject(new BusError("closed", "The log is closed.", { retriable: false }));
      return new Promise<Result>((resolve, reject) => {
        let outcome: { result: Result } | { error: unknown } | undefined;
        queue.push({
          bytes,
          run() {
            try {
              outcome = { result: change() };
            } catch (error) {
              outcome = { error };
            }
          },
          settle() {
            if (outcome !== undefined && "result" in outcome) resolve(outcome.result);
            else reject(outcome?.error ?? new Error("The change did not run."));
          },
          fail: reject,
        });
        draining ??= drain();
      });
    },
    async close() {
      closed = true;
      await draining;
    },
  };
}

async function explainFailure(error: unknown, folder: string, batch: readonly QueuedChange[]): Promise<BusError> {
  // lmdb-js rejects with "Commit failed" and puts the reason into a promise of the error.
  const cause = await (error as { commitError?: Promise<unknown> }).commitError?.catch((reason: unknown) => reason);
  const code = (cause as { code?: unknown } | undefined)?.code;
  const bytes = batch.reduce((sum, change) => sum + change.bytes, 0);
  if (code === ENOSPC || (code === EIO && freeBytes(folder) < 2 * bytes + 1_048_576)) {
    return new BusError("disk-full", `The disk under ${folder} is full.`, { retriable: true, cause });
  }
  return new BusError("unavailable", `The log in ${folder} cannot be written.`, {
    retriable: true,
    cause: cause ?? error,
  });
}

function freeBytes(folder: string): number {
  const disk = statfsSync(folder);
  return disk.bavail * disk.bsize;
}
