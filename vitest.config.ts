import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that make a tenth of their rounds in the quick run, and all of them in the long one. */
const WITH_ROUNDS = ["unit", "integration"].flatMap((size) =>
  readdirSync(`test/${size}`, { recursive: true, encoding: "utf8" })
    .map((path) => join("test", size, path))
    .filter((path) => path.endsWith(".test.ts") && readFileSync(path, "utf8").includes(" rounds(")),
);
/** The longest test files. They start first, because a long file that starts last leaves a core idle at the end. */
const LONGEST = ["ledger", "ledger-killed", "stack", "up", "pages", "chaos", "dashboards-live"].map(
  (name) => `/full/${name}.test.ts`,
);

/** Sorts the longest files first. The other files keep Vitest's order. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** The cores of the smallest supported machine. Vitest's default uses one core less. */
const CORES = 2;
/** One more than cores: many of these tests wait for other processes. */
const WAITING = CORES + 1;
const LONG = { testTimeout: 1_200_000, maxWorkers: WAITING, sequence: { groupOrder: 2 } };
const PARTS = { globalSetup: ["test/support/install-parts.ts"] };
const REAL_PARTS = {
  globalSetup: ["test/support/install-parts.ts", "test/support/global-setup.ts"],
  hookTimeout: 600_000,
};

/**
 * Sizes of tests: unit (no server), quick (unit and integration, with real parts), rounds and full (all rounds of the former;
 * chaos, whole systems), mutation and alone (with full, one after the other), week and soak (by hand).
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
          maxWorkers: WAITING,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { ...REAL_PARTS, ...LONG, name: "rounds", include: WITH_ROUNDS, env: { ROUNDS_FACTOR: "1" } },
      },
      {
        extends: true,
        test: { ...REAL_PARTS, ...LONG, name: "full", include: ["test/full/**/*.test.ts"] },
      },
      {
        extends: true,
        test: {
          ...PARTS,
          name: "mutation",
          include: ["test/mutation/**/*.test.ts"],
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
          include: ["test/alone/**/*.test.ts"],
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
