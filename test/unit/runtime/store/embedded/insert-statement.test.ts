import { describe, expect, it } from "vitest";

import { renderInsertFromFile, splitInsert } from "../../../../../runtime/store/embedded/insert-statement.ts";
import { formatClauseOf, namesLocalFile } from "../../../../../runtime/store/embedded/statement-text.ts";

describe("an insert statement that is parsed", () => {
  it("has its head, its settings, its format and the beginning of the rows", () => {
    const text = "/* x */ INSERT INTO `a.b`.t (a, `b)`) SETTINGS async_insert = 0 FORMAT JSONEachRow\n{}";
    const insert = splitInsert(text);
    expect(insert).toEqual({
      head: "/* x */ INSERT INTO `a.b`.t (a, `b)`)",
      settings: "SETTINGS async_insert = 0",
      format: "JSONEachRow",
      dataStart: text.indexOf("{"),
    });
  });

  it("may have names that look like keywords", () => {
    expect(splitInsert("INSERT INTO format FORMAT CSV")).toMatchObject({ head: "INSERT INTO format", format: "CSV" });
    expect(splitInsert("insert into table settings.select format TSV")).toMatchObject({ format: "TSV" });
  });

  it("has one line break, and every further byte belongs to the rows", () => {
    expect(splitInsert("INSERT INTO t FORMAT RowBinary\n\n\u0000")?.dataStart).toBe(31);
    expect(splitInsert("INSERT INTO t FORMAT TSV \r\nx")?.dataStart).toBe(27);
  });

  it.each([
    "SELECT 1 FORMAT CSV",
    "INSERT INTO t VALUES (1)",
    "INSERT INTO t (a) SELECT 1",
    "INSERT INTO t WITH 1 AS x SELECT x FORMAT CSV",
    "INSERT INTO FUNCTION file('x') FORMAT CSV",
    "INSERT INTO t FORMAT Values (1)",
    "INSERT INTO t 'open",
  ])("stays unchanged if it is %s", (text) => {
    expect(splitInsert(text)).toBeUndefined();
  });

  it("is refused if it names a file of this machine", () => {
    expect(() => splitInsert("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT LineAsString")).toThrow(/INFILE/);
    expect(() => splitInsert("INSERT INTO t (a)/**/from infile '/etc/passwd' FORMAT CSV")).toThrow(/INFILE/);
  });

  it("gets the file at the place that the grammar requires, before the settings", () => {
    const insert = splitInsert("INSERT INTO t (a) SETTINGS x = 1 FORMAT CSV");
    expect(insert && renderInsertFromFile(insert, "/in/it's")).toBe(
      "INSERT INTO t (a) FROM INFILE '/in/it\\'s' SETTINGS x = 1 FORMAT CSV",
    );
  });
});

describe("the text of a statement", () => {
  it("has the format of its last FORMAT clause, not a column of that name", () => {
    expect(formatClauseOf("SELECT 1 FORMAT JSON")).toBe("JSON");
    expect(formatClauseOf("SELECT 1 FORMAT JSON SETTINGS max_threads = 1;")).toBe("JSON");
    expect(formatClauseOf("SELECT 1 SETTINGS max_threads = 1 FORMAT Native -- JSON")).toBe("Native");
    expect(formatClauseOf("SELECT format FROM t")).toBeUndefined();
    expect(formatClauseOf("SELECT format('{}', 1), 'FORMAT JSON'")).toBeUndefined();
    expect(formatClauseOf("SELECT 1")).toBeUndefined();
  });

  it("names files of this machine only outside of strings and comments", () => {
    expect(namesLocalFile("SELECT 1 INTO OUTFILE 'x'")).toBe(true);
    expect(namesLocalFile("SELECT 1 INTO/**/outfile'x'")).toBe(true);
    expect(namesLocalFile("SELECT 'INTO OUTFILE' -- outfile")).toBe(false);
  });
});
