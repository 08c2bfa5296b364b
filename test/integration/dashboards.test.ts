import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amountOf, formatAmount } from "../../domain/exact/units.ts";
import { dashboards } from "../../dashboards/files.ts";
import { DEFAULT_DASHBOARD_OPTIONS } from "../../dashboards/options.ts";
import { readServing } from "../../reports/serving/read-serving.ts";
import { readReport } from "../../reports/report/read-report.ts";
import { readStatements } from "../../reports/read/statements.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { openBooks } from "../support/books.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { askStore, remarks } from "../support/grafana/clickhouse.ts";
import { ALL, expandedSql, type Shown } from "../support/grafana/expand.ts";
import { HOSTILE, NOON, pagesFleet } from "../support/pages-fleet.ts";
import { createTestDatabase } from "../support/database.ts";
import { playAs, scenarioFiles } from "../support/play-ledger.ts";

const PANELS = dashboards(DEFAULT_DASHBOARD_OPTIONS).flatMap(({ title, sections }) =>
  sections.flatMap(({ panels }) => panels.map((panel) => ({ name: `${title}: ${panel.title}`, panel }))),
);
const MARCH = { name: "2026-03", from: Date.UTC(2026, 2, 1), until: Date.UTC(2026, 3, 1) };
const SHOWN = { fromMillis: MARCH.from, untilMillis: MARCH.until - 1000, stepSeconds: 3600, scrapeSeconds: 30 };

const embedded = sharedStore();

type Row = Readonly<Record<string, string | null>>;

/** The rows of the store's answer for a panel. */
async function rowsOf(database: string, name: string, chosen: Shown["chosen"]): Promise<readonly Row[]> {
  const { panel } = PANELS.find((each) => each.name === name)!;
  const [query] = panel.queries;
  if (query?.source !== "clickhouse") throw new Error(`${name} does not ask the store`);
  const reader = { url: embedded.url, database, ...embedded.user };
  const sql = expandedSql(query.sql, { ...SHOWN, chosen: { cluster: ALL, team: ALL, namespace: ALL, ...chosen } });
  const answer = await askStore(reader, sql);
  expect(remarks(answer, query, panel)).toEqual([]);
  return answer.rows.map((row) =>
    Object.fromEntries(answer.columns.map(({ name: column }, place) => [column, row[place]!])),
  );
}

/** A decimal without trailing zeros, in the form of amounts in reports. */
const amount = (text: unknown): string => formatAmount(amountOf<"currency">(String(text)));

describe("dashboards of played fleets have the values of reports", () => {
  const played = ["mig-stranded", "unpriced", "owners", "spread-over-node", "fractions-and-vgpu", "time-slicing"];
  let store: StoreClient;
  const ask = (name: string, policy: string): Promise<readonly Row[]> => rowsOf("panels", name, { policy });

  beforeAll(async () => {
    store = await createTestDatabase("panels");
    for (const name of played) {
      const { scenario } = scenarioFiles().find(({ file }) => file === `${name}.yaml`)!;
      await playAs(store, name, scenario);
    }
  });
  afterAll(() => store.close());

  it.each(["GPU cost: Teams by state", "GPU teams and namespaces: Teams"])("%s", async (name) => {
    const question = { policy: "default", kind: "showback", span: MARCH, by: ["team"], where: [] } as const;
    const { rows, total } = await readReport(store, question, { currency: "USD" });
    const shown = await ask(name, "default");
    expect(Object.fromEntries(shown.map(({ team, cost }) => [team, amount(cost)]))).toEqual(
      Object.fromEntries(rows.map(({ dimensions, cost }) => [dimensions["team"], cost])),
    );
    expect(amount(total.cost)).not.toBe("0");
  });

  it("policies have the same total with other splits", async () => {
    const policies = await ask("GPU cost: Policies side by side", "default");
    expect(policies.map(({ policy }) => policy)).toEqual(expect.arrayContaining(["by-compute", "default"]));
    for (const { policy, cost } of policies) {
      const question = { policy: String(policy), kind: "showback", span: MARCH, by: [], where: [] } as const;
      expect(amount(cost)).toBe((await readReport(store, question, { currency: "USD" })).total.cost);
    }
  });

  it("time without a price, without an owner and stranded time have names", async () => {
    expect(await ask("GPU cost: Without a price", "default")).toMatchObject([
      { cluster: "unpriced", gpu_model: "Tesla-T4", hours: "3" },
      { cluster: "unpriced", gpu_model: "NVIDIA-L4", hours: "2" },
    ]);
    expect(await ask("GPU cost: Without an owner", "default")).toMatchObject([{ cluster: "owners", cost: "1" }]);
    expect(await ask("GPU sharing: Stranded by pool", "by-compute")).toMatchObject([
      { cluster: "mig-stranded", gpu_model: "NVIDIA-A100-SXM4-40GB", cost: "0.2" },
    ]);
    expect(await ask("GPU sharing: Stranded cost per hour", "by-compute")).toMatchObject([{ Value: "0.2" }]);
  });

  it("parts of GPUs are named by their kind", async () => {
    const rows = await Promise.all(
      played.map((cluster) => rowsOf("panels", "GPU sharing: Held GPUs and parts", { cluster: [cluster] })),
    );
    const held = rows.flat().map((row) => row["held"]);
    expect(held).toEqual(expect.arrayContaining(["whole", "instance", "replicas", "vgpu", "fraction"]));
  });
});

