import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Real parts that are killed, or whose times are looked at: they run when nothing else does. */
const ALONE = ["bus-*", "chaos-short", "cli", "election", "leadership", "tracing"].map(
  (name) => `test/integration/${name}.test.ts`,
);
/** Long tests that compute, or wait for what is no matter of a second: two at a time. */
const LONG_BESIDE = [
  "alerts-day",
  "alerts-end-to-end",
  "alerts-two-processors",
  "backup",
  "backup-command",
  "chart",
  "chart-pods",
  "closing",
  "closing-spread",
  "dashboards",
  "dashboards-live",
  "fixtures",
  "focus-export",
  "ledger",
  "pages",
  "scenarios",
  "stack",
  "sums",
  "upgrades",
].map((name) => `test/full/${name}.test.ts`);
/** The longest of those that run beside others: what begins last and is long leaves one of two cores idle at the end. */
const LONGEST = ["full/ledger", "full/stack", "full/alerts-day", "alerts/catalog"].map((name) => `/${name}.test.ts`);

/** The longest first; else as Vitest has them, large files first where it knows no durations. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Both cores of the smallest machine that is promised to run them; by itself Vitest leaves one of them idle. */
const BESIDE_EACH_OTHER = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const REAL_PARTS = { globalSetup: ["test/support/global-setup.ts"], hookTimeout: 120_000 };

/** Sizes of tests: unit (no server), integration (real parts, quick), full (chaos, soak, whole system), mutation (with full), week and soak (by hand). */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...BESIDE_EACH_OTHER,
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          ...REAL_PARTS,
          ...BESIDE_EACH_OTHER,
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          exclude: ALONE,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          ...REAL_PARTS,
          name: "alone",
          include: ALONE,
          testTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...REAL_PARTS,
          name: "full",
          include: LONG_BESIDE,
          testTimeout: 1_200_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...REAL_PARTS,
          name: "full-alone",
          include: ["test/full/**/*.test.ts"],
          exclude: LONG_BESIDE,
          testTimeout: 1_200_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: "mutation",
          include: ["test/mutation/**/*.test.ts"],
          testTimeout: 7_200_000,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          ...REAL_PARTS,
          name: "soak",
          include: ["test/soak/**/*.test.ts"],
          testTimeout: 7_200_000,
          sequence: { groupOrder: 6 },
        },
      },
      {
        test: {
          name: "week",
          include: ["test/week/**/*.test.ts"],
          testTimeout: 7_200_000,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
