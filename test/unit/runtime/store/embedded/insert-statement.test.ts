import { describe, expect, it } from "vitest";

import { renderInsertFromFile, splitInsert } from "../../../../../runtime/store/embedded/insert-statement.ts";
import { formatClauseOf, namesLocalFile } from "../../../../../runtime/store/embedded/statement-text.ts";

describe("taking an insert apart", () => {
  it("finds its head, its settings, its format and where the rows begin", () => {
    const text = "/* x */ INSERT INTO `a.b`.t (a, `b)`) SETTINGS async_insert = 0 FORMAT JSONEachRow\n{}";
    const insert = splitInsert(text);
    expect(insert).toEqual({
      head: "/* x */ INSERT INTO `a.b`.t (a, `b)`)",
      settings: "SETTINGS async_insert = 0",
      format: "JSONEachRow",
      dataStart: text.indexOf("{"),
    });
  });

  it("takes names that look like keywords for names", () => {
    expect(splitInsert("INSERT INTO format FORMAT CSV")).toMatchObject({ head: "INSERT INTO format", format: "CSV" });
    expect(splitInsert("insert into table settings.select format TSV")).toMatchObject({ format: "TSV" });
  });

  it("leaves one line break to the statement, and every further byte to the rows", () => {
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
  ])("lets %s be", (text) => {
    expect(splitInsert(text)).toBeUndefined();
  });

  it("refuses an insert that names a file of this machine", () => {
    expect(() => splitInsert("INSERT INTO t FROM INFILE '/etc/passwd' FORMAT LineAsString")).toThrow(/INFILE/);
    expect(() => splitInsert("INSERT INTO t (a)/**/from infile '/etc/passwd' FORMAT CSV")).toThrow(/INFILE/);
  });

  it("puts the file where the grammar wants it, before the settings", () => {
    const insert = splitInsert("INSERT INTO t (a) SETTINGS x = 1 FORMAT CSV");
    expect(insert && renderInsertFromFile(insert, "/in/it's")).toBe(
      "INSERT INTO t (a) FROM INFILE '/in/it\\'s' SETTINGS x = 1 FORMAT CSV",
    );
  });
});

describe("the text of a statement", () => {
  it("asks for the format of its last FORMAT clause, not for a column of that name", () => {
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
