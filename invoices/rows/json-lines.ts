import { NO_COLUMN, plainName, type ExportHead, type ExportRow } from "../../domain/invoice/dialect/dialect.ts";
import { jsonCells } from "./json-cells.ts";
import { FormProblem, type RowSteps, type RowVisitor } from "./table.ts";

const NEWLINE = 0x0a;

/** The rows whose names make the head. BigQuery leaves out fields that are null, so one row can lack a column. */
const ROWS_OF_HEAD = 200;

/** The longest row. */
const MOST_ROW_BYTES = 16 * 1024 * 1024;

type Cells = ReadonlyMap<string, string>;

/** Reads JSON lines: an object in each line. Nested fields are columns with dots. Throws a {@link FormProblem}. */
export async function* jsonLineRows(chunks: AsyncIterable<Buffer>, visitor: RowVisitor): RowSteps {
  let held: Cells[] = [];
  let reading: ((cells: Cells, number: number) => void) | undefined;
  let number = 0;
  const release = (): void => {
    const head = createJsonHead(held);
    visitor.open(head);
    reading = readerOf(head, visitor);
    for (const [index, cells] of held.entries()) reading(cells, index + 1);
    held = [];
  };
  for await (const line of linesOf(chunks)) {
    if (line === undefined) {
      yield null;
      continue;
    }
    number += 1;
    const cells = jsonCells(line);
    if (cells === undefined) throw new FormProblem("the line is not a JSON object", number);
    if (reading !== undefined) reading(cells, number);
    else if (held.push(cells) === ROWS_OF_HEAD) release();
  }
  if (number === 0) throw new FormProblem("the file is empty");
  if (reading === undefined) release();
  yield null;
}

function readerOf(head: JsonHead, visitor: RowVisitor): (cells: Cells, number: number) => void {
  const row = { number: 0, cells: new Map() as Cells };
  const exported: ExportRow = {
    get number() {
      return row.number;
    },
    cell: (column) => (column === NO_COLUMN ? "" : (row.cells.get(head.names[column]!) ?? "")),
  };
  return (cells, number) => {
    [row.cells, row.number] = [cells, number];
    visitor.read(exported);
  };
}

interface JsonHead extends ExportHead {
  readonly names: string[];
}

/** Returns the head of rows. A column that none of the first rows has is added when it is asked for: later rows can have it. */
function createJsonHead(rows: readonly Cells[]): JsonHead {
  const names = [...new Set(rows.flatMap((cells) => [...cells.keys()]))];
  const columns = new Map(names.map((name, column) => [plainName(name), column]));
  return {
    names,
    has: (name) => columns.has(plainName(name)),
    column(...wanted) {
      const found = wanted.map((name) => columns.get(plainName(name))).find((column) => column !== undefined);
      return found ?? names.push(wanted[0]!) - 1;
    },
  };
}

/** Returns the lines of a file, and undefined after each chunk. Blank lines are left out. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      const line = bytes.toString("utf8", from, end).trim();
      from = end + 1;
      if (line !== "") yield line;
    }
    rest = bytes.subarray(from);
    if (rest.length > MOST_ROW_BYTES) throw new FormProblem("a line has more than 16 MiB");
    yield undefined;
  }
  const last = rest.toString("utf8").trim();
  if (last !== "") yield last;
}
