import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { differences } from "../../scenarios/expectation.ts";
import { readScenario } from "../../scenarios/read.ts";
import { createTestDatabase } from "../support/database.ts";
import { playTogether, type Played } from "../support/play-ledger.ts";

const FOLDER = "test/scenarios/serving";
const scenarios = Object.fromEntries(
  readdirSync(FOLDER).map((file) => [file, readScenario(readFileSync(`${FOLDER}/${file}`, "utf8"), file)]),
);

describe("the cost of serving in scenarios worked by hand", () => {
  let store: StoreClient;
  let played: ReadonlyMap<string, Played>;
  beforeAll(async () => {
    store = await createTestDatabase("serving_scenarios");
    played = await playTogether(store, scenarios, { chargedTwice: 1 });
  });
  afterAll(() => store.close());

  test.each(Object.keys(scenarios))("%s", (file) => {
    const { bills, breaches } = played.get(file)!;
    expect(breaches).toEqual([]);
    expect(differences(scenarios[file]!, bills)).toEqual([]);
  });
});
