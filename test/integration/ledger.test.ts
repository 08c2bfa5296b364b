import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageHour } from "../../domain/allocation/usage-hour.ts";
import { chargeWindow } from "../../processors/charges.ts";
import { readCharges } from "../../processors/charges/read-charges.ts";
import { knownDates } from "../../processors/ledger/plan/known-dates.ts";
import { meterWindow } from "../../processors/meter.ts";
import { readUsage } from "../../processors/meter/usage-rows.ts";
import { HOUR_MILLIS, hourOf } from "../../processors/rollup/window.ts";
import { newRunId } from "../../processors/runs.ts";
import type { Bill } from "../../scenarios/bill.ts";
import { differences } from "../../scenarios/expectation.ts";
import { billOf } from "../../scenarios/lines.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { storeScenario } from "../support/play.ts";
import { referenceWords, usageWords } from "../support/usage-words.ts";

const FOLDER = "test/scenarios";
/** Those of days; the months are played in the long tests. */
const scenarios = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => ({ file, scenario: readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), file) }))
  .filter(({ scenario: { period } }) => period.end - period.start < 72 * HOUR_MILLIS);

describe("the ledger", () => {
  let embedded: TestStore;
  let count = 0;

  beforeAll(async () => {
    embedded = await startTestStore();
  });
  afterAll(() => embedded.stop());

  async function play(
    scenario: Scenario,
  ): Promise<{ readonly usage: readonly UsageHour[]; readonly bills: ReadonlyMap<string, Bill> }> {
    const store = await createTestDatabase(embedded, `ledger_${(count += 1)}`);
    const usage: UsageHour[] = [];
    try {
      await storeScenario(store, scenario);
      const rules = rulesOf(scenario);
      const { start, end } = scenario.period;
      for (const cluster of new Set(scenario.nodes.map((node) => node.cluster))) {
        for (let windowStart = hourOf(start); windowStart < end; windowStart += HOUR_MILLIS) {
          const run = { cluster, windowStart, generation: 1, watermark: new Map(), publishedAt: end };
          const dates = knownDates(rules.book, rules.owners.changes);
          await meterWindow(store, { ...run, runId: newRunId() }, { dates });
          const { breaches } = await chargeWindow(store, { ...run, runId: newRunId() }, rules);
          expect(breaches).toEqual([]);
        }
        for await (const rows of readUsage(store, cluster, { from: hourOf(start), until: end })) usage.push(...rows);
      }
      const found = new Map<string, Bill>();
      for (const policy of rules.policies)
        found.set(policy.name, billOf(await readCharges(store, policy, { from: hourOf(start), until: end })));
      return { usage, bills: found };
    } finally {
      await store.close();
    }
  }

  it.each(scenarios.map(({ file, scenario }) => [scenario.title, file, scenario] as const))(
    "%s (%s)",
    async (_, __, scenario) => {
      const { usage, bills } = await play(scenario);
      expect(usageWords(usage)).toEqual(referenceWords(scenario));
      expect(differences(scenario, bills)).toEqual([]);
    },
  );
});
