import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { filterText, readFilters } from "../../../../reports/question/question.ts";

describe("the conditions of a question", () => {
  it.each([
    ["team=vision,nlp", ["vision", "nlp"]],
    ["team=", [""]],
    ["team=,nlp", ["", "nlp"]],
    ["team=nlp,", ["nlp", ""]],
    ["team=,,nlp", ["", "", "nlp"]],
    [String.raw`team=a\,b,c\\`, ["a,b", String.raw`c\ `.trim()]],
  ])("of %s have the values %j", (text, values) => {
    expect(readFilters([text])).toEqual({ where: [{ dimension: "team", values }] });
  });

  it("are read as they were written, for any values", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (values) => {
        const filter = { dimension: "team", values };
        expect(readFilters([filterText(filter)])).toEqual({ where: [filter] });
      }),
    );
  });
});
