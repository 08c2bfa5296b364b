import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, type FileMetaData } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { NO_COLUMN, type ExportRow } from "../../domain/invoice/dialect/dialect.ts";
import { cellText, exactColumns, PARSERS, type ParquetColumn } from "./parquet-cells.ts";
import { createParquetHead, type ParquetHead } from "./parquet-head.ts";
import { FormProblem, type RowSteps, type RowVisitor } from "./table.ts";

/** The rows that are in memory at once. A larger row group is read in parts, whose pages are decoded again for each part. */
const ROWS_AT_ONCE = 100_000;

/**
 * Reads a Parquet file, row group by row group, and only the columns that a dialect asks for. Decimals are exact; the number of a column of
 * doubles is its shortest decimal text. Throws a {@link FormProblem}.
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
  const asked = head.asked();
  const roots = [...new Set(asked.map(({ root }) => root))];
  if (roots.length === 0) return;
  let start = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const end = start + Number(rows);
    for (let from = start; from < end; from += ROWS_AT_ONCE) {
      const until = Math.min(end, from + ROWS_AT_ONCE);
      await readPart({ file, metadata, head, roots, from, until }, visitor);
      yield;
    }
    start = end;
  }
}

interface Part {
  readonly file: Awaited<ReturnType<typeof asyncBufferFromFile>>;
  readonly metadata: FileMetaData;
  readonly head: ParquetHead;
  readonly roots: readonly string[];
  readonly from: number;
  readonly until: number;
}

async function readPart({ file, metadata, head, roots, from, until }: Part, visitor: RowVisitor): Promise<void> {
  let rows: unknown[][] = [];
  await parquetRead({
    file,
    metadata,
    columns: [...roots],
    rowStart: from,
    rowEnd: until,
    compressors,
    utf8: false,
    parsers: PARSERS,
    onComplete: (read: unknown[][]) => void (rows = read),
  });
  const places = new Map(roots.map((root, place) => [root, place]));
  const current = { cells: [] as unknown[], number: 0 };
  const row: ExportRow = {
    get number() {
      return current.number;
    },
    cell(column) {
      if (column === NO_COLUMN) return "";
      const asked: ParquetColumn = head.columns[column]!;
      return cellText(current.cells[places.get(asked.root)!], asked);
    },
  };
  for (const [index, cells] of rows.entries()) {
    [current.cells, current.number] = [cells, from + index + 1];
    visitor.read(row);
  }
}
