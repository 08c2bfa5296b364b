import { takeBlock, type NativeColumn } from "../native/block.ts";
import { createByteWriter } from "../native/byte-writer.ts";
import type { ColumnType, ValueColumn } from "./types.ts";

/** The paths to the values of an object: `team`, `holder.pod`. */
export type PathOf<Row> = Row extends string | number | bigint
  ? never
  : { [Key in keyof Row & string]-?: Key | `${Key}.${PathOf<NonNullable<Row[Key]>>}` }[keyof Row & string];

/** A column of a table whose rows are objects. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType<unknown>;
  /** The path of the value in a row: `holder.pod`. */
  readonly path: string;
}

/** The types of columns by column name. */
type Types = Readonly<Record<string, ColumnType<never> | ColumnType<unknown>>>;

/** A row with a value for each column, keyed by column name. */
export type RowOf<Of extends Types> = {
  readonly [Name in keyof Of]: Of[Name] extends ColumnType<infer Value> ? Value : never;
};

/** Returns columns whose path is their name. */
export function columnsOf(ofNames: Types): readonly Column[] {
  return Object.entries(ofNames).map(([name, type]) => ({ name, type: type as ColumnType<unknown>, path: name }));
}

/** Returns the names of columns. */
export function namesOf(columns: readonly Pick<Column, "name">[]): readonly string[] {
  return columns.map(({ name }) => name);
}

/** Returns the names of columns as a list for an SQL statement. */
export function listOf(columns: readonly Column[]): string {
  return namesOf(columns).join(", ");
}

/** A writer of table rows into blocks of the Native format. */
export interface Blocks<Row> {
  readonly columns: readonly Pick<NativeColumn, "name" | "type">[];
  /** Rows written since the last `take`. */
  readonly count: number;
  write(row: Row): void;
  /** Returns the rows written since the last `take`, as blocks in order. */
  take(): readonly Uint8Array[];
}

/** The most rows of a block. */
const ROWS_PER_BLOCK = 8_192;
/** The most bytes of a block's texts and lists, approximately. A row alone can have more. */
const BYTES_PER_BLOCK = 16 * 1024 * 1024;
/** The rows for which columns have room at first. Many writers have few rows. */
const FIRST_ROWS = 128;

/** Creates a writer of blocks. `constants` has the values that are the same in all rows, by column name. */
export function createBlocks<Row extends object>(
  columns: readonly Column[],
  constants: Readonly<Record<string, unknown>> = {},
): Blocks<Row> {
  const all = columns.map(({ name, type, path }) => {
    const column: ValueColumn<unknown> = type.block(name);
    column.grow(FIRST_ROWS);
    return { column, valueOf: getterOf(path), constant: constants[name], isLong: /String|Array|Map/.test(type.sql) };
  });
  const varying = all.filter(({ constant }) => constant === undefined);
  const constant = all.filter((each) => each.constant !== undefined);
  const blockColumns = all.map(({ column }) => column);
  const out = createByteWriter();
  let count = 0;
  let rows = 0;
  let bytes = 0;
  let room = FIRST_ROWS;
  let blocks: Uint8Array[] = [];

  function endBlock(): void {
    if (rows === 0) return;
    for (const { column, constant: value } of constant) for (let row = 0; row < rows; row++) column.put(row, value);
    blocks.push(takeBlock(out, blockColumns, rows));
    [rows, bytes] = [0, 0];
  }

  return {
    columns: blockColumns,
    get count() {
      return count;
    },
    write(row) {
      if (rows === ROWS_PER_BLOCK || bytes >= BYTES_PER_BLOCK) endBlock();
      else if (rows === room) {
        room *= 2;
        for (const { column } of all) column.grow(room);
      }
      for (const { column, valueOf, isLong } of varying) {
        const value = valueOf(row);
        if (value === undefined) continue;
        column.put(rows, value);
        if (isLong) bytes += sizeOf(value);
      }
      rows += 1;
      count += 1;
    },
    take() {
      endBlock();
      const taken = blocks;
      [count, blocks] = [0, []];
      return taken;
    },
  };
}

/** Returns the approximate bytes of a text, or of all texts and numbers of a list or a map. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 0;
  for (const each of Array.isArray(value) ? value : Object.values(value)) size += sizeOf(each);
  return size;
}

/**
 * Returns the SELECT list of columns for {@link rowReader}. A converted value gets an alias, because conditions must still mean the column.
 */
export function selectionOf(columns: readonly Column[]): string {
  return columns
    .map(({ name, type }) => {
      const expression = type.select(name);
      return expression === name ? name : `${expression} AS ${fieldOf(name, type)}`;
    })
    .join(", ");
}

/** Returns a function that builds objects from rows of {@link selectionOf}: each value at its path, undefined for NULL. */
export function rowReader(columns: readonly Column[]): (fields: Readonly<Record<string, unknown>>) => object {
  const read = columns.map(({ name, type, path }) => {
    const keys = path.split(".");
    return { field: fieldOf(name, type), type, above: keys.slice(0, -1), key: keys.at(-1)! };
  });
  return (fields) => {
    const row: Record<string, unknown> = {};
    for (const { field, type, above, key } of read) {
      let at = row;
      for (const name of above) at = (at[name] ??= {}) as Record<string, unknown>;
      at[key] = type.parse(fields[field]);
    }
    return row;
  };
}

function fieldOf(name: string, type: ColumnType<unknown>): string {
  return type.select(name) === name ? name : `${name}_value`;
}

function getterOf(path: string): (row: object) => unknown {
  const [first, second, third] = path.split(".") as [string, string?, string?];
  type Fields = Readonly<Record<string, unknown>> | undefined;
  if (second === undefined) return (row) => (row as Fields)![first];
  if (third === undefined) return (row) => ((row as Fields)![first] as Fields)?.[second];
  return (row) => (((row as Fields)![first] as Fields)?.[second] as Fields)?.[third];
}
