import { describe, expect, it } from "vitest";
import { focusColumns } from "../../../../reports/focus/columns.ts";
import { focusCsv, readFocusCsv } from "../../../../reports/focus/csv.ts";
import { rowsOf, type FocusCells } from "../../../../reports/focus/rows.ts";
import { partOf, SETTING } from "../../../support/focus-parts.ts";

const COLUMNS = focusColumns("charges", SETTING);
const HOSTILE = [
  "=cmd|' /C calc'!A0",
  'comma, "quote"',
  "line\nfeed",
  "return\rand\r\nboth",
  "a\u202Egnp.exe",
  "🙂 ünï",
  " blank ",
  "'",
  "-1",
  "<script>",
];

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function* of(...items: readonly (readonly FocusCells[])[]) {
  yield* items;
}

describe("a FOCUS file in CSV", () => {
  it.each(HOSTILE.map((name) => ({ name })))("returns a name unchanged: $name", async ({ name }) => {
    const rows = rowsOf([partOf({ team: name, pod: name, labels: { [name]: name } })], COLUMNS, SETTING);
    const lines = await all(readFocusCsv(focusCsv(COLUMNS, of(rows))));
    expect(lines).toEqual([COLUMNS.map((column) => column.name), ...rows]);
    expect(lines[1]).toContain(name);
  });

  it("has an empty cell for null, and quotes for an empty text", async () => {
    const bytes = (async function* () {
      yield Buffer.from('a,b\r\n,""\r\n');
    })();
    expect(await all(readFocusCsv(bytes))).toEqual([
      ["a", "b"],
      [null, ""],
    ]);
  });

  it("has a header without rows", async () => {
    const lines = await all(readFocusCsv(focusCsv(COLUMNS, of())));
    expect(lines).toEqual([COLUMNS.map((column) => column.name)]);
  });
});
