import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { HOUR_MILLIS, hourOf } from "../../domain/time.ts";
import { computeBills } from "../../cli/on-demand-bill.ts";
import { isBillStored, storedBills } from "../../cli/advise/stored-bills.ts";
import { ledgerRules, type LedgerRules } from "../../processors/ledger/charging/rules.ts";
import { createNodePrices } from "../../processors/ledger/charge/node-prices.ts";
import { prepareChanges, type UsageChange } from "../../processors/ledger/what-if/apply.ts";
import { touchedNodes } from "../../processors/ledger/what-if/touched-nodes.ts";
import { isNodeChange, readWhatIf } from "../../runtime/config/what-if.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Bill } from "../../scenarios/bill.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { openBooks } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario } from "../support/play-ledger.ts";
import { scenarioWith } from "../support/played.ts";

/** Scenarios of whole and shared GPUs, with changes of prices, owners and nodes in their middle. No policy of them spreads. */
const SCENARIOS = [
  "capacity-types",
  "fractions-in-common",
  "mig-measures",
  "node-leaves",
  "owner-of-pool",
  "team-changes",
  "unpriced",
];
const BY = ["team", "namespace", "pod", "node", "state", "because"];

/** Changes of every kind, for the holders of a scenario by names that some have. */
const CHANGES = [
  "{ release: { namespace: '*' } }",
  "{ release: { team: /^(a|ml|nlp|vision)/ } }",
  "{ release: { pod: '*-1', hours: '0-2' } }",
  "{ resize: { namespace: '*' }, to: { fraction: 0.25 } }",
  "{ move: { namespace: '*' }, to: { model: NVIDIA-A100-SXM4-40GB, count: 2 } }",
  "{ pay: { node: '*-a' }, as: spot }",
];

function changeOf(text: string): readonly UsageChange[] {
  const read = readWhatIf(`changes: [${text}]`);
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  return read.value.changes.filter((change) => !isNodeChange(change));
}

const wordsOf = ({ lines, total }: Bill): readonly string[] => [
  `${total}`,
  ...lines
    .filter(({ gpuHours, cost }) => gpuHours !== 0n || (cost ?? 0n) !== 0n)
    .map(({ dimensions, gpuHours, cost }) => `${JSON.stringify(dimensions)} ${gpuHours} ${cost}`)
    .toSorted(),
];

/** A scenario's fleet whose usage is charged. */
interface Charged {
  readonly store: StoreClient;
  readonly scenario: Scenario;
  readonly rules: LedgerRules;
}

/** Opens a database for the rest of a test. */
async function databaseOf(name: string): Promise<StoreClient> {
  const store = await createTestDatabase(`stored_${name.replaceAll("-", "_")}`);
  onTestFinished(() => store.close());
  return store;
}

async function played(name: string): Promise<Charged> {
  const store = await databaseOf(name);
  const file = `test/scenarios/${name}.yaml`;
  const scenario = readScenario(readFileSync(file, "utf8"), file);
  await playScenario(store, scenario);
  return { store, scenario, rules: ledgerRules(rulesOf(scenario), "", "") };
}

/** The whole hours of a scenario. */
const spanOf = ({ period }: Scenario) => ({
  name: "",
  from: period.start,
  until: hourOf(period.end + HOUR_MILLIS - 1),
});

/** Compares the bills of both ways after each change. Returns the number of nodes that each change touches. */
async function compareBoth({ store, scenario, rules: { charge } }: Charged): Promise<readonly number[]> {
  const span = spanOf(scenario);
  const { owners } = charge;
  const bill = { rules: charge, policy: charge.policies[0]! };
  const first = scenario.nodes[0]!;
  const isFirst = (cluster: string, node: string): boolean => cluster === first.cluster && node === first.name;
  const touchedBy: number[] = [];
  for (const { change, isRemoved } of [
    ...CHANGES.map((text) => ({ change: changeOf(text), isRemoved: () => false })),
    { change: [], isRemoved: isFirst },
  ]) {
    const prepare = () =>
      prepareChanges(change, { owners, prices: createNodePrices(charge.book), freedLeave: false, isRemoved });
    const [all, few] = [prepare(), prepare()];
    const touched = await touchedNodes(store, change, { span, owners, isRemoved });
    const of = { span, by: BY };
    const whole = await computeBills(store, [bill, { ...bill, change: all.apply }], { ...of, onProgress: () => {} });
    const stored = await storedBills(store, [bill, { ...bill, change: few.apply }], { ...of, touched });
    expect({ change, bills: stored?.map(wordsOf) }).toEqual({ change, bills: whole.map(wordsOf) });
    expect([few.changedMillis, [...few.left]]).toEqual([all.changedMillis, [...all.left]]);
    touchedBy.push(touched.reduce((count, { nodes }) => count + nodes.length, 0));
  }
  return touchedBy;
}

