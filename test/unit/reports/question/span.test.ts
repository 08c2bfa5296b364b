import { describe, expect, it } from "vitest";
import { monthsIn, readSpan, spanBefore, type Span } from "../../../../reports/question/span.ts";

/** A Thursday. */
const NOW = Date.UTC(2026, 2, 12, 10, 20);

function spanOf(text: string): Span {
  return (readSpan(text, NOW) as { span: Span }).span;
}

function isoOf({ from, until }: Span): string {
  return [from, until].map((millis) => new Date(millis).toISOString().slice(0, 13)).join(" ");
}

describe("a span", () => {
  it.each([
    ["2026-02", "2026-02-01T00 2026-03-01T00"],
    ["2026-03-09", "2026-03-09T00 2026-03-10T00"],
    ["2026-03-01/2026-03-08", "2026-03-01T00 2026-03-08T00"],
    ["2026-03-01T06:00Z/2026-03-01T18:00:00Z", "2026-03-01T06 2026-03-01T18"],
    ["today", "2026-03-12T00 2026-03-13T00"],
    ["yesterday", "2026-03-11T00 2026-03-12T00"],
    ["week", "2026-03-09T00 2026-03-16T00"],
    ["lastweek", "2026-03-02T00 2026-03-09T00"],
    ["month", "2026-03-01T00 2026-04-01T00"],
    ["lastmonth", "2026-02-01T00 2026-03-01T00"],
    ["36h", "2026-03-10T23 2026-03-12T11"],
    ["7d", "2026-03-05T11 2026-03-12T11"],
  ])("is read from %s", (text, expected) => {
    expect(isoOf(spanOf(text))).toBe(expected);
  });

  it.each([
    ["", "is not a month"],
    ["2026-13", "is not a month"],
    ["2026-02-30", "is not a month"],
    ["2026-03-01/", "is not a month"],
    ["/2026-03-01", "is not a month"],
    ["2026-03-01/2026-03-02/2026-03-03", "is not a month"],
    ["2026-03-01T06:00/2026-03-01T18:00", "is not a month"],
    ["0d", "is not a month"],
    ["2026-03-08/2026-03-01", "the end must be after the beginning"],
    ["2026-03-01/2026-03-01", "the end must be after the beginning"],
    ["2026-03-01T06:30Z/2026-03-01T18:00Z", "the times must be whole hours"],
  ])("is not read from %j, with a sentence as the reason", (text, why) => {
    expect(readSpan(text, NOW)).toEqual({ error: expect.stringContaining(why) as string });
  });

  it("has a span before it: the same number of months for months, otherwise the same length", () => {
    expect(spanBefore(spanOf("2026-03")).name).toBe("2026-02");
    expect(spanBefore(spanOf("2026-01-01/2026-04-01")).name).toBe("2025-10-01/2026-01-01");
    expect(spanBefore(spanOf("2026-03-09/2026-03-12")).name).toBe("2026-03-06/2026-03-09");
    expect(spanBefore(spanOf("6h")).name).toBe("2026-03-11T23:00Z/2026-03-12T05:00Z");
  });

  it("covers whole months or none", () => {
    expect(monthsIn(spanOf("2026-01-01/2026-04-01"))).toHaveLength(3);
    expect(monthsIn(spanOf("2026-01-01/2026-03-31"))).toEqual([]);
    expect(monthsIn(spanOf("2026-01-02/2026-04-01"))).toEqual([]);
  });
});
