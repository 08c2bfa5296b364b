import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createMonth } from "../../processors/ledger/charging/month.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { chargeAgain, computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import { staleCharges } from "../../processors/ledger/hours/stale-hours.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { findUnowned } from "../../reports/read/unowned.ts";
import { differences } from "../../scenarios/expectation.ts";
import { badDay, type Delivery } from "../support/deliver.ts";
import { inventoryFact, NOON } from "../support/facts.ts";
import { insertInventory } from "../support/insert-facts.ts";
import { storeScenario, type PlacedMessage } from "../support/play.ts";
import { createTestDatabase } from "../support/database.ts";
import { billWords, playAs, playScenario, scenarioFiles } from "../support/play-ledger.ts";
import { billScenario } from "../support/reference/bill.ts";
import { randomScenario } from "../support/reference/random-scenario.ts";
import { referenceWords, usageWords } from "../support/usage-words.ts";

/** One file of each few. The long tests play all files, and more fleets. */
const FILES = ["in-common", "process-activity", "xid-returns"];
const scenarios = scenarioFiles().filter(({ file }) => FILES.includes(file.replace(".yaml", "")));

describe("the ledger with the store", () => {
  let store: StoreClient;
  let fleets = 0;

  beforeAll(async () => {
    store = await createTestDatabase("ledger");
  });
  afterAll(async () => {
    await store.close();
  });

  it.concurrent.each(scenarios.map(({ scenario, file }) => [scenario.title, file, scenario] as const))(
    "gives the usage of the plain definition and the written bill: %s (%s)",
    async (_, file, scenario) => {
      const { usage, bills, breaches } = await playAs(store, file, scenario, { chargedTwice: 2 });
      expect(usageWords(usage)).toEqual(referenceWords(scenario));
      expect(differences(scenario, bills)).toEqual([]);
      expect(breaches).toEqual([]);
    },
  );

  it("ends a slot without Kubernetes after a time without a sample, at the end of its last sample", async () => {
    const text = `title: a silent machine
period: { start: 2026-03-02T00:00:00Z, end: 2026-03-02T02:00:00Z }
scrapeInterval: 1m
nodes:
  - name: slurm-1
    model: NVIDIA-L4
    gpus: 1
    telemetryGaps: [{ from: 2026-03-02T00:10:00Z, until: 2026-03-02T01:30:00Z }]
pods:
  - { name: "4711", namespace: slurm, node: slurm-1, holds: { gpus: 1 }, devices: [0], hpcJob: "4711", activity: 1 }`;
    const scenario = readScenario(text, "silent");
    const minutes = async (absentAfterMillis: number): Promise<number> => {
      const own = await createTestDatabase(`silent_${absentAfterMillis}`);
      try {
        const { usage } = await playScenario(own, scenario, { absentAfterMillis });
        return usage.reduce((sum, { segment }) => sum + segment.untilMillis - segment.fromMillis, 0) / 60_000;
      } finally {
        await own.close();
      }
    };
    expect(await minutes(86_400_000)).toBe(120);
    // The sample of 00:09 counts until 00:11:30; the machine is back from 01:30 on.
    expect(await minutes(3_600_000)).toBe(11.5 + 30);
  });

  it("stores no amount and no sum in a floating-point column", async () => {
    const columns = await store.query<{ table: string; name: string; type: string }>(
      "SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND table IN ('usage_hours', 'charges', 'statements', 'closings')",
    );
    expect(columns.length).toBeGreaterThan(60);
    expect(columns.filter(({ type }) => type.includes("Float"))).toEqual([]);
    const ofCharges = columns.filter(({ table, name }) => table === "charges" && name.endsWith("_cost"));
    expect(ofCharges.map(({ type }) => type)).toEqual(Array(4).fill("Nullable(Decimal(38, 9))"));
    const frozen = columns.filter(({ table, name }) => table !== "charges" && /_cost$|^posted$/.test(name));
    expect(frozen.map(({ type }) => type)).toEqual(Array(13).fill("Decimal(38, 9)"));
  });

  it.each(["the store", "a rule"])("meters an hour if %s prevents the charges, which follow later", async (cause) => {
    const { scenario } = scenarioFiles().find(({ file }) => file === "by-usage.yaml")!;
    const own = await createTestDatabase(`charged_later_${cause.replace(" ", "_")}`);
    try {
      await storeScenario(own, scenario);
      const { start: windowStart, end: now } = scenario.period;
      const rules = ledgerRules(rulesOf(scenario), "");
      const turn = { facts: new Map(), now, closed: NOTHING_CLOSED, weights: createFrozenWeights(own) };
      const refused = new StoreError("overloaded", "too much at once", { retriable: true });
      const full: StoreClient = {
        ...own,
        insertRows: (table, ...rest) =>
          table === "charges" ? Promise.reject(refused) : own.insertRows(table, ...rest),
      };
      const owners = new Proxy(rules.charge.owners, {
        get: () => {
          throw refused;
        },
      });
      const [asked, by] = cause === "a rule" ? [own, { ...rules, charge: { ...rules.charge, owners } }] : [full, rules];
      const window = { cluster: scenario.nodes[0]!.cluster, windowStart };
      const outcome = await computeLedger(asked, window, by, { ...turn, generation: 1 }).catch(
        (error: unknown) => error,
      );
      // Of a single node, nothing is left that could be charged without it.
      const breach = { policy: "", node: "gpu-a", slot: "", what: "charges", expected: "computed" };
      const failed = expect.objectContaining({
        chargeRows: 0,
        breaches: [{ ...breach, found: "too much at once" }],
      }) as unknown;
      expect(outcome).toEqual(cause === "a rule" ? failed : refused);
      const kinds = "SELECT kind, rows > 0 AS hasRows FROM runs WHERE kind != 'started' ORDER BY published_at";
      expect(await own.query(kinds)).toEqual([{ kind: "usage", hasRows: 1 }]);
      const [stale] = await staleCharges(own, rules, { from: 0, openSince: 0 });
      expect(stale).toMatchObject(window);
      expect((await chargeAgain(own, stale!, rules, { ...turn, generation: 2 })).chargeRows).toBeGreaterThan(0);
      expect(await staleCharges(own, rules, { from: 0, openSince: 0 })).toEqual([]);
    } finally {
      await own.close();
    }
  });

  it("fails with the first error if the store fails for several slices of nodes at once", async () => {
    const own = await createTestDatabase("slices_fail");
    try {
      const nodes = Array.from({ length: 1_100 }, (_, number) => `node-${number}`);
      const facts = nodes.map((node) => inventoryFact({ node, uid: node, joined: NOON - 3_600_000 }));
      await insertInventory(own, facts);
      const broken: StoreClient = {
        ...own,
        insertRows: async (table, ...rest) => {
          if (table !== "usage_hours") return own.insertRows(table, ...rest);
          await setTimeout(500);
          throw new StoreError("unavailable", "gone", { retriable: true });
        },
      };
      const rules = ledgerRules(rulesOf(scenarioFiles()[0]!.scenario), "");
      const turn = { generation: 1, facts: new Map(), now: NOON + 3_600_000, closed: NOTHING_CLOSED };
      const window = { cluster: facts[0]!.cluster, windowStart: NOON };
      const weights = createFrozenWeights(own);
      await expect(computeLedger(broken, window, rules, { ...turn, weights })).rejects.toThrow("gone");
      expect(await own.query("SELECT kind FROM runs WHERE kind != 'started'")).toEqual([]);
      expect((await computeLedger(own, window, rules, { ...turn, generation: 2, weights })).usageRows).toBe(8_800);
    } finally {
      await own.close();
    }
  });

  it("lists what other rules would leave without an owner; another price book charges the stored usage again, and the month follows", async () => {
    const { scenario } = scenarioFiles().find(({ file }) => file === "by-usage.yaml")!;
    const own = await createTestDatabase("prices_change");
    try {
      await playScenario(own, scenario);
      const now = scenario.period.end;
      const month = createMonth(own, "default");
      expect((await month.refresh(now)).total).toMatchObject({ cost: "2", gpuHours: "2" });

      const week = { policy: "default", from: scenario.period.start, until: now };
      expect((await findUnowned(own, rulesOf(scenario).owners, week)).workloads).toEqual([]);
      const { owners: strict } = rulesOf({ ...scenario, register: ["nlp"] });
      expect(await findUnowned(own, strict, week)).toEqual({
        workloads: [
          {
            namespace: "vision",
            workloadKind: "Pod",
            workload: "v-0",
            pods: 1,
            gpuHours: "2",
            cost: "2",
            refused: ["vision"],
          },
        ],
        unownedCost: "2",
        heldCost: "2",
      });

      const prices = [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }];
      const rules = ledgerRules(rulesOf({ ...scenario, prices }), "three");
      const stale = await staleCharges(own, rules, { from: 0, openSince: 0 });
      expect(stale.length).toBeGreaterThan(0);
      await own.command("TRUNCATE TABLE gpu_samples");
      for (const window of stale)
        expect(
          (
            await chargeAgain(own, window, rules, {
              generation: 1_000,
              now,
              closed: NOTHING_CLOSED,
              weights: createFrozenWeights(own),
            })
          ).breaches,
        ).toEqual([]);
      expect(await staleCharges(own, rules, { from: 0, openSince: 0 })).toEqual([]);
      expect((await month.refresh(now)).total).toMatchObject({ cost: "6", gpuHours: "2" });
    } finally {
      await own.close();
    }
  });

  it("gives the plain reference's usage and bills of a random fleet, for any order, portions, repetitions and delays of the messages", async () => {
    await fc.assert(
      fc.asyncProperty(randomScenario, fc.gen(), async (scenario, pick) => {
        const deliver = (messages: readonly PlacedMessage[]): Delivery => badDay(messages, pick);
        const { usage, bills, breaches } = await playAs(store, `bad-${(fleets += 1)}`, scenario, {
          deliver,
          chargedTwice: 2,
        });
        expect(usageWords(usage)).toEqual(referenceWords(scenario));
        expect(billWords(bills)).toEqual(billWords(billScenario(scenario)));
        expect(breaches).toEqual([]);
      }),
      { numRuns: 1, seed: 20_260_301, endOnFailure: true },
    );
  });
});
