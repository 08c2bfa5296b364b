import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inPieces } from "../../../../runtime/store/long-parameters.ts";

/** The maximum bytes of a field for a server. */
const MOST_BYTES = 131_072;

describe("a statement's long parameters", () => {
  it("are sent in pieces that a server accepts, and are joined to the original", () => {
    const element = fc.string({ unit: "grapheme", minLength: 60, maxLength: 400 });
    fc.assert(
      fc.property(fc.array(element, { minLength: 600, maxLength: 800 }), (names) => {
        const text = names.join("\n");
        const { sql, parameters } = inPieces({
          sql: "SELECT {n: UInt8}, {names:Array(String)}, { text : String } WHERE a IN {names:Array(String)}",
          parameters: { n: 7, names, text },
        });
        const pieces = (prefix: string) => Object.entries(parameters).filter(([name]) => name.startsWith(prefix));
        const placeholders = (prefix: string, type: string) =>
          pieces(prefix)
            .map(([name]) => `{${name}:${type}}`)
            .join(", ");
        const list = `arrayConcat(${placeholders("names", "Array(String)")})`;
        expect(sql).toBe(`SELECT {n: UInt8}, ${list}, concat(${placeholders("text", "String")}) WHERE a IN ${list}`);
        expect(pieces("names").flatMap(([, piece]) => piece)).toEqual(names);
        expect(
          pieces("text")
            .map(([, piece]) => piece)
            .join(""),
        ).toBe(text);
        expect(parameters["n"]).toBe(7);
        for (const [, piece] of pieces("text")) {
          expect(Buffer.byteLength(piece as string)).toBeLessThan(MOST_BYTES / 1.2);
          expect(Buffer.from(piece as string).toString()).toBe(piece);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("are no longer than a server accepts, for any characters that are escaped", () => {
    const names = Array.from({ length: 2_000 }, () => `'\\'`.repeat(10));
    const { parameters } = inPieces({ sql: "{names:Array(String)}", parameters: { names } });
    for (const piece of Object.values(parameters) as string[][]) {
      // As the client writes an array: quotes and backslashes escaped, and the whole once more as a field.
      const written = `[${piece.map((name) => `'${name.replaceAll(/['\\]/g, "\\$&")}'`).join(",")}]`;
      expect(written.replaceAll("\\", "\\\\").length).toBeLessThan(MOST_BYTES);
    }
  });

  it("stay unchanged if they are short", () => {
    const short = { sql: "SELECT {names:Array(String)}", parameters: { names: ["a", "b"] } };
    expect(inPieces(short)).toEqual(short);
  });
});