describe("dashboards of a month have the values of its statements", () => {
  const PRICE = "3.123456789";
  let store: StoreClient;

  beforeAll(async () => {
    store = await createTestDatabase("statements");
    const fleet = pagesFleet(PRICE);
    const books = openBooks(store, fleet);
    await books.arrive(fleet);
    await books.settle(NOON);
    await books.close("2026-03", Date.UTC(2026, 3, 4));
  });
  afterAll(() => store.close());

  it("to the last digit, for each team and for all, with any names of teams", async () => {
    const { total, statements } = await readStatements(store, { period: MARCH, policy: "default", where: [] }, "USD");
    const [booked] = await rowsOf("statements", "GPU cost: Booked this month", { policy: "default" });
    expect(amount(booked!["booked"])).toBe(total.cost);
    const rows = await rowsOf("statements", "GPU cost: Statements", { policy: "default" });
    expect(rows.map(({ team, cost, invoiced }) => [team, amount(cost), amount(invoiced)])).toEqual(
      statements.map(({ team, cost, posted }) => [team, cost, amount(posted)]),
    );
    const odd = await rowsOf("statements", "GPU cost: Booked this month", { policy: "default", team: [HOSTILE] });
    expect(amount(odd[0]!["booked"])).toBe(statements.find(({ team }) => team === HOSTILE)!.cost);
  });
});

describe("the dashboard of services has the values of reports", () => {
  let store: StoreClient;
  beforeAll(async () => {
    store = await createTestDatabase("serving_panels");
    const text = readFileSync("test/scenarios/serving/tenants.yaml", "utf8");
    await playAs(store, "tenants", readScenario(text, "tenants"));
  });
  afterAll(() => store.close());
  const names = PANELS.filter(({ name }) => name.startsWith("GPU serving: ")).map(({ name }) => name);
  const ask = (name: string): Promise<readonly Row[]> =>
    rowsOf("serving_panels", name, { policy: "default", rule: "gpu-time", model: ALL });

  it.each(names)("%s has rows", async (name) => {
    expect((await ask(name)).length).toBeGreaterThan(0);
  });

  it("has the cost, the cost of a million tokens and the tenants", async () => {
    const question = { policy: "default", rule: "gpu-time", kind: "showback", span: MARCH, where: [] } as const;
    const { total, rows } = await readServing(store, { ...question, by: ["tenant"] }, "USD");
    const [cost] = await ask("GPU serving: Cost");
    expect(amount(cost!["cost"])).toBe(total.cost);
    const [million] = await ask("GPU serving: A million tokens");
    expect(Number(million!["cost"])).toBeCloseTo(Number(total.unitCosts.millionTokens.loaded), 9);
    const tenants = await ask("GPU serving: Tenants");
    expect(Object.fromEntries(tenants.map(({ tenant, cost: of }) => [tenant, amount(of)]))).toEqual(
      Object.fromEntries(
        rows.flatMap(({ dimensions, cost: of }) => (dimensions.tenant === "" ? [] : [[dimensions.tenant, of]])),
      ),
    );
  });
});
