import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longTests, readChecked, selectedTests, testsWithRounds } from "./test/long-tests/tests.ts";

const { seconds } = readChecked();

/** Sorts the longest files first, because a long file that starts last leaves a core idle at the end. The other files keep Vitest's order. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const secondsOf = ({ moduleId }: TestSpecification): number => seconds[relative(".", moduleId)] ?? 0;
    return (await super.sort(files)).toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}

/** The long tests of this run: all of them, or with `LONG_TESTS=selected` those of this landing (CONTRIBUTING.md). */
const LONG_TESTS = process.env["LONG_TESTS"] === "selected" ? selectedTests() : longTests();
const WITH_ROUNDS = testsWithRounds();
const longTestsIn = (folder: string): string[] => LONG_TESTS.filter((test) => test.startsWith(folder));

/** The cores of the smallest supported machine. Vitest's default uses one core less. */
const CORES = 2;
/** More than cores, because many tests wait for other processes. Each worker loads all modules, which the quick tests do not win back with a fourth. */
const QUICK_WORKERS = CORES + 1;
const LONG = { testTimeout: 1_200_000, maxWorkers: CORES + 2, sequence: { groupOrder: 2 } };
const PARTS = { globalSetup: ["test/support/install-parts.ts"] };
const REAL_PARTS = {
  globalSetup: ["test/support/install-parts.ts", "test/support/global-setup.ts"],
  hookTimeout: 600_000,
};

/**
 * Sizes of tests: unit (no server), quick (unit and integration, with real parts), rounds and full (all rounds of the former;
 * chaos, whole systems), mutation and alone (with full, one after the other), week, soak and servers (by hand).
 */
export default defineConfig({
  test: {
    // A condition that is true within a second on a quiet machine can take many seconds beside other tests.
    expect: { poll: { timeout: 90_000 } },
    // Built files run unchanged.
    server: { deps: { external: [/\/dist\//] } },
    sequence: { sequencer: LongestFirst },
    // A worker loads each module once for all of its test files, and a later run takes what an earlier one has compiled.
    isolate: false,
    runner: "test/support/times/runner.ts",
    reporters: ["default", "test/support/times/reporter.ts"],
    experimental: { fsModuleCache: true },
    // The shared store's folder has some hundred databases.
    teardownTimeout: 60_000,
    // The timeouts end tests that hang. A test beside a busy core takes three times its usual time.
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: CORES,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...REAL_PARTS,
          name: "quick",
          include: ["test/unit/**/*.test.ts", "test/integration/**/*.test.ts", "test/security/**/*.test.ts"],
          testTimeout: 120_000,
          maxWorkers: QUICK_WORKERS,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...REAL_PARTS,
          ...LONG,
          name: "rounds",
          include: LONG_TESTS.filter((test) => WITH_ROUNDS.includes(test)),
          env: { ROUNDS_FACTOR: "1" },
        },
      },
      {
        extends: true,
        test: { ...REAL_PARTS, ...LONG, name: "full", include: longTestsIn("test/full/") },
      },
      {
        extends: true,
        test: {
          ...PARTS,
          name: "mutation",
          include: longTestsIn("test/mutation/"),
          testTimeout: 7_200_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          ...REAL_PARTS,
          // Measurements that other tests would disturb.
          name: "alone",
          include: longTestsIn("test/alone/"),
          fileParallelism: false,
          testTimeout: 600_000,
          sequence: { groupOrder: 6 },
        },
      },
      {
        extends: true,
        test: {
          ...PARTS,
          name: "week",
          include: ["test/week/**/*.test.ts"],
          testTimeout: 7_200_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        extends: true,
        test: {
          ...REAL_PARTS,
          // Programs that Go builds for minutes.
          name: "servers",
          include: ["test/servers/**/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 1_200_000,
          sequence: { groupOrder: 7 },
        },
      },
      {
        extends: true,
        test: {
          ...REAL_PARTS,
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          fileParallelism: false,
          testTimeout: 7_200_000,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
