import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Charge } from "../../domain/charge/charge.ts";
import { readCharges } from "../../processors/ledger/charging/read-charges.ts";
import { chargeOnDemand } from "../../processors/ledger/charging/on-demand.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { groupLines } from "../../scenarios/bill.ts";
import { billOf } from "../../scenarios/lines.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario } from "../support/play-ledger.ts";

const FILE = "test/scenarios/spread-over-node.yaml";
const text = readFileSync(FILE, "utf8");
/** The same scenario with its costs spread over the whole period. */
const overPeriod = text.replaceAll(/spread: \{/g, "spread: { window: period,");

const words = (charges: readonly Charge[]): readonly string[] =>
  groupLines(billOf(charges.map((charge) => ({ ...charge, billingPeriod: 0, corrects: "" }))).lines, [
    "team",
    "state",
    "because",
    "node",
    "gpu",
    "unpriced",
  ]).map(({ dimensions, gpuHours, cost }) => `${Object.values(dimensions).join("|")} ${gpuHours} ${cost}`);

describe("a policy's bill on demand", () => {
  let store: StoreClient;

  it.each([
    ["over each hour", text],
    ["over the period", overPeriod],
  ])("equals the stored one, spread %s, with progress to the last hour", async (name, scenarioText) => {
    store = await createTestDatabase(name.replaceAll(" ", "_"));
    try {
      const scenario = readScenario(scenarioText, FILE);
      await playScenario(store, scenario);
      const rules = rulesOf(scenario);
      const span = { from: scenario.period.start, until: scenario.period.end };
      expect(rules.policies.some(({ payers }) => Object.values(payers).includes("spread"))).toBe(true);
      for (const policy of rules.policies) {
        const charges: Charge[] = [];
        let [done, of] = [0, 1];
        for await (const part of chargeOnDemand(store, [{ rules, policy }], span)) {
          expect(part.breaches).toEqual([]);
          charges.push(...part.charges[0]!);
          ({ done, of } = part);
        }
        expect(words(charges)).toEqual(words(await readCharges(store, policy, span)));
        expect(done).toBe(of);
      }
    } finally {
      await store.close();
    }
  });
});
