import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { NOTHING_CLOSED, type Closed } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { breachSentence, standingBreaches } from "../../processors/ledger/runs/breaches.ts";
import { chargeAgain, computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { ledgerRules, type LedgerRules } from "../../processors/ledger/charging/rules.ts";
import { staleCharges } from "../../processors/ledger/hours/stale-hours.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createTestDatabase } from "../support/database.ts";
import { storeScenario } from "../support/play.ts";
import { scenarioWith } from "../support/played.ts";

const START = Date.UTC(2026, 2, 2);
const NODES = ["gpu-a", "gpu-b", "gpu-c", "gpu-d", "gpu-e"];

/** An hour of five nodes with two GPUs at 1 an hour. One GPU of each is held by a pod of the team that has the node's name. */
const fleet = scenarioWith({
  period: { start: "2026-03-02T00:00:00Z", end: "2026-03-02T01:00:00Z" },
  nodes: NODES.map((name) => ({ name, model: "NVIDIA-A100", gpus: 2, until: "2026-03-02T01:00:00Z" })),
  namespaces: Object.fromEntries(NODES.map((name) => [name, { labels: { team: name } }])),
  pods: NODES.map((name) => ({
    name: "p",
    namespace: name,
    node: name,
    holds: { gpus: 1 },
    devices: [0],
    activity: 1,
  })),
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "1.00" }],
});
const window = { cluster: "default", windowStart: START };
const rules = ledgerRules(rulesOf(fleet), "");

/** The rules of a release that cannot meter the machines of some nodes. */
const unmeterable = (...nodes: readonly string[]): LedgerRules => ({
  ...rules,
  dates: {
    ...rules.dates,
    delivered(state) {
      if (nodes.includes(state.fact.node)) throw new RangeError(`${state.fact.node} is too much`);
      return rules.dates.delivered(state);
    },
  },
});

/** The rules of a release that cannot charge the pods of a namespace. */
function unchargeable(namespace: string): LedgerRules {
  const { owners } = rules.charge;
  const [first, ...others] = owners.sources.team;
  const team = [
    (...[subject, at]: Parameters<NonNullable<typeof first>>) => {
      if (subject.namespace === namespace) throw new RangeError(`${namespace} is too much`);
      return first!(subject, at);
    },
    ...others,
  ];
  return { ...rules, charge: { ...rules.charge, owners: { ...owners, sources: { ...owners.sources, team } } } };
}

describe("a node that cannot be computed", () => {
  let store: StoreClient;
  let now = START + HOUR_MILLIS;
  beforeAll(async () => {
    store = await createTestDatabase("failing_nodes");
    await storeScenario(store, fleet);
  });
  afterAll(() => store.close());

  const turn = (closed: Closed = NOTHING_CLOSED) => ({
    generation: 1,
    facts: new Map(),
    now: (now += 1),
    closed,
    weights: createFrozenWeights(store),
  });
  const compute = (by: LedgerRules, closed?: Closed) => computeLedger(store, window, by, turn(closed));
  const costs = async (): Promise<Record<string, number>> => {
    const rows = await store.query<{ node: string; cost: string }>(
      "SELECT node, toString(sum(effective_cost)) AS cost FROM charges_published GROUP BY node ORDER BY node",
    );
    return Object.fromEntries(rows.map(({ node, cost }) => [node, Number(cost)]));
  };
  const sentence = async () => breachSentence(await standingBreaches(store, { from: 0, until: now }));
  const standing = async () =>
    (await standingBreaches(store, { from: 0, until: now })).map(({ node, what, found }) => [node, what, found]);
  const all = Object.fromEntries(NODES.map((node) => [node, 2]));
  const { "gpu-b": _, ...withoutB } = all;
  const { "gpu-d": __, ...withoutBAndD } = withoutB;

  it("by the meter costs itself, is a standing breach, and is charged once it can be", async () => {
    const { breaches } = await compute(unmeterable("gpu-b", "gpu-d"));
    expect(breaches).toMatchObject([
      { node: "gpu-b", what: "usage", expected: "computed", found: "gpu-b is too much" },
      { node: "gpu-d", what: "usage" },
    ]);
    expect(await costs()).toEqual(withoutBAndD);
    expect(await standing()).toEqual([
      ["gpu-b", "usage", "gpu-b is too much"],
      ["gpu-d", "usage", "gpu-d is too much"],
    ]);

    expect(await sentence()).toBe(
      "default/gpu-b in the hour from 2026-03-02T00:00:00.000Z cannot be metered: gpu-b is too much; and 1 more",
    );

    // To charge the hour again brings no usage back, so the breach stands.
    const dearer = ledgerRules(rulesOf(fleet), "again");
    const [stale] = await staleCharges(store, dearer, { from: 0, openSince: 0 });
    await chargeAgain(store, stale!, dearer, turn());
    expect(await standing()).toHaveLength(2);

    expect((await compute(rules)).breaches).toEqual([]);
    expect(await costs()).toEqual(all);
    expect(await standing()).toEqual([]);
  });

  it("by the charges costs itself, is a standing breach, and is charged once it can be", async () => {
    const { breaches } = await compute(unchargeable("gpu-b"));
    expect(breaches).toMatchObject([{ node: "gpu-b", what: "charges", found: "gpu-b is too much" }]);
    expect(await costs()).toEqual(withoutB);
    expect(await sentence()).toBe(
      "default/gpu-b in the hour from 2026-03-02T00:00:00.000Z cannot be charged: gpu-b is too much",
    );
    expect((await compute(rules)).breaches).toEqual([]);
    expect(await costs()).toEqual(all);
    expect(await standing()).toEqual([]);
  });

  it("in an hour of a closed period fails the hour, so that nothing is corrected to nothing", async () => {
    const period = { name: "2026-03", from: Date.UTC(2026, 2, 1), until: Date.UTC(2026, 3, 1) };
    const closed = { ...NOTHING_CLOSED, periods: [{ period }], openSince: period.until } as unknown as Closed;
    await expect(compute(unmeterable("gpu-b"), closed)).rejects.toThrow("gpu-b is too much");
    expect(await costs()).toEqual(all);
  });

  it("with most of the others is not their fault: the former charges stay", async () => {
    await expect(compute(unmeterable("gpu-a", "gpu-b", "gpu-c"))).rejects.toThrow("is too much");
    expect(await costs()).toEqual(all);
  });
});
