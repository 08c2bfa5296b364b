import { open } from "lmdb";
import { BusError } from "./bus.ts";
import type { OutgoingMessage } from "./bus.ts";
import { decodeRecord, encodeRecord, footprintBytes } from "./record.ts";
import { createWriteQueue } from "./write-queue.ts";
import { makePrivateFolder, restrictFiles } from "../private-folder.ts";

/** A message and its position in the order of sending. */
export interface SpooledMessage {
  readonly sequence: number;
  readonly message: OutgoingMessage;
}

/** The result of `oldest`: messages to send, and the sequences of messages that could not be read completely. */
export interface SpooledBatch {
  readonly messages: readonly SpooledMessage[];
  readonly damaged: readonly number[];
}

/** A bounded store of messages on disk, by sequence. */
export interface SpoolStore {
  /** A sequence greater than every one on disk. */
  readonly nextSequence: number;
  count(): number;
  bytes(): number;
  /**
   * Stores messages. When they are durable, resolves with the number of old messages that were dropped for them (or of these, if one alone
   * is larger than the bound). Messages up to `keepThrough` are not dropped, because they are being sent. Fails with `disk-full`.
   */
  append(messages: readonly SpooledMessage[], keepThrough: number): Promise<number>;
  /** Returns the oldest messages: at least one if there is one, then up to about `maxBytes`. */
  oldest(maxBytes: number): SpooledBatch;
  remove(sequences: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a spool's folder, which belongs to one process at a time. As in the embedded log, a resolved write has been synced: see
 * `openStorage`. Fails with `unavailable` if the folder cannot be opened.
 */
export function openSpoolStore(folder: string, maxBytes: number): SpoolStore {
  const root = openRoot(folder);
  const messages = root.openDB<Buffer, number>("messages", { encoding: "binary" });
  // Sizes are separate from the messages, so that opening a large spool does not read all of it.
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

  /** A failed transaction leaves the disk unchanged, but the counts had already changed, so they are counted again. */
  async function change<Result>(inTransaction: () => Result, addedBytes: number): Promise<Result> {
    try {
      return await queue.add(inTransaction, addedBytes);
    } catch (error) {
      countAgain();
      throw error;
    }
  }

  /** Returns the sequences to drop in order to free `excessBytes` bytes. Runs inside a transaction. */
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
    makePrivateFolder(folder);
    const root = open({ path: folder, noSubdir: false, overlappingSync: false, eventTurnBatching: false });
    restrictFiles(folder);
    return root;
  } catch (cause) {
    throw new BusError("unavailable", `The spool in ${folder} cannot be opened.`, { retriable: false, cause });
  }
}

/**
 * Returns a message from disk; undefined if it is damaged. A damaged message is not sent, because new headers would make it look intact.
 */
function readBack(record: Buffer, sequence: number): OutgoingMessage | undefined {
  try {
    const { key, value, schemaVersion, headers, intact } = decodeRecord(record, "spool", 0, sequence);
    return intact ? { key, value, schemaVersion, headers } : undefined;
  } catch {
    return undefined;
  }
}
