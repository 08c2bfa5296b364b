import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineScanner } from "../../../../../collectors/kubernetes/api/line-scanner.ts";
import { createListScanner } from "../../../../../collectors/kubernetes/api/list-scanner.ts";

/** The bytes of a text, cut at the given places. */
function cut(text: string, places: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, "utf8");
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => Buffer.from(bytes.subarray(start, ends[index] ?? bytes.length)));
}

function scanList(chunks: readonly Buffer[]): { readonly items: unknown[]; readonly rest: unknown } {
  const scanner = createListScanner();
  const items = chunks.flatMap((chunk) =>
    scanner.feed(chunk).map((item) => JSON.parse(item.toString("utf8")) as unknown),
  );
  return { items, rest: scanner.rest() };
}

const places = fc.array(fc.nat(100_000), { maxLength: 40 });
const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 8 });

describe("a list that arrives in pieces", () => {
  it("is cut into the same items as by JSON.parse, for any pieces and any formatting", () => {
    fc.assert(
      fc.property(
        objects,
        fc.jsonValue(),
        fc.boolean(),
        fc.constantFrom(undefined, 1, "\t"),
        places,
        (items, other, last, space, at) => {
          const list = last
            ? { kind: "PodList", other, metadata: { resourceVersion: "7" }, items }
            : { items, other, metadata: { resourceVersion: "7" } };
          const scanned = scanList(cut(JSON.stringify(list, undefined, space), at));
          const whole = JSON.parse(JSON.stringify(list)) as typeof list;
          expect(scanned.items).toEqual(whole.items);
          expect(scanned.rest).toEqual({ ...whole, items: [] });
        },
      ),
    );
  });

  it("does not confuse brackets, quotes and the word items inside of texts and items", () => {
    const list = {
      items: [{ items: [{ a: '"items":[{' }], "}]": "\\" }, { b: [[], {}] }],
      metadata: { resourceVersion: "1", items: [1], continue: "é]" },
    };
    expect(scanList(cut(JSON.stringify(list), [9, 10, 11, 40]))).toEqual({
      items: list.items,
      rest: { ...list, items: [] },
    });
  });

  it("that ends in the middle is not a list", () => {
    const scanner = createListScanner();
    scanner.feed(Buffer.from('{"items":[{"a":1},{"b"'));
    expect(() => scanner.rest()).toThrow(SyntaxError);
  });
});

describe("a stream of lines", () => {
  it("is cut at its line feeds, for any pieces", () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "));
    fc.assert(
      fc.property(fc.array(line), line, places, (lines, unfinished, at) => {
        const scanner = createLineScanner();
        const text = lines.map((each) => `${each}\n`).join("") + unfinished;
        const found = cut(text, at).flatMap((chunk) => scanner.feed(chunk).map((each) => each.toString("utf8")));
        expect(found).toEqual(lines.filter((each) => each !== ""));
        expect(scanner.pendingBytes).toBe(Buffer.byteLength(unfinished));
      }),
    );
  });
});
