// Makes the books of this version's fixture: scenarios with closings and later events, played by this release and backed
// up, and the statements of each of their months. fixtures.test.ts of test/full restores and verifies the books of every version.
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { create } from "tar";
import { withScenarioRunner } from "../dist/cli/scenario/run.js";
import { periodOf } from "../dist/domain/period.js";
import { writeBackup } from "../dist/processors/ledger/backup/write.js";
import { readStatements } from "../dist/reports/read/statements.js";
import { readScenario } from "../dist/scenarios/read.js";
import { rulesOf } from "../dist/scenarios/rules.js";

const SCENARIOS = "test/scenarios/closing";
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const out = join("test/fixtures/versions", version);
const path = mkdtempSync(join(tmpdir(), "gpu-ledger-books-"));

const books = await withScenarioRunner(async (runner) => {
  const made = [];
  for (const file of readdirSync(SCENARIOS)) {
    const folder = basename(file, ".yaml");
    const scenario = readScenario(readFileSync(join(SCENARIOS, file), "utf8"), file);
    const statements = await runner.play(scenario, async (store) => {
      await writeBackup(store, { folder: join(path, folder), version, now: Date.now });
      return statementsOf(store, scenario);
    });
    made.push({ folder, statements });
  }
  return made;
});
writeFileSync(join(out, "books.json"), `${JSON.stringify(books, null, 2)}\n`);
await pipeline(
  create({ cwd: path, gzip: { level: 9 }, portable: true }, ["."]),
  createWriteStream(join(out, "books.tar.gz")),
);
rmSync(path, { recursive: true });
process.exit(0);

/** Returns the statements of each month of a scenario, under each of its policies. */
async function statementsOf(store, scenario) {
  const months = [];
  for (let period = periodOf(scenario.period.start); period.from < scenario.period.end; period = periodOf(period.until))
    for (const { name: policy } of rulesOf(scenario).policies)
      months.push(await readStatements(store, { period, policy, where: [] }, scenario.currency));
  return months;
}
