import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { TABLES } from "../../../../../runtime/store/schema/tables.ts";

it("docs/tables.md, which `npm run generate` writes, has every column of every table", () => {
  const sections = readFileSync("docs/tables.md", "utf8").split(/^## /m).slice(1);
  const documented = sections.map((section) => {
    const columns = [...section.matchAll(/^- `(.+?)`: (.*)$/gm)].flatMap(([, type, names]) =>
      [...names!.matchAll(/(?:^|, )`(\w+)`/g)].map(([, name]) => [name, type]),
    );
    return [section.split("\n")[0], Object.fromEntries(columns)] as const;
  });
  expect(documented).toEqual(Object.entries(TABLES).map(([name, { columns }]) => [name, columns]));
});
