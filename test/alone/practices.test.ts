import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WorkloadType } from "../../domain/workload.ts";
import { readPractices, readPracticeSpends } from "../../reports/read/practices.ts";
import { OPEN } from "../../reports/access/viewer.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { NOON } from "../support/facts.ts";
import { insertInventory, insertWorkloads } from "../support/insert-facts.ts";
import { endedPod, goodNode, goodPod } from "../support/practices.ts";

const NODES = 1_250;
const PODS = 10_000;
const ENDED = 5_000;
const TYPES: readonly WorkloadType[] = ["training", "inference", "notebook", "other"];

describe("the practices of 1,250 nodes, 10,000 pods and 5,000 that have ended", () => {
  let store: StoreClient;

  beforeAll(async () => {
    store = await createTestDatabase("practices_alone");
    await insertInventory(
      store,
      Array.from({ length: NODES }, (_, index) =>
        goodNode(`gpu-${index}`, { taints: [], driverVersion: "535.1", pool: `pool-${index % 40}` }),
      ),
    );
    await insertWorkloads(
      store,
      Array.from({ length: PODS }, (_, index) =>
        goodPod(`pod-${index}`, {
          namespace: `ns-${index % 200}`,
          node: `gpu-${index % NODES}`,
          type: TYPES[index % 4]!,
          workload: { kind: "Job", name: `job-${Math.floor(index / 4)}` },
          tolerations: ["*"],
          unpinnedImages: ["ml/trainer"],
          disruptionBudgets: [],
        }),
      ),
    );
    await insertWorkloads(
      store,
      Array.from({ length: ENDED }, (_, index) =>
        endedPod(`ended-${index}`, 60, 86_400, {
          namespace: `ns-${index % 200}`,
          workload: { kind: "CronJob", name: `nightly-${index % 1_000}` },
        }),
      ),
    );
  }, 120_000);
  afterAll(() => store.close());

  it("are read and checked in under 2 s", async () => {
    const parsed = parseConfig("", { source: "the test", folder: ".", env: {} });
    const { practices } = parsed;
    const ledger = ledgerOf(parsed);
    const of = { ledger, practices, viewer: OPEN, now: NOON };
    const run = async () => {
      const spends = await readPracticeSpends(store, ledger, OPEN, { now: NOON, days: practices.days });
      return readPractices(store, { ...of, spends });
    };
    const millis: number[] = [];
    for (let times = 0; times < 5; times++) {
      const from = performance.now();
      const findings = await run();
      millis.push(performance.now() - from);
      expect(findings.find(({ check }) => check === "gpu-node-without-taint")!.count).toBe(NODES);
      expect(findings.find(({ check }) => check === "tolerates-everything")!.count).toBe(PODS);
      const limits = findings.find(({ check }) => check === "time-limit-far-above-need");
      expect(limits!.count).toBe(1_000);
    }
    expect(Math.min(...millis)).toBeLessThan(2_000);
  }, 60_000);
});
