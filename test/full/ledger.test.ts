import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { differences } from "../../scenarios/expectation.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { badDay, type Delivery } from "../support/deliver.ts";
import type { PlacedMessage } from "../support/play.ts";
import { createTestDatabase } from "../support/pipeline.ts";
import {
  billWords,
  playAs,
  playScenario,
  scenarioFiles,
  type Played,
  type ScenarioFile,
} from "../support/play-ledger.ts";
import { billScenario } from "../support/reference/bill.ts";
import { randomScenario } from "../support/reference/random-scenario.ts";
import { referenceWords, usageWords } from "../support/usage-words.ts";

/** Of each of two rounds that run beside each other; the same fleets every time, others with another seed. */
const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 60);
const SEED = Number(process.env["PROPERTY_SEED"] ?? 20_260_301);

describe("the ledger's way through the store, at length", () => {
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

  async function play({ file, scenario, isOfClusters }: ScenarioFile): Promise<Played> {
    if (!isOfClusters) return playAs(store, file, scenario);
    const own = await createTestDatabase(embedded, file.replace(/\W/g, "_"));
    try {
      return await playScenario(own, scenario);
    } finally {
      await own.close();
    }
  }

  it.concurrent.each(scenarioFiles().map((one) => [one.scenario.title, one.file, one] as const))(
    "gives the usage of the plain definition and the bill that is written: %s (%s)",
    async (_, __, one) => {
      const { usage, bills, breaches } = await play(one);
      expect(usageWords(usage)).toEqual(referenceWords(one.scenario));
      expect(differences(one.scenario, bills)).toEqual([]);
      expect(breaches).toEqual([]);
    },
  );

  it.concurrent.each([1, 2])(
    "gives the plain reference's usage and bills of random fleets, round %i",
    async (round) => {
      await fc.assert(
        fc.asyncProperty(randomScenario, async (scenario) => {
          const { usage, bills, breaches } = await playAs(store, `fleet-${(fleets += 1)}`, scenario);
          expect(usageWords(usage)).toEqual(referenceWords(scenario));
          expect(billWords(bills)).toEqual(billWords(billScenario(scenario)));
          expect(breaches).toEqual([]);
        }),
        { numRuns: RUNS, seed: SEED + round, endOnFailure: true },
      );
    },
  );

  it("gives the same of random fleets in whatever order, portions and how often it arrives, and however late", async () => {
    await fc.assert(
      fc.asyncProperty(randomScenario, fc.gen(), async (scenario, pick) => {
        const deliver = (messages: readonly PlacedMessage[]): Delivery => badDay(messages, pick);
        const { usage, bills, breaches } = await playAs(store, `bad-${(fleets += 1)}`, scenario, { deliver });
        expect(usageWords(usage)).toEqual(referenceWords(scenario));
        expect(billWords(bills)).toEqual(billWords(billScenario(scenario)));
        expect(breaches).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 4), seed: SEED, endOnFailure: true },
    );
  });
});
