import { mkdirSync } from "node:fs";
import { open } from "lmdb";
import { BusError } from "./bus.ts";
import type { OutgoingMessage } from "./bus.ts";
import { decodeRecord, encodeRecord, footprintBytes } from "./record.ts";
import { createWriteQueue } from "./write-queue.ts";

/** A message and its place in the order of sending. */
export interface SpooledMessage {
  readonly sequence: number;
  readonly message: OutgoingMessage;
}

/** What `oldest` found: messages to send, and what could not be read back whole. */
export interface SpooledBatch {
  readonly messages: readonly SpooledMessage[];
  readonly damaged: readonly number[];
}

/** Messages on disk, by sequence, bounded. */
export interface SpoolStore {
  /** A sequence greater than every one on disk. */
  readonly nextSequence: number;
  count(): number;
  bytes(): number;
  /**
   * Keeps messages; resolves, when they are durable, with how many old ones (or of these, should one alone be larger
   * than the bound) had to go for them. Nothing up to `keepThrough` goes: it is on its way. Fails with `disk-full`.
   */
  append(messages: readonly SpooledMessage[], keepThrough: number): Promise<number>;
  /** The oldest messages: at least one where there is one, then up to about `maxBytes`. */
  oldest(maxBytes: number): SpooledBatch;
  remove(sequences: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a spool's folder, which belongs to one process at a time. As in the embedded log, a resolved write has been
 * synced: see `openStorage`. Fails with `unavailable` where the folder can't be opened.
 */
export function openSpoolStore(folder: string, maxBytes: number): SpoolStore {
  const root = openRoot(folder);
  const messages = root.openDB<Buffer, number>("messages", { encoding: "binary" });
  // Sizes apart from the messages, so that opening a large spool does not read it all.
  const sizes = root.openDB<number, number>("sizes", { encoding: "json" });
  const queue = createWriteQueue(root, folder);
  let count = 0;
  let bytes = 0;
  let lastSequence = 0;
  countAgain();

  function countAgain(): void {
    root.resetReadTxn();
    count = 0;
    bytes = 0;
    for (const { key, value } of sizes.getRange({})) {
      count += 1;
      bytes += value;
      lastSequence = key;
    }
  }

  /** A failed transaction leaves the disk as it was, but the counts had been changed already. */
  async function change<Result>(inTransaction: () => Result, addedBytes: number): Promise<Result> {
    try {
      return await queue.add(inTransaction, addedBytes);
    } catch (error) {
      countAgain();
      throw error;
    }
  }

  /** Inside a transaction: the sequences that must go to free so many bytes. */
  function oldestToDrop(excessBytes: number, keepThrough: number): number[] {
    const sequences: number[] = [];
    let freed = 0;
    for (const { key, value } of sizes.getRange({ start: keepThrough + 1 })) {
      if (freed >= excessBytes) break;
      sequences.push(key);
      freed += value;
    }
    return sequences;
  }

  function removeNow(sequences: readonly number[]): void {
    for (const sequence of sequences) {
      const size = sizes.get(sequence);
      if (size === undefined) continue;
      void sizes.remove(sequence);
      void messages.remove(sequence);
      count -= 1;
      bytes -= size;
    }
  }

  return {
    nextSequence: lastSequence + 1,
    count: () => count,
    bytes: () => bytes,
    async append(spooled, keepThrough) {
      const entries = spooled.map(({ sequence, message }) => {
        const record = encodeRecord(message, 0);
        return { sequence, record, size: footprintBytes(record.length) };
      });
      const added = entries.reduce((sum, { size }) => sum + size, 0);
      return change(() => {
        for (const { sequence, record, size } of entries) {
          void messages.put(sequence, record);
          void sizes.put(sequence, size);
          count += 1;
          bytes += size;
        }
        const sequences = oldestToDrop(bytes - maxBytes, keepThrough);
        removeNow(sequences);
        return sequences.length;
      }, added);
    },
    oldest(limitBytes) {
      root.resetReadTxn();
      const found: SpooledMessage[] = [];
      const damaged: number[] = [];
      let read = 0;
      for (const { key: sequence, value } of messages.getRange({})) {
        const message = readBack(value, sequence);
        if (message === undefined) damaged.push(sequence);
        else found.push({ sequence, message });
        read += value.length;
        if (read >= limitBytes) break;
      }
      return { messages: found, damaged };
    },
    remove: (sequences) => change(() => removeNow(sequences), 0),
    async close() {
      await queue.close();
      await root.close();
    },
  };
}

function openRoot(folder: string) {
  try {
    mkdirSync(folder, { recursive: true });
    return open({ path: folder, noSubdir: false, overlappingSync: false, eventTurnBatching: false });
  } catch (cause) {
    throw new BusError("unavailable", `The spool in ${folder} can't be opened.`, { retriable: false, cause });
  }
}

/** Sealing a damaged message anew would make it look intact, so it is not sent. */
function readBack(record: Buffer, sequence: number): OutgoingMessage | undefined {
  try {
    const { key, value, schemaVersion, headers, intact } = decodeRecord(record, "spool", 0, sequence);
    return intact ? { key, value, schemaVersion, headers } : undefined;
  } catch {
    return undefined;
  }
}
