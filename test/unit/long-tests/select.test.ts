import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createClosure } from "../../long-tests/closure.ts";
import { pathsOf, selectTests } from "../../long-tests/select.ts";
import { longTests, readChecked, readTable, testsWithRounds } from "../../long-tests/tests.ts";

const table = readTable();
const tests = longTests();
const rounds = testsWithRounds();
const { seconds } = readChecked();
const closureOf = createClosure();
const select = (changed: readonly string[], turn = 0): readonly string[] =>
  selectTests(table, tests, { changed, turn, seconds }, closureOf);
/** Tests that a change can break: those that every turn has. */
const broken = (...changed: string[]): readonly string[] =>
  select(changed).filter((test) => [1, 2].every((turn) => select(changed, turn).includes(test)));

describe("the table of long tests", () => {
  it("has a row for each test that starts processes or reads data, and no other row", () => {
    const wanted = tests.filter((test) => !rounds.includes(test));
    expect(Object.keys(table.files).toSorted()).toEqual(wanted.toSorted());
    expect(Object.values(table.files).filter((row) => row.length === 0)).toEqual([]);
  });

  it("has paths that exist, and groups that a row uses", () => {
    const paths = [...table.quick, ...tests.flatMap((test) => pathsOf(table, test) ?? [])];
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
    const used = Object.values(table.files).flat();
    expect(Object.keys(table.groups).filter((name) => !used.includes(`@${name}`))).toEqual([]);
  });
});

describe("the long tests of a landing", () => {
  it("are a third of all, each in one of three turns, if no test covers the change", () => {
    const turns = [0, 1, 2].map((turn) => select(["docs/alerts.md", "CHANGELOG.md"], turn));
    const none = turns.map((some) => some.filter((test) => test !== "test/full/fuzz-configuration.test.ts"));
    expect(none.flat().toSorted()).toEqual(
      tests.filter((test) => test !== "test/full/fuzz-configuration.test.ts").toSorted(),
    );
    const times = none.map((some) => some.reduce((sum, test) => sum + (seconds[test] ?? 1), 0));
    const longest = Math.max(1, ...tests.map((test) => seconds[test] ?? 1));
    expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(longest);
    expect(select(["docs/alerts.md"], 3)).toEqual(select(["docs/alerts.md"], 0));
  });

  it("are those of the turn with any change, so that all have run after three landings", () => {
    for (const turn of [0, 1, 2])
      expect(select(["processors/ledger/closing/close.ts"], turn)).toEqual(
        expect.arrayContaining([...select(["CHANGELOG.md"], turn)]),
      );
  });

  it("are all if a path has changed that no test covers", () => {
    for (const path of [
      "package-lock.json",
      "vitest.config.ts",
      "runtime/clock.ts",
      "test/support/kafka/new.xml",
      "new/a.ts",
    ])
      expect([path, select(["docs/alerts.md", path])]).toEqual([path, tests]);
  });

  it("are those whose row has the changed path, and those with rounds that import it", () => {
    expect(broken("processors/ledger/backup/tables.ts")).toEqual([
      "test/full/backup-command.test.ts",
      "test/full/backup.test.ts",
    ]);
    const ofPrices = broken("domain/price/rank.ts");
    expect(ofPrices).toEqual(
      expect.arrayContaining([
        "test/full/closing.test.ts",
        "test/full/ledger.test.ts",
        "test/full/scenarios.test.ts",
        "test/unit/domain/price/rank.test.ts",
      ]),
    );
    expect(ofPrices).not.toContain("test/full/chaos.test.ts");
    expect(broken("deploy/templates/collector.yaml")).toContain("test/full/chart.test.ts");
    expect(broken("runtime/bus/spool.ts")).toContain("test/full/chaos.test.ts");
  });

  it("are those that import a changed file of the tests' support, and the changed test itself", () => {
    expect(broken("test/support/remote-write-trial.ts")).toEqual(["test/full/remote-write.test.ts"]);
    expect(broken("test/full/sums.test.ts")).toEqual(["test/full/sums.test.ts"]);
    expect(broken("test/unit/domain/price/rank.test.ts")).toEqual(["test/unit/domain/price/rank.test.ts"]);
    expect(broken("test/unit/domain/price/book.test.ts")).toEqual([]);
  });
});

describe("the files that a test depends on", () => {
  it("are imports of values, late imports and built files, and no types", () => {
    const closure = closureOf("test/support/chaos.ts");
    expect(closure).toContain("services/system.ts");
    expect(closure).toContain("test/support/exporter-double.ts");
    expect(closureOf("cli/program.ts")).toContain("cli/up.ts");
    expect(closureOf("domain/scrape.ts")).toEqual(new Set(["domain/scrape.ts"]));
  });
});
