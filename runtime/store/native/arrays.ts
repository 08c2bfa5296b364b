import type { NativeColumn } from "./block.ts";

/** A column of arrays, `Array(T)`. Rows that were not written are empty. */
export interface ArrayColumn<Value> extends NativeColumn {
  /** Writes a row after all rows that were written. */
  readonly put: (row: number, values: readonly Value[]) => void;
}

/** A column of elements that are written one after the other. */
interface ElementColumn<Value> extends NativeColumn {
  put(row: number, value: Value): void;
}

const FIRST_ROOM = 1024;

/** Creates an empty column of arrays. The column of elements must not have a dictionary. */
export function arrayColumn<Value>(elements: ElementColumn<Value>): ArrayColumn<Value> {
  let counts = new Uint32Array();
  let count = 0;
  let room = 0;
  return {
    name: elements.name,
    type: `Array(${elements.type})`,
    get isWritten() {
      return count > 0;
    },
    put(row, values) {
      counts[row] = values.length;
      for (const value of values) {
        if (count === room) elements.grow((room = Math.max(FIRST_ROOM, 2 * room)));
        elements.put(count, value);
        count += 1;
      }
    },
    grow(rows) {
      const grown = new Uint32Array(rows);
      grown.set(counts);
      counts = grown;
    },
    take(out, rows) {
      let end = 0;
      for (let row = 0; row < rows; row++) out.uint64((end += counts[row]!));
      elements.take(out, count);
      counts.fill(0);
      count = 0;
    },
  };
}
