import { describe, expect, it } from "vitest";

import { createFunctionPolicy } from "../../../../../runtime/store/embedded/reader-functions.ts";
import { checkReaderStatement } from "../../../../../runtime/store/embedded/reader-policy.ts";
import { readerSettings } from "../../../../../runtime/store/embedded/reader-settings.ts";

const plain = { aggregate: false, caseInsensitive: false, aliasTo: "" };
const functions = createFunctionPolicy(
  [
    { ...plain, name: "plus", category: "Arithmetic" },
    { ...plain, name: "file", category: "Other" },
    { ...plain, name: "version", category: "Other" },
    { ...plain, name: "now", category: "Dates and Times", caseInsensitive: true },
    { ...plain, name: "localtimestamp", category: "", aliasTo: "now", caseInsensitive: true },
    { ...plain, name: "aiGenerate", category: "AI" },
    { ...plain, name: "tomorrowsFunction", category: "Tomorrow" },
    { ...plain, name: "sum", category: "Aggregate Functions", aggregate: true, caseInsensitive: true },
  ],
  ["If", "State", "ForEach"],
);

const limits = {
  maxExecutionSeconds: 60,
  maxMemoryBytes: 1_000,
  maxResultRows: 100,
  maxResultBytes: 1_000,
  maxRowsToRead: 1_000,
  maxThreads: 2,
};

describe("the functions of a reader", () => {
  it("are those of known categories, aggregates with combinators, and the aliases of both", () => {
    for (const name of [
      "plus",
      "version",
      "NOW",
      "LocalTimestamp",
      "sum",
      "SUM",
      "sumIf",
      "sumForEachStateIf",
      "lambda",
    ]) {
      expect({ name, may: functions.mayCall(name) }).toEqual({ name, may: true });
    }
  });

  it("are none that is unknown, of an unknown category, or spelled as the engine would not know it", () => {
    for (const name of ["file", "FILE", "aiGenerate", "tomorrowsFunction", "nosuch", "Plus", "fileIf", "If", "url"]) {
      expect({ name, may: functions.mayCall(name) }).toEqual({ name, may: false });
    }
  });
});

describe("the statement of a reader", () => {
  const tree = (...nodes: string[]) => nodes.map((node, depth) => " ".repeat(depth) + node).join("\n");

  it("passes where every node is allowed", () => {
    const dump = tree(
      "SelectWithUnionQuery (children 1)",
      "ExpressionList (children 1)",
      "Function plus (alias file) (children 1)",
    );
    expect(() => checkReaderStatement("SELECT", dump, functions)).not.toThrow();
    const explained = tree("Explain EXPLAIN (children 2)", "Set") + "\n SelectQuery (children 1)";
    expect(() => checkReaderStatement("EXPLAIN", explained, functions)).not.toThrow();
  });

  it("shows names by a pattern, but not by a condition, which the tree does not show", () => {
    const show = (sql: string) => () => checkReaderStatement(sql, "ShowTables", functions);
    expect(show("SHOW FULL TABLES FROM `ledger` LIKE 'char%' LIMIT 5 FORMAT JSON;")).not.toThrow();
    for (const sql of ["SHOW TABLES WHERE a", "SHOW TABLES LIMIT length(file('x'))", "SHOW TABLES/**/WHERE 1 IN t"]) {
      expect(show(sql)).toThrow(expect.objectContaining({ clickhouseCode: 497 }));
    }
  });

  it("is refused for settings of its own, also those of a subquery", () => {
    expect(() => checkReaderStatement("SELECT", tree("SelectWithUnionQuery", "SelectQuery", "Set"), functions)).toThrow(
      expect.objectContaining({ clickhouseCode: 164 }),
    );
  });

  it.each([
    ["a forbidden function", tree("SelectQuery", "Function file (children 1)")],
    ["a forbidden function by its bare name", tree("SelectQuery", "Function plus", "Identifier file")],
    ["a bare name with an alias", tree("SelectQuery", "Identifier file (alias f)")],
    ["a table function", tree("SelectQuery", "TableExpression (children 1)", "Function url (children 1)")],
    [
      "an allowed function in the place of a table",
      tree("SelectQuery", "TableExpression (children 1)", "Function plus"),
    ],
    ["a table of system", tree("SelectQuery", "TableIdentifier system.processes (alias p)")],
    ["a table of system in an IN", tree("SelectQuery", "Function plus", "Identifier system.processes")],
    ["a file to write", tree("SelectWithUnionQuery (children 2)", "Literal 'out.csv'")],
    ["an APPLY, whose function the tree hides", tree("SelectQuery", "ColumnsApplyTransformer")],
    ["an unknown node", tree("SelectQuery", "TomorrowsNode")],
    ["an insert", tree("InsertQuery   (children 2)")],
    ["an EXPLAIN of a table of MySQL", tree("Explain EXPLAIN TABLE OVERRIDE (children 2)")],
    ["a line that is no node", "1 + 1"],
  ])("is refused for %s", (_, dump) => {
    expect(() => checkReaderStatement("SELECT", dump, functions)).toThrow(
      expect.objectContaining({ clickhouseCode: 497 }),
    );
  });
});

describe("the settings of a reader", () => {
  it("are ours, however the client asks, and read-only", () => {
    const settings = readerSettings(
      new Map([
        ["readonly", "0"],
        ["max_execution_time", "600"],
        ["max_result_rows", "0"],
        ["max_memory_usage", "0"],
        ["allow_introspection_functions", "1"],
        ["user_files_path", "/"],
      ]),
      limits,
    );
    expect(settings).toMatchObject({
      readonly: 1,
      max_execution_time: 60,
      max_result_rows: 100,
      max_memory_usage: 1_000,
    });
    expect(settings).not.toHaveProperty("allow_introspection_functions");
    expect(settings).not.toHaveProperty("user_files_path");
  });

  it("take a stricter limit and a harmless choice from the client, and drop a value that is no such choice", () => {
    const settings = readerSettings(
      new Map([
        ["max_execution_time", "5"],
        ["output_format_json_quote_64bit_integers", "1"],
        ["session_timezone", "Europe/Berlin"],
        ["date_time_output_format", "iso --config-file=/x"],
      ]),
      limits,
    );
    expect(settings).toMatchObject({ max_execution_time: 5, session_timezone: "Europe/Berlin" });
    expect(settings["output_format_json_quote_64bit_integers"]).toBe("1");
    expect(settings).not.toHaveProperty("date_time_output_format");
  });
});
