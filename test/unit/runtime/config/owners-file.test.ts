import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readOwnersFile } from "../../../../runtime/config/owners-file.ts";
import { describeProblem } from "../../../../runtime/config/file-problem.ts";

/** The problems of a file, a line for each; empty if there are none. */
function wrongWith(...lines: readonly string[]): readonly string[] {
  const read = readOwnersFile(lines.join("\n"));
  return "value" in read ? [] : read.problems.map((problem) => describeProblem(problem).trim());
}

describe("the file of owners", () => {
  it("has a header, columns in any order, and a row for each rule", () => {
    const text = `match,team,kind,until,from\nvision-*,vision,namespace,,2026-03-01\n"a ""quoted"", name",nlp,queue,2026-04-01T12:00:00Z,\n`;
    expect(readOwnersFile(text)).toEqual({
      value: [
        { line: 2, kind: "namespace", match: "vision-*", values: { team: "vision" }, from: Date.UTC(2026, 2, 1) },
        {
          line: 3,
          kind: "queue",
          match: `a "quoted", name`,
          values: { team: "nlp" },
          until: Date.UTC(2026, 3, 1, 12),
        },
      ],
    });
  });

  it("is read as spreadsheets write it: with a byte order mark, semicolons, CRLF, blanks and empty lines", () => {
    const text = "\uFEFFkind;match;costCenter\r\n\r\npool ; dgx ; CC-1\r\n";
    expect(readOwnersFile(text)).toEqual({
      value: [{ line: 3, kind: "pool", match: "dgx", values: { costCenter: "CC-1" } }],
    });
  });

  it("can leave out empty cells at the end of a row", () => {
    expect(readOwnersFile("kind,match,team,costCenter,from\nworkload,train,nlp")).toMatchObject({
      value: [{ kind: "workload", values: { team: "nlp" } }],
    });
  });

  it("has an example with every kind and every column", () => {
    const read = readOwnersFile(readFileSync("config/owners.example.csv", "utf8"));
    expect(read).toMatchObject({ value: { length: 6 } });
  });
});

describe("a problem of a file of owners", () => {
  it("is reported together with all others, with the column, the line, the value and the allowed values", () => {
    expect(
      wrongWith(
        "kind,match,team,from,until",
        "cluster,prod,nlp,,",
        "namespace,,nlp,,",
        "namespace,lab,,,",
        "namespace,lab,nlp,soon,",
        "namespace,lab,nlp,2026-03-01,2026-02-01",
        "namespace,lab,nlp,,,extra",
      ),
    ).toEqual([
      `kind (line 2): "cluster" is not one of: workload, queue, namespace, pool`,
      "match (line 3): required: a name, a glob or a regular expression",
      "(row) (line 4): required: a value of team, costCenter, project, environment, at least one",
      expect.stringContaining(`from (line 5): "soon" is not a date such as 2026-03-01`),
      `until (line 6): "2026-02-01" is not after from`,
      `(row) (line 7): "6 fields" is not at most the 5 of the header`,
    ]);
  });

  it.each([
    ["an unknown column", "kind,match,teem", `"teem" is not a known column; known are kind, match, team`],
    ["a column that appears twice", "kind,match,team,team", `"team" is not a column that the header names once`],
    ["no column of kinds", "match,team", "required: the column kind"],
    ["no header", "", "required: the column kind"],
  ])("can be %s", (_, header, sentence) => {
    expect(wrongWith(header, "namespace,lab,nlp")).toContainEqual(expect.stringContaining(sentence));
  });

  it("can be that the file is not CSV", () => {
    expect(wrongWith("kind,match,team", `namespace,"lab,nlp`)).toEqual([expect.stringMatching(/^\(CSV\): .*quote/i)]);
  });
});
