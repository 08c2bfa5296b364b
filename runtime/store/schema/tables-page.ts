import { CHARGE_COLUMNS } from "./charges.ts";
import { TABLES } from "./tables.ts";

/** Returns the page of the store's tables in Markdown: the meaning of a row, and the type of each column. */
export function renderTablesPage(): string {
  return [
    "# Tables of the store",
    "",
    "Every table of ClickHouse with its columns, in their order: columns that follow each other and have one type stand together. Written by",
    "`npm run generate` from `runtime/store/schema`. Read views with the suffix `_published`: they have only the current rows.",
    "[Who may read what](access.md#readers-of-the-database).",
    "",
    ...Object.entries(TABLES).flatMap(([name, { row, columns }]) => [
      `## ${name}`,
      "",
      `A row is ${row}.`,
      "",
      ...(name === "charges"
        ? ["Parentheses have the name in exports, if it is another one, or `-` for none.", ""]
        : []),
      ...(extended(name) ?? typesWithColumns(columns, name === "charges" ? exportedAs : (column) => `\`${column}\``)),
      "",
    ]),
  ].join("\n");
}

/** Returns the columns of a table that has all columns of an earlier table, and perhaps more of them in one place. */
function extended(name: string): readonly string[] | undefined {
  const tables = Object.entries(TABLES).map(([table, { columns }]) => [table, Object.entries(columns)] as const);
  const at = tables.findIndex(([table]) => table === name);
  const own = tables[at]![1];
  for (const [table, columns] of tables.slice(0, at)) {
    const more = own.length - columns.length;
    const start = own.findIndex((column, index) => String(column) !== String(columns[index]));
    const place = start < 0 ? own.length : start;
    if (more < 0 || String([...own.slice(0, place), ...own.slice(place + more)]) !== String(columns)) continue;
    const those = `Its columns are those of [${table}](#${table})`;
    if (more === 0) return [`${those}.`];
    return [
      `${those}, with these after \`${own[place - 1]?.[0]}\`:`,
      "",
      ...typesWithColumns(Object.fromEntries(own.slice(place, place + more)), (column) => `\`${column}\``),
    ];
  }
  return undefined;
}

function typesWithColumns(
  columns: Readonly<Record<string, string>>,
  named: (column: string) => string,
): readonly string[] {
  const groups: { readonly type: string; readonly names: string[] }[] = [];
  for (const [column, type] of Object.entries(columns)) {
    const last = groups.at(-1);
    if (last?.type === type) last.names.push(named(column));
    else groups.push({ type, names: [named(column)] });
  }
  return groups.map(({ type, names }) => `- \`${type}\`: ${names.join(", ")}`);
}

/** Returns a column of `charges` with the name of its values in exported lines. */
function exportedAs(column: string): string {
  const as = CHARGE_COLUMNS.find(({ name }) => name === column)?.as;
  return as === column ? `\`${column}\`` : `\`${column}\` (\`${as ?? "-"}\`)`;
}
