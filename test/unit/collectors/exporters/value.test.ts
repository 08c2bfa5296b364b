import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseValue, scan, scanValue } from "../../../../collectors/exporters/exposition/value.ts";
import { rounds } from "../../../support/rounds.ts";

const decimal = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value.toFixed(6)),
  fc.double({ min: 1e-9, max: 1e21, noNaN: true }).map((value) => value.toExponential(11)),
  fc.stringMatching(/^-?\d{1,22}(\.\d{1,22})?(e[+-]?\d{1,3})?$/),
);

describe("the fast number reader", () => {
  it("gives the same double as Number for every plain decimal, and stops after it", () => {
    fc.assert(
      fc.property(decimal, fc.constantFrom("\n", " 17\n", "\r\n", ""), (text, rest) => {
        fc.pre(/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text));
        const value = scanValue(Buffer.from(`${text}${rest}`), 0);
        expect(value).toBe(Number(text));
        expect(scan.end).toBe(text.length);
      }),
      { numRuns: rounds(20_000) },
    );
  });

  it("gives nothing if no plain decimal starts there, or the same as the reference for the decimal part", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[-+.0-9eExnaINF ]{0,12}$/), (text) => {
        const value = scanValue(Buffer.from(`${text}\n`), 0);
        fc.pre(value !== undefined);
        expect(parseValue(text.slice(0, scan.end))).toBe(value);
      }),
      { numRuns: rounds(20_000) },
    );
  });
});
