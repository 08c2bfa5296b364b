import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { differences } from "../../scenarios/expectation.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import { billWords, playAs, scenarioFiles } from "../support/play-ledger.ts";
import { billScenario } from "../support/reference/bill.ts";
import { randomScenario } from "../support/reference/random-scenario.ts";
import { referenceWords, usageWords } from "../support/usage-words.ts";

/** One of each few; the long tests play all of them, and more fleets. */
const FILES = [
  "by-usage",
  "gang-waits",
  "in-common",
  "layout-changes",
  "process-activity",
  "spread-over-node",
  "xid-returns",
];
const scenarios = scenarioFiles().filter(({ file }) => FILES.includes(file.replace(".yaml", "")));

describe("the ledger's way through the store", () => {
  let embedded: TestStore;
  let store: StoreClient;
  let fleets = 0;

  beforeAll(async () => {
    embedded = await startTestStore();
    store = await createTestDatabase(embedded, "ledger");
  });
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });

  it.concurrent.each(scenarios.map(({ scenario, file }) => [scenario.title, file, scenario] as const))(
    "gives the usage of the plain definition and the bill that is written: %s (%s)",
    async (_, file, scenario) => {
      const { usage, bills, breaches } = await playAs(store, file, scenario);
      expect(usageWords(usage)).toEqual(referenceWords(scenario));
      expect(differences(scenario, bills)).toEqual([]);
      expect(breaches).toEqual([]);
    },
  );

  it("gives the plain reference's usage and bills of random fleets", async () => {
    await fc.assert(
      fc.asyncProperty(randomScenario, async (scenario) => {
        const { usage, bills, breaches } = await playAs(store, `fleet-${(fleets += 1)}`, scenario);
        expect(usageWords(usage)).toEqual(referenceWords(scenario));
        expect(billWords(bills)).toEqual(billWords(billScenario(scenario)));
        expect(breaches).toEqual([]);
      }),
      { numRuns: 4, endOnFailure: true },
    );
  });
});
