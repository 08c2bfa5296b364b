import { asyncBufferFromFile, parquetMetadataAsync, parquetScan, type FileMetaData, type ParquetScan } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { NO_COLUMN, type ExportRow } from "../../domain/invoice/dialect/dialect.ts";
import { cellText, exactColumns, PARSERS } from "./parquet-cells.ts";
import { createParquetHead, type ParquetHead } from "./parquet-head.ts";
import { FormProblem, type RowSteps, type RowVisitor } from "./table.ts";

/** The rows of each column that are in memory at once. Pages of other rows of a row group are skipped. */
const ROWS_AT_ONCE = 100_000;

/**
 * Reads a Parquet file, a part of a row group at a time, and only the columns that a dialect asks for. Decimals are exact; the number of a
 * column of doubles is its shortest decimal text. Throws a {@link FormProblem}.
 */
export async function* parquetRows(path: string, visitor: RowVisitor): RowSteps {
  const file = await asyncBufferFromFile(path);
  let metadata: FileMetaData;
  try {
    metadata = exactColumns(await parquetMetadataAsync(file));
  } catch (error) {
    throw new FormProblem(`the file is not Parquet: ${String(error)}`);
  }
  const head = createParquetHead(metadata);
  visitor.open(head);
  const roots = [...new Set(head.asked().map(({ root }) => root))];
  if (roots.length === 0) return;
  const scan = await parquetScan({ file, metadata, columns: roots, compressors, utf8: false, parsers: PARSERS });
  for (const { rowStart, rowEnd } of scan.ranges) {
    for (let from = rowStart; from < rowEnd; from += ROWS_AT_ONCE) {
      await readPart({ scan, head, roots, from, until: Math.min(rowEnd, from + ROWS_AT_ONCE) }, visitor);
      yield null;
    }
  }
}

interface Part {
  readonly scan: ParquetScan;
  readonly head: ParquetHead;
  readonly roots: readonly string[];
  readonly from: number;
  readonly until: number;
}

async function readPart({ scan, head, roots, from, until }: Part, visitor: RowVisitor): Promise<void> {
  const columns = new Map<string, ArrayLike<unknown>>();
  for (const column of roots) columns.set(column, await scan.readColumn({ column, rowStart: from, rowEnd: until }));
  const cellsOf = head.columns.map(({ root }) => columns.get(root));
  let index = 0;
  const row: ExportRow = {
    get number() {
      return from + index + 1;
    },
    cell: (column) => (column === NO_COLUMN ? "" : cellText(cellsOf[column]![index], head.columns[column]!)),
  };
  for (; from + index < until; index++) visitor.read(row);
}
