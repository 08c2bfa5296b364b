import type { FileMetaData, ParquetParsers, SchemaElement } from "hyparquet";
import { decimalText } from "../../domain/exact/integer.ts";

/** A column of a Parquet file. */
export interface ParquetColumn {
  /** The path with dots. */
  readonly name: string;
  /** The column of the file that has it. */
  readonly root: string;
  /** The fields within the root. */
  readonly path: readonly string[];
  /** Undefined for a list or a map. */
  readonly element: SchemaElement | undefined;
}

const DECODER = new TextDecoder();

/** Times become texts, so that all rows of an export are texts. */
export const PARSERS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (millis) => timeText(Number(millis)),
  timestampFromMicroseconds: (micros) => timeText(Number(micros / 1_000n)),
  timestampFromNanoseconds: (nanos) => timeText(Number(nanos / 1_000_000n)),
  dateFromDays: (days) => timeText(days * 86_400_000)?.slice(0, 10),
  stringFromBytes: (bytes) => bytes && DECODER.decode(bytes),
  jsonFromBytes: (bytes) => bytes && DECODER.decode(bytes),
};

function timeText(millis: number): string | undefined {
  return Number.isFinite(millis) ? new Date(millis).toISOString() : undefined;
}

const DECIMALS = new WeakMap<SchemaElement, number>();

/**
 * Takes the mark of decimals away from the columns of a file, because hyparquet makes doubles of marked columns. Their integers become texts
 * with the scale in {@link cellText}. Decimals within lists keep the mark: no dialect reads one.
 */
export function exactColumns(metadata: FileMetaData): FileMetaData {
  for (const [index, element] of metadata.schema.entries()) {
    if (element.converted_type !== "DECIMAL" || isInList(metadata.schema, index)) continue;
    DECIMALS.set(element, element.scale ?? 0);
    delete element.converted_type;
    delete element.logical_type;
  }
  return metadata;
}

/** True if an element of the schema is below a repeated one, or is repeated itself. */
function isInList(schema: readonly SchemaElement[], wanted: number): boolean {
  let at = 0;
  let found = false;
  const walk = (isRepeated: boolean): void => {
    const element = schema[at]!;
    const repeated = isRepeated || element.repetition_type === "REPEATED";
    if (at === wanted) found = repeated;
    at += 1;
    for (let child = 0; child < (element.num_children ?? 0); child++) walk(repeated);
  };
  walk(false);
  return found;
}

/** Returns the text of a value in a column's root; an empty text for null. */
export function cellText(root: unknown, { path, element }: ParquetColumn): string {
  let value = root;
  for (const field of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[field];
  if (value === null || value === undefined) return "";
  if (element === undefined) return typeof value === "string" ? value : JSON.stringify(value, plainValue);
  const scale = DECIMALS.get(element);
  if (scale !== undefined) return decimalText(integerOf(value), scale);
  if (typeof value === "string") return value;
  if (typeof value === "number") return element.type === "FLOAT" ? shortFloat(value) : String(value);
  if (value instanceof Uint8Array) return DECODER.decode(value);
  return typeof value === "object" ? JSON.stringify(value, plainValue) : String(value as bigint | boolean);
}

/** Returns the integer of a decimal: a number, a bigint, or bytes with the highest byte first, in two's complement. */
function integerOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  let integer = 0n;
  for (const byte of value) integer = (integer << 8n) | BigInt(byte);
  return BigInt.asIntN(value.length * 8, integer);
}

/** Returns the shortest decimal text of a number of 32 bits. */
function shortFloat(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}

function plainValue(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return value instanceof Uint8Array ? DECODER.decode(value) : value;
}
