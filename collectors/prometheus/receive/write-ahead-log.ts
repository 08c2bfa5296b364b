import { createReadStream, readdirSync, statSync } from "node:fs";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Logger } from "pino";
import { makePrivateFolder } from "../../../runtime/private-folder.ts";
import { RefusedWrite } from "./refused-write.ts";

/** The version of the protocol of a request: remote write 1.0 or 2.0. */
export type WriteVersion = 1 | 2;

/** A request in the log: its body as it came. */
export interface LoggedWrite {
  readonly version: WriteVersion;
  readonly arrivedMillis: number;
  readonly body: Buffer;
}

/** The requests whose moments have not been handed over, in files. */
export interface WriteAheadLog {
  /** The segment of the next request. */
  readonly segment: number;
  readonly bytes: number;
  /**
   * Appends a request. Resolves when the request is synced to disk. Throws or rejects with a {@link RefusedWrite} 503 if the log has
   * no room.
   */
  append(write: LoggedWrite): Promise<void>;
  /** Returns the requests of earlier processes, oldest first. A request that was not completely written is left out. */
  replay(): AsyncGenerator<LoggedWrite & { readonly segment: number }>;
  /** Removes the segments before one, but never the current one. */
  removeBefore(segment: number): Promise<void>;
  /** Ends the current segment if it has a request and is old enough, so that it can be removed. */
  rotate(nowMillis: number): void;
  close(): Promise<void>;
}

/** The header of a request: length u32, checksum u32, version u8, arrival f64. The checksum is of all that follows it. */
const HEADER_BYTES = 17;
const CHECKED_FROM = 8;
const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENT_MILLIS = 30_000;
/** The longest request in the log. A longer length is damage. */
const MOST_BODY_BYTES = 1024 * 1024 * 1024;
const FILE = /^(\d{10})\.wal$/;

interface Waiting {
  readonly segment: number;
  readonly record: readonly [header: Buffer, body: Buffer];
  resolve(): void;
  reject(error: unknown): void;
}

/** Opens the log in a folder of this process alone. Throws if the folder cannot be made or read. */
export function openWriteAheadLog(folder: string, maxBytes: number, logger: Logger): WriteAheadLog {
  makePrivateFolder(folder);
  const sizes = segmentsIn(folder);
  const former = [...sizes.keys()].toSorted((left, right) => left - right);
  let segment = (former.at(-1) ?? 0) + 1;
  let beganMillis = 0;
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let file: { readonly segment: number; readonly handle: FileHandle } | undefined;
  let closed = false;
  const pathOf = (number: number): string => join(folder, `${String(number).padStart(10, "0")}.wal`);

  async function handleOf(number: number): Promise<FileHandle> {
    if (file?.segment === number) return file.handle;
    await file?.handle.close();
    file = undefined;
    const handle = await open(pathOf(number), "a", 0o600);
    file = { segment: number, handle };
    await syncFolder(folder);
    return handle;
  }

  /** Writes and syncs what waits, one segment at a time. Requests that come meanwhile share the next sync. */
  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const [{ segment: number } = { segment: 0 }] = waiting;
      const some = waiting.filter((each) => each.segment === number);
      waiting = waiting.filter((each) => each.segment !== number);
      try {
        const handle = await handleOf(number);
        const buffers = some.flatMap(({ record }) => record);
        await handle.appendFile(Buffer.concat(buffers));
        await handle.datasync();
        for (const each of some) each.resolve();
      } catch (cause) {
        // The end of the file may be damaged, so that nothing may follow in it.
        if (segment === number) segment += 1;
        logger.error({ err: cause }, "the write-ahead log of remote write cannot be written");
        const error = new RefusedWrite(503, "the samples cannot be written to disk now", { cause });
        const damaged = waiting.filter((each) => each.segment === number);
        waiting = waiting.filter((each) => each.segment !== number);
        for (const each of [...some, ...damaged]) each.reject(error);
      }
    }
    writing = undefined;
  }

  return {
    get segment() {
      return segment;
    },
    get bytes() {
      return bytes;
    },
    append({ version, arrivedMillis, body }) {
      if (closed) throw new RefusedWrite(503, "the collector is stopping");
      const size = HEADER_BYTES + body.length;
      if (bytes + size > maxBytes) throw new RefusedWrite(503, "the write-ahead log is full; samples wait for the bus");
      if ((sizes.get(segment) ?? 0) > SEGMENT_BYTES) segment += 1;
      if (!sizes.has(segment)) beganMillis = arrivedMillis;
      sizes.set(segment, (sizes.get(segment) ?? 0) + size);
      bytes += size;
      return new Promise((resolve, reject) => {
        waiting.push({ segment, record: [headerOf({ version, arrivedMillis, body }), body], resolve, reject });
        writing ??= write();
      });
    },
    replay: () =>
      readSegments(
        former.map((number) => [number, pathOf(number)]),
        logger,
      ),
    async removeBefore(number) {
      const old = [...sizes.keys()].filter((each) => each < number && each < segment && each !== file?.segment);
      for (const each of old) {
        if (waiting.some((one) => one.segment === each)) continue;
        await unlink(pathOf(each)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
        bytes -= sizes.get(each) ?? 0;
        sizes.delete(each);
      }
    },
    rotate(nowMillis) {
      if (!sizes.has(segment) || nowMillis - beganMillis < SEGMENT_MILLIS || writing !== undefined) return;
      segment += 1;
      const old = file;
      file = undefined;
      void old?.handle.close().catch((error: unknown) => logger.error({ err: error }, "a segment cannot be closed"));
    },
    async close() {
      closed = true;
      await writing;
      await file?.handle.close();
      file = undefined;
    },
  };
}

