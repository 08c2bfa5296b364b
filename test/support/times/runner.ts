import { readFileSync } from "node:fs";
import { TestRunner } from "vitest";
import type { RunnerTestFile, RunnerTestSuite } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** The times of a test file. */
    times?: FileTimes;
  }
}

/** The times of a test file in seconds, from its load to its last hook. */
export interface FileTimes {
  readonly wall: number;
  /** CPU time of the worker. */
  readonly worker: number;
  /** CPU time of the processes that the worker has started and that have ended. Zero where `/proc` is missing. */
  readonly children: number;
}

/** The ticks of a second in `/proc`: Linux has 100 on every platform that Node supports. */
const TICKS = 100;

/** Vitest's runner. It measures each file, for the table of {@link import("./reporter.ts")}. */
export default class TimesRunner extends TestRunner {
  private begun: FileTimes = now();

  override onCollectStart(file: RunnerTestFile): void {
    this.begun = now();
    super.onCollectStart(file);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (suite === suite.file) {
      const { wall, worker, children } = now();
      const { begun } = this;
      suite.meta.times = {
        wall: wall - begun.wall,
        worker: worker - begun.worker,
        children: children - begun.children,
      };
    }
    await super.onAfterRunSuite(suite);
  }
}

function now(): FileTimes {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now() / 1e3, worker: (user + system) / 1e6, children: childSeconds() };
}

/** Returns the CPU seconds of ended children: the fields `cutime` and `cstime` of proc(5). */
function childSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // The second field is the name of the program, which may have spaces. `cutime` is the 16th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / TICKS;
  } catch {
    return 0;
  }
}
