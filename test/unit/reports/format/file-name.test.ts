import { expect, it } from "vitest";
import { fileName } from "../../../../reports/format/file-name.ts";
import { readSpan } from "../../../../reports/question/span.ts";

it.each([
  ["2026-02", "charges-by-team-2026-02.csv"],
  ["2026-03-14", "charges-by-team-2026-03-14.csv"],
  ["2026-02-26/2026-03-02", "charges-by-team-2026-02-26-to-2026-03-01.csv"],
  ["2026-03-01T06:00Z/2026-03-01T18:00Z", "charges-by-team-2026-03-01T06Z-to-2026-03-01T18Z.csv"],
  ["7d", "charges-by-team-2026-03-13T10Z-to-2026-03-20T10Z.csv"],
  ["lastmonth", "charges-by-team-2026-02.csv"],
])("a file of %s has its time in the name: %s", (text, name) => {
  const read = readSpan(text, Date.parse("2026-03-20T09:30Z"));
  if ("error" in read) throw new Error(read.error);
  expect(fileName("charges-by-team", read.span, "csv")).toBe(name);
});

it("a name has only letters that every file system has, and at most 255 bytes", () => {
  const month = { from: Date.UTC(2026, 1), until: Date.UTC(2026, 2) };
  expect(fileName('charges-by-label:team/"x"\r\n', month, "csv")).toBe("charges-by-label_team__x___-2026-02.csv");
  expect(fileName("é".repeat(300), month, "csv")).toHaveLength(112);
});
