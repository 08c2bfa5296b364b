import { createHead, NO_COLUMN, type ExportRow } from "../../domain/invoice/dialect/dialect.ts";
import { FormProblem, type RowSteps, type RowVisitor } from "./table.ts";

const [QUOTE, NEWLINE, RETURN, COMMA] = [0x22, 0x0a, 0x0d, 0x2c];
const SEPARATORS = [",", ";", "\t"];
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** The longest row. A quote without its end would otherwise gather the rest of the file. */
const MOST_ROW_BYTES = 16 * 1024 * 1024;

/**
 * Reads a CSV file (RFC 4180). Bytes are split where they are, and only the cells that a dialect asks for become texts: a report has
 * hundreds of columns, of which some twenty count. A separator other than the comma is found in the head. Throws a {@link FormProblem}.
 */
export async function* csvRows(chunks: AsyncIterable<Buffer>, visitor: RowVisitor): RowSteps {
  const rows = new CsvRows(visitor);
  for await (const chunk of chunks) {
    rows.take(chunk);
    yield null;
  }
  rows.end();
  yield null;
}

/** The state of reading. Rows lie in `bytes` as the cell bounds of the current row. */
class CsvRows {
  private bytes: Buffer = Buffer.alloc(0);
  /** Where each cell of the current row starts, and where the last one ends. A separator is between two cells. */
  private starts: Int32Array = new Int32Array(64);
  private cells = 0;
  private width = 0;
  private separator = COMMA;
  private number = 0;
  private readonly visitor: RowVisitor;
  private readonly row: ExportRow;

  constructor(visitor: RowVisitor) {
    this.visitor = visitor;
    const numberOf = (): number => this.number;
    this.row = {
      get number() {
        return numberOf();
      },
      cell: (column) => (column === NO_COLUMN ? "" : this.text(column)),
    };
  }

  take(chunk: Buffer): void {
    if (this.bytes.length === 0) this.bytes = chunk;
    else this.bytes = Buffer.concat([this.bytes, chunk]);
    this.bytes = this.bytes.subarray(this.readRows(false));
    if (this.bytes.length > MOST_ROW_BYTES)
      throw new FormProblem("the row has more than 16 MiB; a quote has no end", this.number + 1);
  }

  end(): void {
    this.readRows(true);
    if (this.width === 0) throw new FormProblem("the file is empty");
  }

  /** Reads the complete rows and returns where the rest starts. At the end of the file the rest is a row, too. */
  private readRows(isEnd: boolean): number {
    let from = this.width === 0 ? this.startOfHead() : 0;
    while (from < this.bytes.length) {
      const end = this.splitRow(from, isEnd);
      if (end < 0) break;
      if (this.width === 0) this.takeHead();
      else if (!this.isBlank()) this.visit();
      from = end;
    }
    return from;
  }

  private startOfHead(): number {
    return this.bytes.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  }

  /** Finds the cells of the row at `from`. Returns where the next row starts; -1 if the row is not complete. */
  private splitRow(from: number, isEnd: boolean): number {
    const { bytes, separator } = this;
    const length = bytes.length;
    let { starts } = this;
    let cells = 0;
    starts[0] = from;
    let at = from;
    while (at < length) {
      const byte = bytes[at]!;
      if (byte === separator) {
        cells += 1;
        if (cells + 1 >= starts.length) starts = this.widen();
        starts[cells] = at + 1;
      } else if (byte === NEWLINE) {
        break;
      } else if (byte === QUOTE && at === starts[cells]) {
        const end = this.endOfQuoted(at, isEnd);
        if (end < 0) return -1;
        at = end;
        continue;
      }
      at += 1;
    }
    if (at >= length && !isEnd) return -1;
    const end = at > from && bytes[at - 1] === RETURN ? at - 1 : at;
    this.cells = cells + 1;
    starts[cells + 1] = end + 1;
    return at + 1;
  }

  /** Returns the place after the closing quote of a cell; -1 if the quote has no end yet. A quote within is written twice. */
  private endOfQuoted(open: number, isEnd: boolean): number {
    const { bytes } = this;
    let at = open + 1;
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at);
      if (quote < 0) {
        if (isEnd) throw new FormProblem("a quote has no end", this.number + 1);
        return -1;
      }
      if (quote + 1 >= bytes.length) return isEnd ? quote + 1 : -1;
      if (bytes[quote + 1] !== QUOTE) return quote + 1;
      at = quote + 2;
    }
  }

  private widen(): Int32Array {
    const wider = new Int32Array(this.starts.length * 2);
    wider.set(this.starts);
    this.starts = wider;
    return wider;
  }

  private isBlank(): boolean {
    return this.cells === 1 && this.starts[1]! - 1 === this.starts[0];
  }

  private takeHead(): void {
    const line = this.bytes.subarray(this.starts[0], this.starts[this.cells]! - 1).toString("utf8");
    const separator = SEPARATORS.find((each) => line.includes(each)) ?? ",";
    if (separator.charCodeAt(0) !== this.separator) {
      this.separator = separator.charCodeAt(0);
      this.splitRow(this.starts[0]!, true);
    }
    this.width = this.cells;
    this.visitor.open(createHead(Array.from({ length: this.width }, (_, column) => this.text(column).trim())));
  }

  private visit(): void {
    this.number += 1;
    if (this.cells !== this.width)
      throw new FormProblem(`the row has ${this.cells} cells, but the head has ${this.width}`, this.number);
    this.visitor.read(this.row);
  }

  private text(column: number): string {
    const { bytes, starts } = this;
    const [start, end] = [starts[column]!, starts[column + 1]! - 1];
    if (end <= start) return "";
    if (bytes[start] !== QUOTE) return bytes.toString("utf8", start, end);
    const inner = bytes.toString("utf8", start + 1, bytes[end - 1] === QUOTE ? end - 1 : end);
    return inner.includes('"') ? inner.replaceAll('""', '"') : inner;
  }
}
