import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatAmount } from "../../domain/exact/units.ts";
import { readPractices, readPracticeSpends } from "../../reports/read/practices.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { NOON } from "../support/facts.ts";
import { insertWorkloads } from "../support/insert-facts.ts";
import { scenarioWith } from "../support/played.ts";
import { endedPod, goodPod } from "../support/practices.ts";
import { FINANCE } from "../support/reports-server.ts";

const CONFIG = parseConfig(
  `prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "1.40" }]
policies: [{ name: default, migShare: compute }]`,
  { source: "the test", folder: ".", env: {} },
);
const DAY = 86_400;

/** A GPU of 1.40 with two instances for an hour. By compute slices each is 3/7 of it, and the rest of 1/7 is stranded: 0.20. */
const FLEET = scenarioWith({
  period: { start: "2026-03-01T10:00:00Z", end: "2026-03-01T11:00:00Z" },
  nodes: [{ name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 1, mig: { 0: ["3g.20gb", "3g.20gb"] } }],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1.40" }],
  policies: [{ name: "default", migShare: "compute" }],
});

describe("the records that practices read of a store", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("practice_records");
  });
  afterAll(() => store.close());

  const findings = async (check: string, now: number) => {
    const ledger = ledgerOf(CONFIG);
    const { practices } = CONFIG;
    const spends = await readPracticeSpends(store, ledger, FINANCE, { now, days: practices.days });
    const all = await readPractices(store, { ledger, practices, viewer: FINANCE, now, spends });
    return all
      .filter((finding) => finding.check === check)
      .flatMap(({ objects }) =>
        objects.map(({ name, detail, atStake }) => [name, detail, atStake && formatAmount(atStake)]),
      );
  };

  it("are pods with a limit that have succeeded in the days, also if they are gone", async () => {
    const end = { atMillis: NOON, inferred: false };
    const job = (name: string) => ({ workload: { kind: "Job", name } });
    await insertWorkloads(store, [
      endedPod("a-0", 60, DAY, job("a")),
      endedPod("a-1", 60, DAY, job("a")),
      // The same pod before it ended, and after it was deleted.
      goodPod("a-2", { ...job("a"), deadlineSeconds: DAY, seenAtMillis: NOON - 1 }),
      endedPod("a-2", 90, DAY, { ...job("a"), resourceVersion: "101" }),
      endedPod("a-2", 90, DAY, { ...job("a"), resourceVersion: "102", end }),
      ...["b-0", "b-1", "b-2"].map((name) => endedPod(name, 60, DAY, { ...job("b"), phase: "Failed" })),
      ...["c-0", "c-1", "c-2"].map((name) => {
        const { deadlineSeconds: _none, ...pod } = endedPod(name, 60, DAY, job("c"));
        return pod;
      }),
    ]);
    expect(await findings("time-limit-far-above-need", NOON)).toEqual([
      ["a", "3 pods used 5 % of at least 1440 min, the longest 90 min", undefined],
    ]);
    expect(await findings("time-limit-far-above-need", NOON + 7 * DAY * 1000)).toEqual([]);
  });

  it("are the cost of the state stranded, and the measure of the billing policy", async () => {
    const books = openBooks(store, FLEET);
    await books.arrive(FLEET);
    await books.settle(NOON);
    expect(await findings("mig-layout-strands", NOON)).toEqual([
      ["gpu-a", "14 % of the cost, now with 2 3g.20gb", "0.2"],
    ]);
  });
});
