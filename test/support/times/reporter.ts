import type { Reporter, TestModule } from "vitest/node";

/** A file that takes less is not in the table. */
const LEAST_SECONDS = 10;
/** The longest table. The quick tests have hundreds of files. */
const MOST_ROWS = 60;

/** Prints a table at the end of a run: wall and CPU time of each long test file, and the time in which the file only waits. */
export default class TimesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules
      .flatMap((module) => {
        const { times } = module.meta();
        return times === undefined ? [] : [{ file: module.relativeModuleId, project: module.project.name, ...times }];
      })
      .filter(({ wall }) => wall >= LEAST_SECONDS)
      .toSorted((one, other) => other.wall - one.wall)
      .slice(0, MOST_ROWS);
    if (rows.length === 0) return;
    const lines = rows.map(({ file, project, wall, worker, children }) =>
      [
        ...[wall, worker, children, Math.max(0, wall - worker - children)].map((each) => each.toFixed(1).padStart(9)),
        ` ${project} ${file}`,
      ].join(""),
    );
    process.stdout.write(`\n     wall   worker children    waits  seconds of test files\n${lines.join("\n")}\n`);
  }
}
