import { CHARGE_COLUMNS } from "./charges.ts";
import { TABLES } from "./tables.ts";

/** Returns the page of the store's tables in Markdown: the meaning of a row, and the type of each column. */
export function renderTablesPage(): string {
  return [
    "# Tables of the store",
    "",
    "Every table of ClickHouse with its columns. Written by `npm run generate` from `runtime/store/schema`. Read views with the suffix",
    "`_published`: they have only the current rows. [Who may read what](access.md#readers-of-the-database).",
    "",
    ...Object.entries(TABLES).flatMap(([name, { row, columns }]) => [
      `## ${name}`,
      "",
      `A row is ${row}.`,
      "",
      ...(name === "charges" ? chargesTable(columns) : plainTable(columns)),
      "",
    ]),
  ].join("\n");
}

function plainTable(columns: Readonly<Record<string, string>>): readonly string[] {
  return [
    "| column | type |",
    "| --- | --- |",
    ...Object.entries(columns).map(([name, type]) => `| \`${name}\` | \`${type}\` |`),
  ];
}

/** Returns the table of `charges` with an additional column, because lines are exported under other names. */
function chargesTable(columns: Readonly<Record<string, string>>): readonly string[] {
  const exported = new Map(CHARGE_COLUMNS.map(({ name, as }) => [name, as]));
  return [
    "| column | type | name in exports |",
    "| --- | --- | --- |",
    ...Object.entries(columns).map(([name, type]) => {
      const as = exported.get(name);
      return `| \`${name}\` | \`${type}\` | ${as === undefined ? "" : `\`${as}\``} |`;
    }),
  ];
}