/** Returns the sizes of the segments in a folder, in bytes. */
function segmentsIn(folder: string): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const name of readdirSync(folder)) {
    const number = FILE.exec(name)?.[1];
    if (number !== undefined) sizes.set(Number(number), statSync(join(folder, name)).size);
  }
  return sizes;
}

async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function headerOf({ version, arrivedMillis, body }: LoggedWrite): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(body.length, 0);
  header.writeUInt8(version, CHECKED_FROM);
  header.writeDoubleLE(arrivedMillis, CHECKED_FROM + 1);
  header.writeUInt32LE(crc32(body, crc32(header.subarray(CHECKED_FROM))), 4);
  return header;
}

async function* readSegments(
  segments: readonly (readonly [segment: number, path: string])[],
  logger: Logger,
): ReturnType<WriteAheadLog["replay"]> {
  for (const [segment, path] of segments) yield* readSegment(path, segment, logger);
}

async function* readSegment(path: string, segment: number, logger: Logger): ReturnType<WriteAheadLog["replay"]> {
  const parts: Buffer[] = [];
  for await (const part of createReadStream(path)) parts.push(part as Buffer);
  const content = Buffer.concat(parts);
  let at = 0;
  for (;;) {
    const write = readWrite(content, at);
    if (write === undefined) break;
    at += HEADER_BYTES + write.body.length;
    yield { ...write, segment };
  }
  if (at < content.length) logger.warn({ segment, bytes: content.length - at }, "a request was not completely written");
}

/** Reads the request at a position; undefined if it is damaged or the content ends. */
function readWrite(content: Buffer, at: number): LoggedWrite | undefined {
  if (at + HEADER_BYTES > content.length) return undefined;
  const length = content.readUInt32LE(at);
  const end = at + HEADER_BYTES + length;
  if (length > MOST_BODY_BYTES || end > content.length) return undefined;
  if (crc32(content.subarray(at + CHECKED_FROM, end)) !== content.readUInt32LE(at + 4)) return undefined;
  const version = content.readUInt8(at + CHECKED_FROM);
  if (version !== 1 && version !== 2) return undefined;
  const arrivedMillis = content.readDoubleLE(at + CHECKED_FROM + 1);
  return { version, arrivedMillis, body: content.subarray(at + HEADER_BYTES, end) };
}
