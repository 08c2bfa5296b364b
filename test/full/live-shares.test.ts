import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { liveAndBooked } from "../support/live-shares.ts";
import { playAs, playTogether, scenarioFiles, type Played } from "../support/play-ledger.ts";

/** A pod whose instance was deleted under it: the page has the pod on another instance of the same number. */
const UNLIKE = "instance-number-again.yaml";
const files = scenarioFiles().filter(({ file, isOfClusters }) => !isOfClusters && file !== UNLIKE);

describe("the live series", () => {
  let store: StoreClient;
  let played: ReadonlyMap<string, Played>;
  beforeAll(async () => {
    store = await createTestDatabase("live_shares");
    played = await playTogether(store, Object.fromEntries(files.map(({ file, scenario }) => [file, scenario])));
  });
  afterAll(() => store.close());

  it("have another share where the planner knows better", async () => {
    const { scenario } = scenarioFiles().find(({ file }) => file === UNLIKE)!;
    const { usage } = await playAs(store, UNLIKE, scenario);
    const { live, booked } = await liveAndBooked(scenario, usage);
    expect(live).not.toEqual(booked);
  });

  it.each(files.map(({ file, scenario }) => [file, scenario] as const))(
    "have the ledger's shares of the GPUs that are seen: %s",
    async (file, scenario) => {
      const { live, booked } = await liveAndBooked(scenario, played.get(file)!.usage);
      expect(live).toEqual(booked);
    },
  );
});
