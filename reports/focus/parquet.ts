import type { StoreClient } from "../../runtime/store/client.ts";
import { arrowOf, parquetOf } from "../format/parquet.ts";
import type { ColumnHead, FocusKind } from "./columns.ts";
import type { FocusCells } from "./rows.ts";

/** The number of rows that the store gets at once. */
const ROWS_AT_ONCE = 1_000;

/** The types of the columns. Decimals have the number of digits of the finest of them. JSON stays a text. */
const TYPES: Readonly<Record<FocusKind, string>> = {
  text: "Nullable(String)",
  json: "Nullable(String)",
  decimal: "Nullable(Decimal(38, 18))",
  time: "Nullable(DateTime64(3, 'UTC'))",
};

/** Returns rows as Parquet, with decimals and times. The store makes the columns. Fails with a `StoreError`. */
export function focusParquet(
  store: StoreClient,
  columns: readonly ColumnHead[],
  rows: AsyncIterable<readonly FocusCells[]>,
): AsyncIterable<Uint8Array> {
  return parquetOf(portions(store, columns, rows));
}

async function* portions(
  store: StoreClient,
  written: readonly ColumnHead[],
  rows: AsyncIterable<readonly FocusCells[]>,
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const columns = written.map(({ name, kind }) => ({ name, type: TYPES[kind] }));
  const arrow = (some: readonly FocusCells[]): AsyncIterable<Uint8Array> =>
    arrowOf(
      store,
      columns,
      some.map((cells) => Object.fromEntries(columns.map(({ name }, index) => [name, cells[index]!]))),
    );
  let waiting: FocusCells[] = [];
  let isFirst = true;
  for await (const some of rows) {
    waiting.push(...some);
    if (waiting.length < ROWS_AT_ONCE) continue;
    yield arrow(waiting);
    [waiting, isFirst] = [[], false];
  }
  if (waiting.length > 0 || isFirst) yield arrow(waiting);
}
