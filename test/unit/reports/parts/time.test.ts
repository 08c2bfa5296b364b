import { describe, expect, it } from "vitest";
import { readSpan } from "../../../../reports/question/span.ts";
import { spanTitle } from "../../../../reports/parts/time.ts";

describe("the title of a span", () => {
  it.each([
    ["2026-03", "March 2026"],
    ["2026-03-01/2026-04-01", "March 2026"],
    ["2026-03-14", "2026-03-14"],
    ["2026-03-01/2026-03-08", "2026-03-01 to 2026-03-07"],
    ["2026-03-01T12:00Z/2026-03-08T12:00Z", "2026-03-01 12:00 to 2026-03-08 12:00 UTC"],
  ])("of %s is %s", (name, title) => {
    const read = readSpan(name, 0);
    expect("span" in read && spanTitle(read.span)).toBe(title);
  });
});
