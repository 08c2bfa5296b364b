import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { differences } from "../../scenarios/expectation.ts";
import { readScenario } from "../../scenarios/read.ts";
import { createTestDatabase } from "../support/database.ts";
import { playAs } from "../support/play-ledger.ts";

const FOLDER = "test/scenarios/reported";
const scenarios = readdirSync(FOLDER).map((file) => {
  const path = `${FOLDER}/${file}`;
  return { file, scenario: readScenario(readFileSync(path, "utf8"), path) };
});

describe("clusters that users have reported", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("reported");
  });
  afterAll(async () => {
    await store.close();
  });

  it.concurrent.each(scenarios.map(({ scenario, file }) => [scenario.title, file, scenario] as const))(
    "have the written bill: %s (%s)",
    async (_, file, scenario) => {
      const { bills, breaches } = await playAs(store, file, scenario);
      expect(Object.keys(scenario.expect).length).toBeGreaterThan(0);
      expect(differences(scenario, bills)).toEqual([]);
      expect(breaches).toEqual([]);
    },
  );
});
