import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MILLIS, hourOf } from "../../processors/rollup/window.ts";
import { exportFocus } from "../../reports/focus/export.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { SETTING } from "../support/focus-parts.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { playAs, scenarioFiles } from "../support/play-ledger.ts";

const WEEK_MILLIS = 7 * 24 * HOUR_MILLIS;

describe("every scenario of a week at most, as FOCUS", () => {
  let embedded: TestStore;
  let store: StoreClient;
  beforeAll(async () => {
    embedded = await startTestStore();
    store = await createTestDatabase(embedded, "focus");
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  // A month takes minutes to play, and its days are like those of a week.
  const isShort = ({ start, end }: { readonly start: number; readonly end: number }): boolean =>
    end - start <= WEEK_MILLIS;
  const files = scenarioFiles().filter(({ isOfClusters, scenario }) => !isOfClusters && isShort(scenario.period));
  it.each(files)("keeps every rule of the check, under each policy: $file", async ({ file, scenario }) => {
    const { bills } = await playAs(store, file, scenario);
    const { start, end } = scenario.period;
    const span = { name: file, from: hourOf(start), until: hourOf(end + HOUR_MILLIS - 1) };
    const where = [{ dimension: "cluster", values: [file] }];
    for (const policy of bills.keys()) {
      const question = { policy, kind: "showback", span, where } as const;
      const made = await exportFocus(store, question, { ...SETTING, policy }, { format: "csv", isChecked: true });
      for await (const _ of made.bytes) void _;
      expect(made.manifest()).toMatchObject({ check: { isPassed: true } });
    }
  });
});
