import { describe, expect, it } from "vitest";
import { formatCsv } from "../../../../reports/format/csv.ts";

describe("a table as CSV", () => {
  it("quotes cells that need it", () => {
    expect(formatCsv([[{ text: 'a "b", c' }, { text: "d\ne" }, { text: "plain" }]])).toBe(
      '"a ""b"", c","d\ne",plain\r\n',
    );
  });

  it.each([
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "\t=1",
    "\r=1",
    '=HYPERLINK("x")',
    " =1",
    "\ufeff=1",
    "\u200b+1",
    "＝1+1",
    " ＠sum",
  ])("never has a text that a spreadsheet would compute: %j", (text) => {
    expect(formatCsv([[{ text }]]).replace(/^"/, "")).toMatch(/^'/);
  });

  it("leaves texts for programs unchanged", () => {
    expect(formatCsv([[{ verbatim: "=1+1" }, { verbatim: 'a, "b"' }, { verbatim: "" }]])).toBe('=1+1,"a, ""b""",\r\n');
  });
});
