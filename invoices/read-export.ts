import { GPU_MACHINES, type Keeping } from "../domain/invoice/dialect/keeping.ts";
import type { ExportHead, ExportRow, RowReader } from "../domain/invoice/dialect/dialect.ts";
import type { Mapping } from "../domain/invoice/dialect/mapped.ts";
import { recognize } from "../domain/invoice/dialect/recognize.ts";
import type { ExportLine } from "../domain/invoice/export-line.ts";
import { createCounter } from "./bytes.ts";
import { ExportError } from "./export-error.ts";
import { FormProblem, type RowVisitor } from "./rows/table.ts";
import { rowsOf, type ExportStream } from "./source.ts";
import { createTally, type ExportSummary, type Tally } from "./summary.ts";

/** The options of {@link readExportFile}. */
export interface ReadOptions {
  /** By default the lines of known GPU machines. */
  readonly keeping?: Keeping;
  /** The columns of a file that no dialect knows. */
  readonly mapping?: Mapping;
  /** The name of the file in messages; its path by default. */
  readonly name?: string;
}

/** A file of an export that is being read. */
export interface ExportReading {
  /** The lines that count, in the order of the file, some at a time. Fails with an {@link ExportError}: then no line of the file counts. */
  readonly batches: AsyncIterable<readonly ExportLine[]>;
  /** Returns the summary of the file, once all batches are read. Throws a TypeError before. */
  summary(): ExportSummary;
}

/**
 * Reads a file of an export from a path or a stream: CSV or JSON lines, also with gzip, or Parquet. The form follows from the first bytes and the dialect from the
 * columns, not from the name. At most some thousand lines are in memory at once, and with Parquet a part of a row group.
 */
export function readExportFile(source: string | ExportStream, options: ReadOptions = {}): ExportReading {
  const counter = createCounter();
  const tally = createTally();
  const name = options.name ?? (typeof source === "string" ? source : source.name);
  let summary: ExportSummary | undefined;
  async function* batches(): AsyncGenerator<readonly ExportLine[]> {
    const gathered = createGathering(name, options, tally);
    try {
      for await (const _ of rowsOf(source, counter, gathered.visitor)) {
        void _;
        const lines = gathered.take();
        if (lines.length > 0) yield lines;
      }
    } catch (error) {
      throw asExportError(name, error);
    }
    summary = tally.summary({ bytes: counter.bytes, sha256: counter.hash.digest("hex") });
  }
  return {
    batches: batches(),
    summary() {
      if (summary === undefined) throw new TypeError("the summary of a file exists once its batches are read");
      return summary;
    },
  };
}

interface Gathering {
  readonly visitor: RowVisitor;
  /** Returns the lines since the last call. */
  take(): readonly ExportLine[];
}

/** Gathers the lines of rows. */
function createGathering(file: string, { keeping = GPU_MACHINES, mapping }: ReadOptions, tally: Tally): Gathering {
  let lines: ExportLine[] = [];
  let reader: RowReader | undefined;
  const visitor: RowVisitor = {
    open(head) {
      reader = recognize(head, keeping, mapping);
      if (reader === undefined) throw unknownFormat(file, head, mapping);
      tally.format = reader.format;
    },
    read(row: ExportRow) {
      const result = reader!.read(row);
      tally.rows += 1;
      if ("problem" in result)
        throw new ExportError("unreadable-row", file, result.problem, { row: row.number, column: result.column });
      if ("drop" in result) {
        tally.drop(result.drop);
        return;
      }
      for (const line of result.lines) {
        tally.line(line);
        lines.push(line);
      }
    },
  };
  return {
    visitor,
    take() {
      const taken = lines;
      lines = [];
      return taken;
    },
  };
}

function unknownFormat(file: string, head: ExportHead, mapping: Mapping | undefined): ExportError {
  const names = head.names.slice(0, 8).join(", ");
  const more = head.names.length > 8 ? " …" : "";
  const problem =
    mapping === undefined
      ? `no known form of an export has these columns (${names}${more}); a mapping can name them`
      : `the mapping names columns that the file does not have, or lacks from, effective or currency; the file has ${names}${more}`;
  return new ExportError("unknown-format", file, problem);
}

function asExportError(file: string, error: unknown): unknown {
  if (error instanceof FormProblem)
    return new ExportError("unreadable-file", file, error.message, { row: error.row, cause: error });
  const code = (error as { readonly code?: unknown }).code;
  // zlib's codes: Z_DATA_ERROR and Z_BUF_ERROR are broken or cut files.
  if (typeof code === "string" && code.startsWith("Z_"))
    return new ExportError("unreadable-file", file, `the gzip file is broken: ${(error as Error).message}`, {
      cause: error,
    });
  return error;
}

/**
 * Returns the machines of a file whose lines are of GPU machines. Read a file with them again, and it has their networks, their licences, and
 * on Google the cores and the memory of machines to which GPUs are attached (N1), too: only some lines of a machine show its GPUs.
 */
export async function machinesIn(path: string, options: ReadOptions = {}): Promise<ReadonlySet<string>> {
  const machines = new Set<string>();
  for await (const lines of readExportFile(path, options).batches)
    for (const { kind, machine } of lines) if (kind === "machine" && machine !== "") machines.add(machine);
  return machines;
}