describe("the bill after a change, from the stored bill and the touched nodes", () => {
  it.each(SCENARIOS)("is the bill that all usage has: %s", async (name) => {
    const charged = await played(name);
    const { store, scenario, rules } = charged;
    const asked = { span: spanOf(scenario), by: BY, rules, policy: rules.charge.policies[0]! };
    expect(await isBillStored(store, asked)).toBe(true);
    expect(await isBillStored(store, { ...asked, rules: { ...rules, hash: "newer" } })).toBe(false);
    const nodes = scenario.nodes.length;
    const touchedBy = await compareBoth(charged);
    expect(touchedBy.at(-1)).toBe(1);
    expect(Math.max(...touchedBy)).toBeLessThanOrEqual(nodes);
    expect(touchedBy.some((count) => count > 0 && count < nodes)).toBe(nodes > 1);
  });

  it("is the bill that all usage has in a closed period with corrections, while its policy is the same", async () => {
    const fleet = (effective: string): Scenario =>
      scenarioWith({
        period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T01:00:00Z" },
        nodes: ["a", "b"].map((name) => ({ name, model: "NVIDIA-L4", gpus: 2, until: "2026-04-01T01:00:00Z" })),
        namespaces: { vision: { labels: { team: "vision" } } },
        pods: [{ name: "v-0", namespace: "vision", node: "a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
        prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective }],
      });
    const store = await databaseOf("closed");
    const books = openBooks(store, fleet("3.00"));
    await books.arrive(fleet("3.00"));
    await books.settle(Date.UTC(2026, 3, 3));
    await books.close("2026-03", Date.UTC(2026, 3, 3));
    const scenario = fleet("5.00");
    books.use(scenario);
    const { rules } = books.setting;
    const asked = { span: spanOf(scenario), by: BY, rules, policy: rules.charge.policies[0]! };
    expect(await isBillStored(store, asked)).toBe(false);
    await books.settle(Date.UTC(2026, 3, 10));
    expect(await isBillStored(store, asked)).toBe(true);
    expect(await isBillStored(store, { ...asked, policy: { ...asked.policy, basis: "usage" } })).toBe(false);
    expect(await isBillStored(store, { ...asked, rules: { ...rules, isListPriced: true } })).toBe(false);
    for (const name of ["billingPeriod", "layout"])
      expect(await isBillStored(store, { ...asked, by: ["team", name] })).toBe(false);
    expect(await compareBoth({ store, scenario, rules })).toContain(1);
  });

  it("is not known from the stored bill if its policy spreads, or a part of an hour is asked", async () => {
    const { store, scenario, rules } = await played("two-clusters");
    const policy = rules.charge.policies[0]!;
    const span = spanOf(scenario);
    const alone = { ...policy, payers: { ...policy.payers, unallocated: "platform" } } as const;
    expect(await isBillStored(store, { span, by: BY, rules, policy })).toBe(false);
    expect(await isBillStored(store, { span, by: BY, rules, policy: alone })).toBe(true);
    const later = { ...span, from: span.from + 60_000 };
    expect(await isBillStored(store, { span: later, by: BY, rules, policy: alone })).toBe(false);
    const manyGroups = { ...store, query: () => Promise.resolve(Array.from({ length: 500_001 }, () => ({}))) };
    const bill = { rules: rules.charge, policy };
    expect(await storedBills(manyGroups as never, [bill, bill], { span, by: BY, touched: [] })).toBeUndefined();
  });
});
