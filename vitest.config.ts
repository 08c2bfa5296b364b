import { defineConfig } from "vitest/config";

/** Three sizes of tests: unit (no server), integration (real parts, quick), full (chaos, soak, whole system). */
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"], testTimeout: 30_000 } },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: "full",
          include: ["test/full/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          testTimeout: 1_200_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
