import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { BACKED_UP, LEFT_OUT } from "../../../../../processors/ledger/backup/tables.ts";
import { MIGRATIONS_FOLDER } from "../../../../../runtime/store/connection.ts";
import { loadMigrations } from "../../../../../runtime/store/migration-file.ts";

describe("the list of tables in a backup", () => {
  let statements: readonly string[];
  beforeAll(async () => {
    statements = (await loadMigrations(MIGRATIONS_FOLDER)).flatMap((file) => file.statements);
  });

  it("has every table once, as backed up or left out", () => {
    const made = statements.flatMap((statement) => /^CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement)?.[1] ?? []);
    const names = [...BACKED_UP, ...LEFT_OUT].map(({ name }) => name);
    // The table of migrations is made before the first migration.
    expect(names.toSorted()).toEqual(["migrations", ...made].toSorted());
  });

  it("can be restored after later migrations, because these change no rows", () => {
    const alterations = statements.filter((statement) => !statement.startsWith("CREATE "));
    expect(alterations.length).toBeGreaterThan(5);
    for (const statement of alterations) {
      expect(statement).toMatch(/^ALTER TABLE \w+ \$ON_CLUSTER\s+(ADD|MATERIALIZE INDEX) /);
      expect(statement).not.toMatch(/,\s*(UPDATE|DELETE|MODIFY|DROP|RENAME|CLEAR) /);
    }
  });

  it("is in docs/backup.md, with reasons", () => {
    const rows = readFileSync("docs/backup.md", "utf8").matchAll(/^- `(\w+)`: (.*)$/gm);
    expect([...rows].map(([, name, why]) => ({ name, why }))).toEqual(
      [...BACKED_UP, ...LEFT_OUT].map(({ name, why }) => ({ name, why })),
    );
  });
});
