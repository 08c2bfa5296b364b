import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isGzip, isParquet, plainBytes, type CountedBytes } from "./bytes.ts";
import { csvRows } from "./rows/csv.ts";
import { jsonLineRows } from "./rows/json-lines.ts";
import { parquetRows } from "./rows/parquet.ts";
import { FormProblem, type RowSteps, type RowVisitor } from "./rows/table.ts";

/** A file that is not on this machine: an object of a bucket. */
export interface ExportStream {
  readonly name: string;
  readonly stream: Readable;
}

/** The bytes by which the form of a file is found. */
const START_BYTES = 4;

/** Gives the rows of a file to a visitor, and counts and hashes its bytes. */
export async function* rowsOf(source: string | ExportStream, counter: CountedBytes, visitor: RowVisitor): RowSteps {
  const stored = typeof source === "string" ? createReadStream(source, { highWaterMark: 1024 * 1024 }) : source.stream;
  const { start, all } = await peek(stored);
  if (start.length === 0) throw new FormProblem("the file is empty");
  if (isParquet(start)) {
    yield* parquetOf(source, plainBytes(all, counter, false), visitor);
    return;
  }
  const chunks = plainBytes(all, counter, isGzip(start));
  const chunk = await chunks.next();
  if (chunk.done === true) throw new FormProblem("the file is empty");
  const first = chunk.value;
  const rest = joined([first], chunks);
  yield* /^\s*\{/.test(first.toString("utf8", 0, 16)) ? jsonLineRows(rest, visitor) : csvRows(rest, visitor);
}

/** Reads a Parquet file, whose directory is at its end. A stream is stored for it, beside the other temporary files, and removed. */
async function* parquetOf(source: string | ExportStream, bytes: AsyncIterable<Buffer>, visitor: RowVisitor): RowSteps {
  if (typeof source === "string") {
    for await (const _ of bytes) void _;
    yield* parquetRows(source, visitor);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-export-"));
  try {
    const path = join(folder, "export.parquet");
    await pipeline(bytes, createWriteStream(path, { mode: 0o600 }));
    yield* parquetRows(path, visitor);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the first bytes of a stream, and a stream with all of them. */
async function peek(stored: Readable): Promise<{ readonly start: Buffer; readonly all: Readable }> {
  const chunks = stored[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const taken: Buffer[] = [];
  let bytes = 0;
  while (bytes < START_BYTES) {
    const chunk = await chunks.next();
    if (chunk.done === true) break;
    taken.push(chunk.value);
    bytes += chunk.value.length;
  }
  const rest = { [Symbol.asyncIterator]: () => chunks };
  return { start: Buffer.concat(taken), all: Readable.from(joined(taken, rest), { objectMode: false }) };
}

async function* joined(first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}
