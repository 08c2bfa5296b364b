import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TABLES } from "../../../../../runtime/store/schema/tables.ts";

it("docs/tables.md, which `npm run generate` writes, has every column of every table", () => {
  const sections = readFileSync("docs/tables.md", "utf8").split(/^## /m).slice(1);
  const documented = new Map<string, Readonly<Record<string, string>>>();
  for (const section of sections) {
    const [, table, place] =
      /^Its columns are those of \[(\w+)\]\(#\w+\)(?:, with these after `(\w+)`:)?/m.exec(section) ?? [];
    const inherited = Object.entries(documented.get(table ?? "") ?? {});
    const own = [...section.matchAll(/^- `(.+?)`: (.*)$/gm)].flatMap(([, type, names]) =>
      [...names!.matchAll(/(?:^|, )`(\w+)`/g)].map(([, name]): readonly [string, string] => [name!, type!]),
    );
    const before = inherited.findIndex(([name]) => name === place) + 1;
    const columns = [...inherited.slice(0, before), ...own, ...inherited.slice(before)];
    documented.set(section.split("\n")[0]!, Object.fromEntries(columns));
  }
  const tables = [...documented].map(([name, columns]) => [name, Object.entries(columns)]);
  expect(tables).toEqual(Object.entries(TABLES).map(([name, { columns }]) => [name, Object.entries(columns)]));
});
