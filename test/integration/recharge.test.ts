import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { RechargeThreads } from "../../services/recharge.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { readCharges } from "../../processors/ledger/charging/read-charges.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { staleCharges, type StaleWindow } from "../../processors/ledger/hours/stale-hours.ts";
import { createRecharge } from "../../processors/ledger/term/recharge.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import type { StoreAddress } from "../../runtime/store/connection.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioFiles } from "../support/play-ledger.ts";
import { storeScenario } from "../support/play.ts";
import { slicesOf } from "../../runtime/in-turns.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";

const DATABASE = "recharge";
const { scenario } = scenarioFiles().find(({ file }) => file === "by-usage.yaml")!;
const span = { from: scenario.period.start, until: scenario.period.end };
const ALL = { from: -Infinity, openSince: -Infinity };

/** Threads run the built code. */
const { createRechargeThreads } = (await import(new URL("../../dist/services/recharge.js", import.meta.url).href)) as {
  createRechargeThreads(config: Config, address: StoreAddress): RechargeThreads;
};

function priced(effective: string): Config {
  const text = `
owners: { team: [{ namespaceLabel: team }, { podLabel: team }] }
prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "${effective}" }]`;
  return parseConfig(text, { source: "the test", folder: ".", env: {} });
}

describe("hours that are charged again", () => {
  const embedded = sharedStore();
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase(DATABASE);
    await storeScenario(store, scenario);
    const { rules } = rulesOfConfig(priced("1.00"));
    const turn = { generation: 1, facts: new Map(), now: span.until, closed: NOTHING_CLOSED };
    for (let windowStart = span.from; windowStart < span.until; windowStart += HOUR_MILLIS) {
      const weights = createFrozenWeights(store);
      await computeLedger(store, { cluster: scenario.nodes[0]!.cluster, windowStart }, rules, { ...turn, weights });
    }
  });
  afterAll(async () => {
    await store.close();
  });

  const stale = (config: Config): Promise<readonly StaleWindow[]> =>
    staleCharges(store, rulesOfConfig(config).rules, ALL);
  const threadsOf = (config: Config, database = DATABASE): RechargeThreads => {
    const threads = createRechargeThreads(config, { url: embedded.url, ...embedded.user, database });
    onTestFinished(() => threads.stop());
    return threads;
  };
  async function lines(config: Config): Promise<readonly string[]> {
    const charges = await readCharges(store, rulesOfConfig(config).policies[0], span);
    return charges
      .map((charge) => JSON.stringify(charge, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)))
      .toSorted();
  }

  it("have the same result in threads and in step as one by one, line by line, and are no longer stale", async () => {
    const config = priced("3.07");
    const old = await stale(config);
    expect(old.length).toBeGreaterThan(1);
    const before = await lines(config);
    const own = createRecharge(store, rulesOfConfig(config).rules);
    const turn = { now: span.until, closed: NOTHING_CLOSED };
    for (const window of old) await own.charge([window], { ...turn, generation: 2 });
    const wanted = await lines(config);
    expect(wanted).not.toEqual(before);

    const dearer = priced("4.00");
    await createRecharge(store, rulesOfConfig(dearer).rules).charge(await stale(dearer), { ...turn, generation: 3 });
    expect(await lines(config)).not.toEqual(wanted);
    const threads = threadsOf(config);
    const again = await stale(config);
    expect(again.length).toBe(old.length);
    const portions = await Promise.all(
      slicesOf(again, Math.ceil(again.length / 2)).map((some) => threads.charge(some, { ...turn, generation: 4 })),
    );
    const made = portions.flat();
    expect(made).toHaveLength(again.length);
    for (const outcome of made)
      expect(outcome).toMatchObject({ status: "fulfilled", value: { kind: "charge", breaches: [] } });
    expect(await stale(config)).toEqual([]);
    expect(await lines(config)).toEqual(wanted);
  });

  it("fail with the store's error", async () => {
    const [window] = await stale(priced("5.00"));
    const turn = { generation: 5, now: span.until, closed: NOTHING_CLOSED };
    const threads = threadsOf(priced("5.00"), "nowhere");
    const [outcome] = await threads.charge([window!], turn);
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("Database nowhere does not exist") as string },
    });
  });
});
