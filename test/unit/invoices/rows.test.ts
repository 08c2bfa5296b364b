import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, it } from "vitest";
import { csvRows } from "../../../invoices/rows/csv.ts";
import { jsonCells } from "../../../invoices/rows/json-cells.ts";
import type { RowVisitor } from "../../../invoices/rows/table.ts";

/** Reads a CSV text in chunks of a size, and returns the head and the rows. */
async function rowsOf(text: string, chunkBytes: number): Promise<readonly (readonly string[])[]> {
  const bytes = Buffer.from(text);
  async function* chunks(): AsyncGenerator<Buffer> {
    await Promise.resolve();
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const rows: (readonly string[])[] = [];
  const visitor: RowVisitor = {
    open: ({ names }) => void rows.push(names),
    read: (row) => void rows.push(rows[0]!.map((_, column) => row.cell(column))),
  };
  for await (const _ of csvRows(chunks(), visitor)) void _;
  return rows;
}

const cell = fc.string({ unit: fc.constantFrom("a", "é", "🜁", ",", '"', "\n", "\r", " ", "1") });

it("CSV has the cells that csv-parse finds, whatever the chunks", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .integer({ min: 2, max: 5 })
        .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 6 })),
      fc.integer({ min: 1, max: 50 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      async (cells, chunkBytes, end, isEnded) => {
        const head = cells[0]?.map((_, column) => `c${column}`) ?? ["a", "b"];
        // A cell needs quotes for a separator, a quote, and an end of a line.
        const written = (value: string): string =>
          /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
        const lines = [head, ...cells].map((row) => row.map(written).join(","));
        const text = lines.join(end) + (isEnded ? end : "");
        const parsed = parse(text, { record_delimiter: end });
        expect(await rowsOf(text, chunkBytes)).toEqual(parsed);
      },
    ),
  );
});

it("JSON has the cells of its objects, with the text of their numbers", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const object = { a: value };
      const cells = jsonCells(JSON.stringify(object))!;
      const flat = new Map<string, string>();
      const walk = (path: string, each: unknown): void => {
        if (each === null) return;
        if (typeof each !== "object") flat.set(path, typeof each === "string" ? each : JSON.stringify(each));
        else if (Array.isArray(each)) flat.set(path, JSON.stringify(each));
        else for (const [key, inner] of Object.entries(each)) walk(`${path}.${key}`, inner);
      };
      walk("a", object.a);
      expect(new Map([...cells].map(([key, text]) => [key, text === "-0" ? "0" : text]))).toEqual(flat);
    }),
  );
});

it.each(["", "{", "[]", "1", '{"a":}', '{"a":1}{', '{"a":01}', '{"a" 1}', '{"a":"\\x"}', "{'a':1}"])(
  "%j is no JSON object",
  (text) => {
    expect(jsonCells(text)).toBeUndefined();
  },
);
