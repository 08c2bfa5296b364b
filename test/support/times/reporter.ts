import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from "vitest/node";
import { longTests, readChecked, RECORD, type Checked } from "../../long-tests/tests.ts";
import type { FileTimes } from "./runner.ts";

/** A file that takes less is not in the table. */
const LEAST_SECONDS = 10;
/** The projects of Vitest that long tests are in. */
const LONG_PROJECTS = ["rounds", "full", "mutation", "alone"];
/** The longest table. The quick tests have hundreds of files. */
const MOST_ROWS = 60;

interface MeasuredFile extends FileTimes {
  readonly file: string;
  readonly project: string;
}

/**
 * Prints a table at the end of a run: wall and CPU time of each long test file, and the time in which the file only waits. With
 * `LONG_TESTS=record`, writes the record of a passed run.
 */
export default class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], _: readonly SerializedError[], reason: TestRunEndReason): void {
    const files = modules.flatMap((module): MeasuredFile[] => {
      const { times } = module.meta();
      return times === undefined ? [] : [{ file: module.relativeModuleId, project: module.project.name, ...times }];
    });
    const rows = files.filter(({ wall }) => wall >= LEAST_SECONDS).toSorted((one, other) => other.wall - one.wall);
    if (rows.length > 0) process.stdout.write(tableOf(rows.slice(0, MOST_ROWS)));
    if (process.env["LONG_TESTS"] === "record" && reason === "passed") record(files);
  }
}

function tableOf(rows: readonly MeasuredFile[]): string {
  const lines = rows.map(({ file, project, wall, worker, children }) => {
    const waits = Math.max(0, wall - worker - children);
    const seconds = [wall, worker, children, waits].map((each) => each.toFixed(1).padStart(9));
    return `${seconds.join("")}  ${project} ${file}\n`;
  });
  return `\n     wall   worker children    waits  seconds of test files\n${lines.join("")}`;
}

/** Writes the seconds of a passed run into the record; and HEAD as the checked commit, if the run had all long tests and the files of HEAD. */
function record(files: readonly MeasuredFile[]): void {
  const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();
  const before = readChecked();
  const ran = new Set(files.filter(({ project }) => LONG_PROJECTS.includes(project)).map(({ file }) => file));
  const isChecked = longTests().every((test) => ran.has(test)) && git("status", "--porcelain") === "";
  const measured = files.filter(({ wall }) => wall >= LEAST_SECONDS).map(({ file, wall }) => [file, Math.round(wall)]);
  const seconds = { ...before.seconds, ...(Object.fromEntries(measured) as Checked["seconds"]) };
  const kept = Object.entries(seconds)
    .filter(([file]) => existsSync(file))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const checked: Checked = {
    commit: isChecked ? git("rev-parse", "HEAD") : before.commit,
    turn: before.turn,
    seconds: Object.fromEntries(kept),
  };
  writeFileSync(RECORD, `${JSON.stringify(checked, null, 2)}\n`);
  process.stdout.write(`${RECORD} has ${isChecked ? "this commit" : "new times, and the commit that it had"}\n`);
}
