import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { differences } from "../../scenarios/expectation.ts";
import { readScenario } from "../../scenarios/read.ts";
import { createTestDatabase } from "../support/database.ts";
import { playAs } from "../support/play-ledger.ts";

const FOLDER = "test/scenarios/serving";

describe("the cost of serving in scenarios worked by hand", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("serving_scenarios");
  });
  afterAll(() => store.close());

  test.concurrent.each(readdirSync(FOLDER))("%s", async (file) => {
    const scenario = readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), file);
    const { bills, breaches } = await playAs(store, file, scenario, { chargedTwice: 1 });
    expect(breaches).toEqual([]);
    expect(differences(scenario, bills)).toEqual([]);
  });
});
