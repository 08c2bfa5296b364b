import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InvoiceLine } from "../../domain/charge/invoice.ts";
import { lastUnits } from "../../domain/exact/units.ts";
import { readCharges } from "../../processors/ledger/charging/read-charges.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { openBooks, type Books } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";

const MARCH = { from: Date.UTC(2026, 2, 1), until: Date.UTC(2026, 3, 1) };
const APRIL_3 = Date.UTC(2026, 3, 3);
const APRIL_10 = Date.UTC(2026, 3, 10);

/**
 * Four GPUs at 3 an hour for the last two hours of March: vision holds GPU 0 for both, nlp GPU 1 for the second. The rest is spread
 * over the period by cost: 12 × 2 − 6 − 3 = 15, 10 to vision and 5 to nlp; nlp has a discount of a tenth on all of it.
 */
function fleet(given: { readonly late?: boolean } = {}): Scenario {
  const pod = (name: string, device: number, scheduled: string, namespace: string) => ({
    name,
    namespace,
    node: "gpu-a",
    holds: { gpus: 1 },
    devices: [device],
    activity: 1,
    scheduled,
  });
  const unallocated = { payers: { unallocated: "spread" }, spread: { over: "cluster", by: "cost", window: "period" } };
  return scenarioWith({
    period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
    nodes: [{ name: "gpu-a", model: "A100", gpus: 4, instanceType: "p4d", until: "2026-04-01T00:00:00Z" }],
    namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
    pods: [
      pod("v-0", 0, "2026-03-31T22:00:00Z", "vision"),
      pod("n-0", 1, "2026-03-31T23:00:00Z", "nlp"),
      ...(given.late === true ? [pod("n-1", 2, "2026-03-31T23:00:00Z", "nlp")] : []),
    ],
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
    markup: [{ team: "nlp", percent: "-10" }],
    policies: [{ name: "shared", ...unallocated }, { name: "plain" }],
  });
}

const INVOICE: InvoiceLine = {
  key: "invoice[0]",
  account: "main",
  instanceType: "p4d",
  capacityType: "on-demand",
  currency: "USD",
  amount: lastUnits<"currency">(33_000_000_000n),
};

describe("a period whose policy spreads over all of it", () => {
  let store: StoreClient;
  let books: Books;
  beforeAll(async () => {
    store = await createTestDatabase("spread");
    books = openBooks(store, fleet());
    await books.arrive(fleet());
    await books.settle(APRIL_3);
  });
  afterAll(async () => {
    await store.close();
  });

  const byTeam = async (policy: string, where = "true"): Promise<readonly string[]> => {
    const rows = await store.query<{ team: string; state: string; hours: string; cost: string }>(
      `SELECT team, state, toString(sum(gpu_hours)) AS hours, toString(sum(effective_cost)) AS cost
       FROM charges_published WHERE policy = {policy:String} AND ${where} GROUP BY team, state ORDER BY team, state`,
      { policy },
    );
    return rows.map(({ team, state, hours, cost }) => `${team} ${state} ${hours} ${cost}`);
  };

  it("becomes final at the close, with the values that were shown before, and with true-ups of the invoice over the holders", async () => {
    const provisional = await readCharges(store, { name: "shared", spread: books.setting.policies[0].spread }, MARCH);
    const spread = provisional.filter(({ state }) => state === "unallocated");
    expect(spread.reduce((sum, { costs }) => sum + costs!.effective, 0n)).toBe(15_000_000_000n);

    const { document } = await books.close("2026-03", APRIL_3, { invoice: [INVOICE] });
    // 33 was invoiced and 24 computed: 9, by cost 6 and 3.
    expect(document.invoice).toMatchObject([{ invoiced: "33", computed: "24", difference: "9" }]);
    expect(await byTeam("shared")).toEqual([
      "nlp active 1 3",
      // A tenth of 3, and a tenth of 5.
      "nlp markup 0 -0.8",
      "nlp true-up 0 3",
      // Each of five GPU-hours is divided to the last unit: 0.666666667 and 0.333333333.
      "nlp unallocated 1.666666665 5",
      "platform markup 0 0.8",
      "vision active 2 6",
      "vision true-up 0 6",
      "vision unallocated 3.333333335 10",
    ]);
    expect(document.total).toMatchObject({ effective: "33", posted: "33", trueUp: "9" });
    // The other policy spreads nothing: its true-up is the platform's.
    expect(await byTeam("plain", "state = 'true-up'")).toEqual(["platform true-up 0 9"]);
    const read = await readCharges(store, { name: "shared", spread: books.setting.policies[0].spread }, MARCH);
    const closed = read.filter(({ state }) => state === "unallocated");
    const words = (charges: typeof closed): readonly string[] =>
      charges
        .map(({ team, slot, fromMillis, costs }) => `${team} ${slot} ${fromMillis} ${costs!.effective}`)
        .toSorted();
    expect(words(closed)).toEqual(words(spread));
    expect((await verifyClosings(store, undefined)).flatMap(({ deviations }) => deviations)).toEqual([]);
  });

  it("is corrected by the weights that were frozen", async () => {
    await books.arrive(fleet({ late: true }));
    books.use(fleet({ late: true }));
    expect((await books.settle(APRIL_10)).breaches).toEqual([]);
    // GPU 2 in the second hour is nlp's, 3. Its spread cost goes back, 2 from vision and 1 from nlp, as it was divided then.
    expect(await byTeam("shared", "corrects != ''")).toEqual([
      "nlp active 1 3",
      "nlp markup 0 -0.2",
      "nlp unallocated -0.333333333 -1",
      "platform markup 0 0.2",
      "vision unallocated -0.666666667 -2",
    ]);
    expect(await byTeam("plain", "corrects != ''")).toEqual([
      "nlp active 1 3",
      "nlp markup 0 -0.3",
      "platform markup 0 0.3",
      "platform unallocated -1 -3",
    ]);
    expect((await verifyClosings(store, undefined)).flatMap(({ deviations }) => deviations)).toEqual([]);
  });
});
