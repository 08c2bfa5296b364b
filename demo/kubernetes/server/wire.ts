import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { roll } from "../../fleet/hash.ts";

/** The troubles of a body on the wire. */
export interface WireShape {
  /** The connection is cut after this number of bytes of the body. */
  readonly cutAfterBytes?: number;
  /** The body is sent in chunks of random sizes, down to one byte. */
  readonly chunkSeed?: number;
  readonly bytesPerSecond?: number;
}

/** The wire of one body to the client. All written data arrives in order. */
export interface Wire {
  /** Resolves when more can be written. */
  write(bytes: Buffer | string): Promise<void>;
  end(): Promise<void>;
  /** Cuts the connection after the given number of further bytes. */
  cutAfter(bytes: number): void;
  /** Sends nothing from now on, not even an end: the connection is half-open. */
  silence(): void;
  /** The bytes that the client has not read. */
  readonly backlogBytes: number;
}

const LONGEST_CHUNK = 4000;
const PIECE_MILLIS = 50;

/** Creates a wire over a response with its head set. */
export function createWire(response: ServerResponse, shape: WireShape): Wire {
  const { chunkSeed, bytesPerSecond } = shape;
  let bytesLeft = shape.cutAfterBytes ?? Infinity;
  let silent = false;
  let waiting = 0;
  let chunks = 0;
  let last = Promise.resolve();
  let ended = false;

  function sizeOfNext(): number {
    if (bytesPerSecond !== undefined) return Math.max(1, Math.floor((bytesPerSecond * PIECE_MILLIS) / 1000));
    if (chunkSeed === undefined) return Infinity;
    return 1 + Math.floor(roll(chunkSeed, chunks++) ** 4 * LONGEST_CHUNK);
  }

  /** Sends the data that may still be sent. Returns `false` if the connection is closed. */
  function send(bytes: Buffer): boolean {
    if (silent || ended || response.destroyed) return false;
    const part = bytes.length > bytesLeft ? bytes.subarray(0, bytesLeft) : bytes;
    bytesLeft -= part.length;
    if (bytesLeft > 0) return response.write(part);
    if (part.length > 0) response.write(part, () => response.destroy());
    else response.destroy();
    silent = true;
    return false;
  }

  async function sendShaped(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length && !silent && !response.destroyed;) {
      const size = sizeOfNext();
      send(bytes.subarray(from, from + size));
      from += size;
      if (bytesPerSecond !== undefined) await delay(PIECE_MILLIS);
      else await nextTurn();
    }
    waiting -= bytes.length;
  }

  let draining: Promise<void> | undefined;
  function drained(): Promise<void> {
    if (silent || response.destroyed || !response.writableNeedDrain) return Promise.resolve();
    return (draining ??= new Promise((resolve) => {
      const done = (): void => {
        draining = undefined;
        response.off("drain", done);
        response.off("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    }));
  }

  return {
    write(given) {
      const bytes = typeof given === "string" ? Buffer.from(given) : given;
      if (chunkSeed === undefined && bytesPerSecond === undefined) {
        send(bytes);
        return drained();
      }
      waiting += bytes.length;
      last = last.then(() => sendShaped(bytes));
      return last;
    },
    async end() {
      await last;
      if (ended || silent || response.destroyed) return;
      ended = true;
      response.end();
    },
    cutAfter(bytes) {
      bytesLeft = bytes;
      if (bytes === 0) send(Buffer.alloc(0));
    },
    silence() {
      silent = true;
    },
    get backlogBytes() {
      return waiting + response.writableLength;
    },
  };
}
