import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { CHECKS } from "../../domain/practice/checks.ts";
import { readPractices, readPracticeSpends } from "../../reports/read/practices.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { startPracticeMetrics } from "../../services/practices.ts";
import { openBooks } from "../support/books.ts";
import { createCommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { insertInventory, insertWorkloads } from "../support/insert-facts.ts";
import { goodNode, goodPod } from "../support/practices.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const NOON = Date.UTC(2026, 2, 31, 12);
const CONFIG = `prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]`;

/** Checks that the server of the gauges has switched off. */
const OFF = ["node-without-exporter", "pool-unused", "image-not-pinned"];

/** Four GPUs for four hours at 3 an hour: two idle ones of vision, one of nlp, and a free one. Nothing has ended. */
const FLEET = scenarioWith({
  period: { start: "2026-03-31T08:00:00Z", end: "2026-03-31T12:00:00Z" },
  nodes: [{ name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 4, instanceType: "p4d" }],
  namespaces: {
    vision: { labels: { team: "vision" } },
    nlp: { labels: { team: "nlp" }, quota: 2 },
  },
  pods: [
    { name: "vision-0", namespace: "vision", node: "gpu-a", holds: { gpus: 2 }, devices: [0, 1], activity: 0 },
    { name: "nlp-0", namespace: "nlp", node: "gpu-a", holds: { gpus: 1 }, devices: [2], activity: 1 },
  ],
  prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
});

interface Answer {
  readonly days: number;
  readonly currency: string;
  readonly findings: readonly {
    readonly check: string;
    readonly team: string | null;
    readonly atStake: string | null;
    readonly count: number;
    readonly objects: readonly { readonly name: string; readonly atStake: string | null }[];
    readonly fixes: readonly string[];
    readonly why: string;
  }[];
}

describe("the practices of a store", () => {
  const embedded = sharedStore();
  let store: StoreClient;
  let server: ReportsServer;

  const ask = async (query = "", as = FINANCE): Promise<Answer> => {
    const answer = await server.get(`/api/v1/practices${query}`, as);
    expect(answer.statusCode).toBe(200);
    return answer.json();
  };
  const found = ({ findings }: Answer) => findings.map(({ check, team, atStake }) => [check, team, atStake]);

  beforeAll(async () => {
    store = await createTestDatabase("practices");
    const books = openBooks(store, FLEET);
    await books.arrive(FLEET);
    await books.settle(NOON);
    // The pods of the fleet end with its time. This pod has the workload of one of them, and still runs.
    const workload = { kind: "Pod", name: "vision-0" };
    const asks = [{ kind: "gpu", resource: "nvidia.com/gpu", count: 2 }] as const;
    const of = { cluster: "default", namespace: "vision", type: "notebook", workload, asks } as const;
    await insertWorkloads(store, [goodPod("vision-0-again", { ...of, tolerations: ["*"] })]);
    server = await createReportsServer(store, NOON, CONFIG);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  it("are found with the exact charges that are at stake, most urgent first", async () => {
    const answer = await ask();
    expect(answer).toMatchObject({ days: 7, currency: "USD" });
    expect(found(answer)).toEqual([
      ["whole-gpu-for-notebook", "vision", "24"],
      ["gpu-node-without-taint", null, null],
      ["namespace-without-quota", "vision", null],
      ["namespace-without-limit-range", "nlp", null],
      ["namespace-without-limit-range", "vision", null],
      ["tolerates-everything", "vision", null],
    ]);
    expect(answer.findings[0]).toMatchObject({ objects: [{ name: "vision-0", atStake: "24" }] });
    expect(answer.findings[2]).toMatchObject({
      count: 1,
      objects: [{ name: "vision", atStake: null }],
      fixes: ["kubectl create quota gpus --namespace vision --hard=requests.nvidia.com/gpu=2"],
      why: expect.stringMatching(/docs\/practices\.md#namespace-without-quota$/) as unknown,
    });
  });

  it("have the same money as the report of the team", async () => {
    const report = await server.get("/api/v1/charges?span=7d&by=team&where=team=vision");
    expect(report.json<{ total: { cost: string } }>().total.cost).toBe("24");
  });

  it("of a team are all that its viewer sees: no other team, no node and no name of either", async () => {
    const answer = await ask("", VISION);
    expect(found(answer)).toEqual([
      ["whole-gpu-for-notebook", "vision", "24"],
      ["namespace-without-quota", "vision", null],
      ["namespace-without-limit-range", "vision", null],
      ["tolerates-everything", "vision", null],
    ]);
    // The node of the own notebook is the finding's detail.
    const [{ objects }, ...others] = answer.findings as [Answer["findings"][number]];
    expect(objects).toEqual([expect.objectContaining({ name: "vision-0", detail: "gpu-a" })]);
    expect(JSON.stringify(others)).not.toMatch(/nlp|gpu-a/);
    expect(found(await ask("?team=nlp", VISION))).toEqual([]);
    expect((await server.get("/practices?check=namespace-without-limit-range", VISION)).body).not.toMatch(/nlp|gpu-a/);
  });

  it("are filtered by check, severity and team; an unknown check is refused", async () => {
    expect(found(await ask("?check=namespace-without-quota"))).toHaveLength(1);
    expect(found(await ask("?severity=low&team=nlp"))).toEqual([["namespace-without-limit-range", "nlp", null]]);
    expect(found(await ask("?check=&severity=&team="))).toHaveLength(6);
    expect((await server.get("/api/v1/practices?check=good-weather")).statusCode).toBe(400);
  });

  it("are shown by urgency, and with objects and fixes for one check", async () => {
    const all = (await server.get("/practices")).body;
    expect(all).toContain("GPU nodes without a taint");
    expect(all).not.toContain("kubectl");
    const { body } = await server.get("/practices?check=gpu-node-without-taint");
    expect(body).toContain("kubectl taint nodes gpu-a nvidia.com/gpu=present:NoSchedule");
    expect(body).toContain("docs/practices.md#gpu-node-without-taint");
    expect(body).not.toContain("Namespaces without a LimitRange");
    expect(body).not.toContain("are at stake");
    const stake = (await server.get("/practices?check=whole-gpu-for-notebook")).body;
    expect(stake).toContain("24.00</data></a> USD are at stake: the cost of the idle time of these notebooks.");
    expect(stake).not.toMatch(/<(?:td|th|p)\b[^>]*><data/);
    const [, explanation] = /href="(\/explain[^"]*workload%3Dvision-0[^"]*)"/.exec(stake)!;
    expect((await server.get(explanation!.replaceAll("&amp;", "&"))).body).toContain("Exactly <code>24</code> USD");
  });

  it("are checked without those that the configuration switches off, and on the charges of its days", async () => {
    const own = await createReportsServer(
      store,
      NOON + 2 * 86_400_000,
      `${CONFIG}\npractices: { days: 1, off: [namespace-without-limit-range, node-without-exporter] }`,
    );
    const answer = (await own.get("/api/v1/practices")).json<Answer>();
    await own.close();
    expect(answer.days).toBe(1);
    expect(found(answer)).toEqual([
      ["whole-gpu-for-notebook", "vision", "0"],
      ["gpu-node-without-taint", null, null],
      ["namespace-without-quota", "vision", null],
      ["tolerates-everything", "vision", null],
    ]);
  });

  it("are printed by the command as a table, JSON or CSV, with the options of its own", async () => {
    const folder = createCommandFolder();
    const { username, password } = embedded.user;
    const file = folder.write("gpu-ledger.json", {
      store: { kind: "clickhouse", database: "practices", clickhouse: { url: embedded.url, username, password } },
      practices: { off: ["node-without-exporter"] },
    });
    const run = (...args: string[]) => folder.call(["audit", "practices", "--config", file, ...args]);
    try {
      const { stdout, stderr } = await run("--format", "json");
      expect(stderr).toBe("");
      const json = JSON.parse(stdout) as Answer;
      expect(json.findings.map(({ check }) => check)).toEqual([
        "whole-gpu-for-notebook",
        "gpu-node-without-taint",
        "namespace-without-quota",
        "namespace-without-limit-range",
        "tolerates-everything",
      ]);
      const csv = (await run("--format", "csv", "--check", "tolerates-everything", "--team", "vision")).stdout;
      expect(csv.split("\r\n")[1]).toMatch(/^tolerates-everything,low,default,vision,Pod,vision,vision-0,,,https:/);
      const table = (await run("--team", "nobody")).stdout;
      expect(table).toBe("no findings; only watched clusters have facts\n");
      expect((await run()).stdout).toContain("  kubectl taint nodes gpu-a nvidia.com/gpu=present:NoSchedule");
      expect((await run("--check", "good-weather")).code).not.toBe(0);
      // The audit trail stays the default of `audit`.
      expect((await folder.call(["audit", "--config", file, "--format", "json"])).stdout).toMatch(/^\[/);
    } finally {
      await folder.dispose();
    }
  });

  it.each([
    {
      moneyOnMetrics: true,
      costs: CHECKS.filter(({ name, amount }) => amount !== undefined && !OFF.includes(name)).length,
    },
    { moneyOnMetrics: false, costs: 0 },
  ])("are gauges of a server, with the money at stake if metrics may have money: $moneyOnMetrics", async (given) => {
    const registry = new Registry();
    const yaml = `${CONFIG}\nserver: { moneyOnMetrics: ${given.moneyOnMetrics} }\npractices: { off: [${OFF.join(", ")}] }`;
    const config = parseConfig(yaml, { source: "the test", folder: ".", env: {} });
    const of = { store, logger: pino({ level: "silent" }), registry, now: () => NOON };
    const metrics = startPracticeMetrics(config, of);
    try {
      await vi.waitFor(async () => expect(await registry.metrics()).toContain("gpu_ledger_practice_findings{"), {
        timeout: 20_000,
      });
    } finally {
      await metrics.stop();
    }
    const lines = (await registry.metrics()).split("\n");
    expect(lines).toContain('gpu_ledger_practice_findings{check="gpu-node-without-taint",severity="medium"} 1');
    expect(lines).toContain('gpu_ledger_practice_findings{check="no-priority-class",severity="medium"} 0');
    const costs = lines.filter((line) => line.startsWith("gpu_ledger_practice_cost{"));
    expect(costs).toHaveLength(given.costs);
    expect(costs.filter((line) => line.endsWith('whole-gpu-for-notebook"} 24'))).toHaveLength(given.costs > 0 ? 1 : 0);
  });

  it("find a node whose exporter lacks the profiling counters, by its last samples", async () => {
    expect(found(await ask("?check=no-profiling-counters"))).toEqual([]);
    await insertInventory(store, [goodNode("gpu-b", { cluster: "default" })]);
    await store.command(
      `INSERT INTO gpu_samples SELECT * REPLACE ('gpu-b' AS node, NULL AS gr_engine_active_ratio, NULL AS sm_active_ratio,
         NULL AS dram_active_ratio)
       FROM (SELECT * FROM gpu_samples WHERE scraped_at >= fromUnixTimestamp64Milli(${NOON - 600_000}))`,
    );
    server.now += 6_000;
    const { findings } = await ask("?check=no-profiling-counters");
    expect(findings.map(({ objects }) => objects.map(({ name }) => name))).toEqual([["gpu-b"]]);
  });

  it("find a node whose exporter has sent nothing for a day", async () => {
    const parsed = parseConfig(CONFIG, { source: "the test", folder: ".", env: {} });
    const { practices } = parsed;
    const ledger = ledgerOf(parsed);
    const now = NOON + 25 * 3_600_000;
    const spends = await readPracticeSpends(store, ledger, FINANCE, { now, days: practices.days });
    const findings = await readPractices(store, { ledger, practices, viewer: FINANCE, now, spends });
    expect(findings.map(({ check }) => check)).toContain("node-without-exporter");
  });
});
