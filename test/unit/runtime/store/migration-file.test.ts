import { describe, expect, it } from "vitest";

import { MIGRATIONS_FOLDER } from "../../../../runtime/store/connection.ts";
import { pendingMigrations } from "../../../../runtime/store/migrate.ts";
import { loadMigrations, splitStatements } from "../../../../runtime/store/migration-file.ts";
import { sqlTokens } from "../../../../runtime/store/sql-tokens.ts";

const file = (number: number, sha256 = `hash ${number}`) => ({
  name: `000${number}_step.sql`,
  number,
  sha256,
  statements: ["SELECT 1"],
});
const recorded = (number: number, sha256 = `hash ${number}`) => ({ name: `000${number}_step.sql`, sha256 });

describe("splitting a migration", () => {
  it("ends statements at semicolons that are neither in strings nor in comments", () => {
    const text = "-- a; b\nSELECT ';', `x;y`, $$;$$ /* ; */ FROM t;\n\nSELECT 'it''s \\' ;' ;";
    expect(splitStatements(text, "x")).toEqual(["SELECT ';', `x;y`, $$;$$ /* ; */ FROM t", "SELECT 'it''s \\' ;'"]);
  });

  it("refuses a last statement without a semicolon and a file without statements", () => {
    expect(() => splitStatements("SELECT 1; SELECT 2", "0001_x.sql")).toThrow(/0001_x.sql.*semicolon/);
    expect(() => splitStatements("-- nothing\n", "0001_x.sql")).toThrow(/0001_x.sql holds no statement/);
    expect(() => splitStatements("SELECT 'open;", "0001_x.sql")).toThrow(/semicolon/);
  });
});

describe("the pending migrations", () => {
  it("are all in an empty store, the rest in one that is behind, and none in one that is up to date", () => {
    const files = [file(1), file(2), file(3)];
    expect(pendingMigrations(files, []).map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(pendingMigrations(files, [recorded(1)]).map(({ number }) => number)).toEqual([2, 3]);
    expect(pendingMigrations(files, [recorded(1), recorded(2), recorded(3)])).toEqual([]);
  });

  it("are refused, with the file's name, if a file was changed, is gone, was skipped, or is newer than this release", () => {
    expect(() => pendingMigrations([file(1, "other")], [recorded(1)])).toThrow(/0001_step.sql was changed/);
    expect(() => pendingMigrations([file(1), file(3)], [recorded(2)])).toThrow(/has 0002_step.sql/);
    expect(() => pendingMigrations([file(1), file(2)], [recorded(2)])).toThrow(/0001_step.sql was never applied/);
    expect(() => pendingMigrations([file(1)], [recorded(1), recorded(2)])).toThrow(/newer release \(0002_step.sql\)/);
    expect(() => pendingMigrations([file(1)], [recorded(1), recorded(1, "of another release")])).toThrow(/changed/);
  });
});

describe("the migrations of this release", () => {
  it("only add, so that processors of a former release can still insert", async () => {
    const statements = (await loadMigrations(MIGRATIONS_FOLDER)).flatMap((migration) => migration.statements);
    const changing = statements
      .map((statement) => [...sqlTokens(statement)].map(({ text }) => text.toUpperCase()).join(" "))
      .filter((words) => !/^CREATE (?:TABLE|VIEW) IF NOT EXISTS |^CREATE OR REPLACE VIEW /.test(words));
    expect(changing.length).toBeGreaterThan(5);
    for (const words of changing) {
      expect(words).toMatch(/^ALTER TABLE .*(?:ADD COLUMN|ADD INDEX|MATERIALIZE INDEX) /);
      expect(words).not.toMatch(/ (?:DROP|RENAME|MODIFY|CLEAR) /);
    }
  });
});
