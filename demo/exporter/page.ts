import { writeNumber } from "./numbers.ts";
import type { Series } from "./row.ts";

/** The maximum of bytes of a number. */
const NUMBER_BYTES = 32;

/** A buffer for pages, one after the other. A page is valid until the next one is written. */
export interface PageBuffer {
  /** Returns a buffer of at least this size. */
  take(bytes: number): Buffer;
}

/** Creates a buffer that grows with the largest page. */
export function createPageBuffer(): PageBuffer {
  let buffer = Buffer.allocUnsafe(1 << 16);
  return {
    take(bytes) {
      if (buffer.length < bytes) buffer = Buffer.allocUnsafe(bytes * 2);
      return buffer;
    },
  };
}

/** A page with fixed text. Only its numbers are written, from the current readings. */
export interface PageLayout {
  write(into: PageBuffer): Buffer;
}

/** Creates the layout of a page with fixed text. */
export function createPageLayout(series: readonly Series[]): PageLayout {
  const text = Buffer.from(series.map((each) => each.text).join(""), "utf8");
  const ends = new Uint32Array(series.length);
  let length = 0;
  series.forEach((each, i) => (ends[i] = length += Buffer.byteLength(each.text)));
  const most = text.length + series.length * NUMBER_BYTES + 1;
  return {
    write(into) {
      const buffer = into.take(most);
      let at = 0;
      let from = 0;
      for (let i = 0; i < series.length; i++) {
        const { read, readings, format } = series[i]!;
        const end = ends[i]!;
        at += text.copy(buffer, at, from, end);
        from = end;
        at = writeNumber(buffer, at, read(readings), format);
      }
      // Every text but the first begins with the line feed that ends the line before.
      if (series.length > 0) buffer[at++] = 10;
      return buffer.subarray(0, at);
    },
  };
}

/** Joins families into series. The lines of HELP and TYPE are before the first number of each family. */
export function layFamilies(
  families: readonly {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly series: readonly (Omit<Series, "text"> & { readonly labels: string })[];
  }[],
): Series[] {
  const laid: Series[] = [];
  for (const { name, help, type, series } of families) {
    series.forEach(({ labels, ...rest }, i) => {
      const head = i === 0 ? `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n` : "";
      laid.push({ ...rest, text: `${laid.length === 0 ? "" : "\n"}${head}${name}{${labels}} ` });
    });
  }
  return laid;
}
