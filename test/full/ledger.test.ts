import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPeriod } from "../../domain/period.ts";
import { exportFocus } from "../../reports/focus/export.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Bill } from "../../scenarios/bill.ts";
import { differences } from "../../scenarios/expectation.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { badDay, type Delivery } from "../support/deliver.ts";
import { SETTING } from "../support/focus-parts.ts";
import type { PlacedMessage } from "../support/play.ts";
import { createTestDatabase } from "../support/database.ts";
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
import { HOUR_MILLIS } from "../../domain/time.ts";

/** Of a longer scenario only the beginning is played: the unit tests compare the whole bill with the reference. */
const LONGEST_MILLIS = 24 * HOUR_MILLIS;
/** The number of fleets in each of two rounds that run side by side; the same fleets every time, others with another seed. */
const RUNS = Number(process.env["FLEETS"] ?? 8);
/** One hour of each fleet is charged again from its stored rows, with the same result. */
const TWICE = { chargedTwice: 1 };
const SEED = Number(process.env["FLEETS_SEED"] ?? 20_260_301);

describe("the ledger with the store, at length", () => {
  let store: StoreClient;
  let fleets = 0;

  beforeAll(async () => {
    store = await createTestDatabase("ledger_at_length");
  });
  afterAll(async () => {
    await store.close();
  });

  async function play({ file, scenario, isOfClusters }: ScenarioFile): Promise<Played> {
    if (!isOfClusters) return playAs(store, file, scenario, TWICE);
    const own = await createTestDatabase(file.replace(/\W/g, "_"));
    try {
      return await playScenario(own, scenario, TWICE);
    } finally {
      await own.close();
    }
  }

  /** The lines of bills that the plain reference does not have, and its lines that the bills lack. */
  function unlikeReference(scenario: Scenario, bills: ReadonlyMap<string, Bill>): readonly string[] {
    const [found, wanted] = [billWords(bills), billWords(billScenario(scenario))];
    return [...found.filter((line) => !wanted.includes(line)), ...wanted.filter((line) => !found.includes(line))];
  }

  it.concurrent.each(scenarioFiles().map((one) => [one.scenario.title, one.file, one] as const))(
    "gives the usage of the plain definition and the written bill: %s (%s)",
    async (_, __, one) => {
      const { start, end } = one.scenario.period;
      const isCut = end - start > LONGEST_MILLIS;
      const scenario = isCut ? { ...one.scenario, period: { start, end: start + LONGEST_MILLIS } } : one.scenario;
      const { usage, bills, breaches } = await play({ ...one, scenario });
      expect(usageWords(usage)).toEqual(referenceWords(scenario));
      const unlike = isCut ? unlikeReference(scenario, bills) : differences(scenario, bills);
      expect(unlike).toEqual([]);
      expect(breaches).toEqual([]);
    },
  );

  it("gives FOCUS files that keep the rules, for the charges of all these, under each policy and month", async () => {
    const booked = await store.query<{ policy: string; month: string }>(
      "SELECT DISTINCT policy, formatDateTime(from_at, '%Y-%m') AS month FROM charges_published",
    );
    expect(booked.length).toBeGreaterThan(10);
    for (const { policy, month } of booked) {
      const question = { policy, kind: "showback", span: readPeriod(month)!, where: [] } as const;
      const made = await exportFocus(store, question, { ...SETTING, policy }, { format: "csv", isChecked: true });
      for await (const _ of made.bytes) void _;
      expect(made.manifest()).toMatchObject({ check: { isPassed: true } });
    }
  });

  it.concurrent.each([1, 2])(
    "gives the plain reference's usage and bills of random fleets, round %i",
    async (round) => {
      await fc.assert(
        fc.asyncProperty(randomScenario, async (scenario) => {
          const { usage, bills, breaches } = await playAs(store, `fleet-${(fleets += 1)}`, scenario, TWICE);
          expect(usageWords(usage)).toEqual(referenceWords(scenario));
          expect(billWords(bills)).toEqual(billWords(billScenario(scenario)));
          expect(breaches).toEqual([]);
        }),
        { numRuns: RUNS, seed: SEED + round, endOnFailure: true },
      );
    },
  );

  it("gives the same for random fleets with any order, portions, repetitions and delays of the messages", async () => {
    await fc.assert(
      fc.asyncProperty(randomScenario, fc.gen(), async (scenario, pick) => {
        const deliver = (messages: readonly PlacedMessage[]): Delivery => badDay(messages, pick);
        const { usage, bills, breaches } = await playAs(store, `bad-${(fleets += 1)}`, scenario, { deliver, ...TWICE });
        expect(usageWords(usage)).toEqual(referenceWords(scenario));
        expect(billWords(bills)).toEqual(billWords(billScenario(scenario)));
        expect(breaches).toEqual([]);
      }),
      { numRuns: Math.ceil(RUNS / 4), seed: SEED, endOnFailure: true },
    );
  });
});
