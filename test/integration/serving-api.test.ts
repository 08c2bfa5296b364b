import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOUR_MILLIS as HOUR } from "../../domain/time.ts";
import { NOTHING_CLOSED } from "../../processors/ledger/closed/closed.ts";
import { createFrozenWeights } from "../../processors/ledger/closed/frozen.ts";
import { computeLedger } from "../../processors/ledger/hours/compute-hour.ts";
import { ledgerRules } from "../../processors/ledger/charging/rules.ts";
import type { z } from "zod";
import { servingExplanationSchema, servingSchema } from "../../reports/api/serving.ts";
import type { Viewer } from "../../reports/access/viewer.ts";
import type { FocusManifest } from "../../reports/focus/manifest.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { rulesOf } from "../../scenarios/rules.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { figuresOf } from "../support/figures.ts";
import { createPut, messagesOf } from "../support/play.ts";
import { createReportsServer, VISION, type ReportsServer } from "../support/reports-server.ts";
import { SERVED_FLEET, SERVED_PAGES, SERVED_START as START } from "../support/served-fleet.ts";
import { insertServing, type ServingSample } from "../support/serving.ts";

const LEDGER = {
  prices: [{ match: { model: "NVIDIA-A100*" }, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }],
  policies: [{ name: "default" }],
};
const SPAN = "2026-03-02T08:00Z/2026-03-02T09:00Z";

describe("the cost of serving", () => {
  let store: StoreClient;
  let server: ReportsServer;
  let folder: CommandFolder;
  let config: string;

  beforeAll(async () => {
    store = await createTestDatabase("serving_api");
    const scenario = readScenario(SERVED_FLEET, "fleet");
    await createPut(store)([...messagesOf(scenario)]);
    await insertServing(store, "default", SERVED_PAGES);
    // A gateway counts two tenants with 1.50 in its price list: a third and a half of what the engine counts.
    const tenants = (part: number): readonly ServingSample[] =>
      [3, 2].map((of, index) => ({
        kind: "gateway",
        model: "hosted_vllm/m",
        tenant: `t${index}`,
        values: {
          prompt_tokens: part * (120_000 / of),
          generation_tokens: part * (12_000 / of),
          spend_nanos: part * 750_000_000,
        },
      }));
    // A model of another provider passes the gateway, too.
    const foreign = (part: number): ServingSample => ({
      kind: "gateway",
      model: "openai/gpt-4o",
      tenant: "t0",
      values: { prompt_tokens: part * 1_000, generation_tokens: part * 200 },
    });
    const gateway = { target: "http://gateway:4000/metrics", pod: "litellm", exporter: "litellm" };
    await insertServing(store, "default", [
      { at: START + 60_000, ...gateway, series: [...tenants(0), foreign(0)] },
      { at: START + 75_000, ...gateway, series: [...tenants(1), foreign(1)] },
    ]);
    await computeLedger(store, { cluster: "default", windowStart: START }, ledgerRules(rulesOf(scenario), ""), {
      generation: 1,
      facts: new Map(),
      now: START + 2 * HOUR,
      closed: NOTHING_CLOSED,
      weights: createFrozenWeights(store),
    });
    server = await createReportsServer(store, START + 3 * HOUR, JSON.stringify(LEDGER));
    folder = createCommandFolder();
    const { url, user } = sharedStore();
    const clickhouse = { url, username: user.username, password: user.password };
    const database = { kind: "clickhouse", database: "serving_api", clickhouse };
    config = folder.write("ledger.yaml", { ...LEDGER, store: database });
  });
  afterAll(async () => {
    await server.close();
    await store.close();
    await folder.dispose();
  });

  test("leads from every figure of its page to the reasons: pages of engines, and GPUs with their samples", async () => {
    const { links, alone } = figuresOf((await server.get(`/serving?span=${SPAN}`)).body);
    expect(alone).toEqual([]);
    expect(links.size).toBeGreaterThan(3);
    for (const link of links) {
      expect(link).toMatch(/^\/serving\/explain\?/);
      const { statusCode, body } = await server.get(link);
      expect({ link, statusCode }).toEqual({ link, statusCode: 200 });
      expect(body).toContain("of inference in");
    }
    const { body } = await server.get(`/serving/explain?span=${SPAN}&where=workload%3Dllm`);
    expect(body).toMatch(/Why <data class="money" value="7.2".*split by.*The cost by phase.*vllm.*NVIDIA-A100/s);
    const [, line] = /href="(\/explain\?line=[^"]*)"/.exec(body)!;
    expect((await server.get(line!.replaceAll("&amp;", "&"))).body).toContain("Measurements");
    const regions = Array.from(body.matchAll(/role="region" aria-label="([^"]+)"/g), ([, label]) => label);
    expect(regions.filter((label) => /llm, \d{4}-\d{2}-\d{2} \d{2}:00:00 UTC$/.test(label!))).toHaveLength(3);
    expect((await server.get(`/serving/explain?span=${SPAN}`, VISION)).body).toContain("No charges of services match");
  });

  async function read(query: string, as?: Viewer): Promise<z.output<typeof servingSchema>> {
    const answer = await server.get(`/api/v1/serving?span=${SPAN}&${query}`, as);
    expect(answer).toMatchObject({ statusCode: 200 });
    return servingSchema.parse(answer.json());
  }

  test("is split over tenants, with the price of the gateway beside it", async () => {
    const { total, rows, next } = await read("by=tenant,phase");
    // Prefill costs 0.90 and decode 2.70; the tenants have a third and a half of both, and a sixth is of nobody.
    expect(rows.map(({ dimensions, cost }) => [dimensions.tenant, dimensions.phase, cost])).toEqual([
      ["", "idle", "3.6"],
      ["t1", "decode", "1.35"],
      ["t0", "decode", "0.9"],
      ["t1", "prefill", "0.45"],
      ["unattributed", "decode", "0.45"],
      ["t0", "prefill", "0.3"],
      ["unattributed", "prefill", "0.15"],
    ]);
    expect(total).toMatchObject({ cost: "7.2", gatewayPrice: "1.5", margin: "-5.7", excessTokens: "0" });
    expect(next).toBeNull();
  });

  test("has pages, and the same rows as CSV", async () => {
    const first = await read("by=model,phase&limit=2");
    const second = await read(`by=model,phase&limit=2&cursor=${first.next}`);
    expect([first.rows.length, second.rows.length, second.next]).toEqual([2, 1, null]);
    const csv = await server.get(`/api/v1/serving?span=${SPAN}&by=model,phase&format=csv`);
    const [heads, ...lines] = csv.body.trimEnd().split("\r\n");
    expect(heads).toMatch(/^policy,rule,model,phase,gpuHours,list,contracted,cost,prefillCost,/);
    expect(lines.map((line) => line.split(",").slice(0, 4).join(","))).toEqual([
      "default,gpu-time,m,idle",
      "default,gpu-time,m,decode",
      "default,gpu-time,m,prefill",
    ]);
  });

  test("is exported as FOCUS that follows all rules and sums to the charges, by command and by API", async () => {
    const out = join(folder.path, "services.csv");
    const made = await folder.call(["serving", SPAN, "--format", "focus", "--check", "--out", out, "--config", config]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const text = readFileSync(out, "utf8");
    const rows = parse<Readonly<Record<string, string>>>(text, { columns: true, record_delimiter: "\r\n" });
    const name = "chat/llm";
    expect(
      rows.map((row) => [row["x_Phase"], row["AllocatedResourceName"], row["EffectiveCost"], row["x_GpuHours"]]),
    ).toEqual([
      ["decode", "t0", "0.9", "0.25"],
      ["decode", "t1", "1.35", "0.375"],
      ["decode", "", "0.45", "0.125"],
      ["idle", "", "3.6", "1"],
      ["prefill", "t0", "0.3", "0.083333333"],
      ["prefill", "t1", "0.45", "0.125"],
      ["prefill", "", "0.15", "0.041666667"],
    ]);
    expect(rows[0]).toMatchObject({
      AllocatedMethodId: "default/gpu-time",
      AllocatedResourceId: "tenant:t0",
      AllocatedMethodDetails: '{"Elements":[{"AllocatedRatio":0.125,"UsageUnit":"GPU-Hours","UsageQuantity":0.25}]}',
      AllocatedTags:
        '{"gpu-ledger/model":"m","gpu-ledger/tenant":"t0","gpu-ledger/phase":"decode","gpu-ledger/team":"chat"}',
      ChargeDescription: "inference, decode",
      ContractedUnitPrice: "3.6",
      ResourceId: "service:default/chat/Deployment/llm",
      ResourceName: name,
      ResourceType: "Inference service",
      SubAccountId: "chat",
      Tags: '{"gpu-ledger/cluster":"default","gpu-ledger/namespace":"chat","gpu-ledger/workload":"llm","gpu-ledger/workload-kind":"Deployment","gpu-ledger/gpu-model":"NVIDIA-A100-SXM4-40GB"}',
      x_Basis: "time",
      x_GeneratedTokens: "4000",
      x_Model: "m",
      x_Rule: "gpu-time",
      x_Tenant: "t0",
    });
    const manifest = JSON.parse(readFileSync(`${out}.manifest.json`, "utf8")) as FocusManifest;
    expect(manifest).toMatchObject({ rule: "gpu-time", rows: 7, check: { isPassed: true } });
    // The same pods in the file of charges.
    const charged = await server.get(`/api/v1/focus?span=${SPAN}&where=workload%3Dllm&format=manifest`);
    const { EffectiveCost, x_GpuHours } = charged.json<FocusManifest>().sums;
    expect(manifest.sums).toMatchObject({ EffectiveCost, x_GpuHours });
    expect([EffectiveCost, x_GpuHours]).toEqual(["7.2", "2"]);

    const path = `/api/v1/serving/focus?span=${SPAN}&check=true`;
    expect((await server.get(path)).body).toBe(text);
    expect((await server.get(`${path}&format=manifest`)).json()).toEqual(manifest);
    const some = await server.get(`${path}&where=tenant%3Dt1&format=manifest`);
    expect(some.json()).toMatchObject({ rows: 2, sums: { EffectiveCost: "1.8" }, check: { isPassed: true } });
    expect((await server.get(`${path}&format=manifest`, VISION)).json()).toMatchObject({ rows: 0 });
    const rule = await server.get(`${path}&rule=flops`);
    expect([rule.statusCode, rule.body]).toEqual([400, expect.stringContaining("a rule of serving.rules: gpu-time")]);
    const table = await folder.call(["serving", SPAN, "--check", "--config", config]);
    expect(table).toMatchObject({ code: 2, stderr: expect.stringContaining("--check needs --format focus") as string });
  });

  const UNMATCHED = "gateways counted tokens of models that no engine of their cluster serves: openai/gpt-4o (1200)";

  test("is shown with the models of gateways that no engine serves, for the whole alone", async () => {
    const unmatched = [{ cluster: "default", model: "openai/gpt-4o", tokens: "1200" }];
    expect((await read("by=model")).unmatched).toEqual(unmatched);
    expect((await read("where=model%3Dm")).unmatched).toEqual([]);
    expect((await read("", VISION)).unmatched).toEqual([]);
    const json = await folder.call(["serving", SPAN, "--format", "json", "--config", config]);
    expect(JSON.parse(json.stdout)).toMatchObject({ unmatched });
    expect((await server.get(`/serving?span=${SPAN}`)).body).toContain(UNMATCHED);
    expect((await server.get(`/serving?span=${SPAN}`, VISION)).body).not.toContain("gpt-4o");
  });

  test("is shown only to those who see the team", async () => {
    expect(await read("", VISION)).toMatchObject({ rows: [], total: { cost: "0" } });
    expect(await read("", { name: "chat's", role: "viewer", teams: ["chat"] })).toMatchObject({
      total: { cost: "7.2" },
    });
  });

  test("is printed as a table whose columns add up", async () => {
    const { code, stdout } = await folder.call(["serving", SPAN, "--by", "tenant", "--config", config]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `serving in ${SPAN} under the policy default, split by gpu-time: 7.2 USD for 2 GPU-hours
a million tokens: 54.545454545 USD, of which 27.272727273 USD for time of work
gateways charged 1.5 USD, 5.7 USD less than the cost
${UNMATCHED}

tenant         USD  prefill  decode  idle  prompt tokens  cached  generated  per million tokens  while busy
–             3.60     0.00    0.00  3.60              0       0          0                   –           –
t1            1.80     0.45    1.35  0.00          60000       0       6000               27.27       27.27
t0            1.20     0.30    0.90  0.00          40000       0       4000               27.27       27.27
unattributed  0.60     0.15    0.45  0.00          20000       0       2000               27.27       27.27
total         7.20     0.90    2.70  3.60         120000       0      12000               54.55       27.27
`,
    });
    const wrong = await folder.call(["serving", "--rule", "flops", "--config", config]);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      "gpu-ledger: --rule flops: must be a rule of serving.rules: gpu-time\n",
    ]);
  });

  test("is explained down to the scrapes of pages and to lines of GPUs", async () => {
    const { code, stdout, stderr } = await folder.call(["serving", SPAN, "--explain", "--config", config]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").slice(3)).toEqual([
      "7.2 USD ÷ (120000 computed + 12000 generated tokens) × 1,000,000 = 54.545454545 USD",
      "",
      "2026-03-02T08:00:00Z, default/chat/llm: 7.2 USD: prefill 0.9 (by time), decode 2.7 (by time), idle 3.6",
      "",
      "pod    program  scrapes  failed  served s  covered s  idle s  resets  prompt  generated  last scrape",
      "llm-0  vllm         240       0      3600       3600    1800       0  120000      12000  2026-03-02T08:59:45Z",
      "",
      "pod    GPU model              GPU-hours  USD  price                         gpu-ledger explain",
      "llm-0  NVIDIA-A100-SXM4-40GB          1  3.6  NVIDIA-A100* from 2026-01-01  default/gpu-a/0@2026-03-02T08:00:00Z",
      "llm-1  NVIDIA-A100-SXM4-40GB          1  3.6  NVIDIA-A100* from 2026-01-01  default/gpu-a/1@2026-03-02T08:00:00Z",
      "",
    ]);
    const asked = async (as?: Viewer) => {
      const answer = await server.get(`/api/v1/serving/explain?span=${SPAN}`, as);
      return servingExplanationSchema.parse(answer.json());
    };
    const { hours } = await asked();
    expect(hours[0]).toMatchObject({
      cost: "7.2",
      pages: [{ target: "http://10.0.0.1:8000/metrics", increases: { prefill_us: 120_000_000, requests_stop: 120 } }],
      gpus: [{ node: "gpu-a", gpu: 0 }, { gpu: 1 }],
    });
    expect((await asked(VISION)).hours).toEqual([]);
  });

  test("has a page of all models, of a model and of a tenant", async () => {
    const page = async (query = ""): Promise<string> => {
      const { statusCode, body } = await server.get(`/serving?span=${SPAN}${query}`);
      expect(statusCode).toBe(200);
      return body
        .replaceAll(/<(figure|svg)[\s\S]*?<\/\1>/g, "")
        .replaceAll(/<[^>]+>/g, " ")
        .replaceAll(/\s+/g, " ");
    };
    const all = await page();
    expect(all).toContain("The cost of inference");
    expect(all).toContain("Cost of a million tokens 54.5455 27.2727 for time of work");
    expect(all).toContain("Price of the gateways 1.50 5.70 USD less than the cost");
    expect(all).toContain("By model (USD)");
    expect(all).toContain("m 7.20 3.60 120,000 0 12,000 54.5455 27.2727");
    expect(all).toContain("default chat llm NVIDIA-A100-SXM4-40GB 7.20 3.60");
    const ofTenant = await page("&model=m&tenant=t1");
    expect(ofTenant).toContain("m, t1");
    expect(ofTenant).not.toContain("By tenant");
    expect(ofTenant).toContain("1.80 0.00 60,000 0 6,000 27.2727 27.2727");
    expect(await page("&model=unknown")).toContain("No charges of services");
  });

  test("refuses dimensions and rules that do not exist, with the ones that do", async () => {
    const wrong = await server.get(`/api/v1/serving?span=${SPAN}&by=state`);
    expect([wrong.statusCode, wrong.body]).toEqual([
      400,
      expect.stringContaining("is not one of: model, adapter, tenant"),
    ]);
    const rule = await server.get(`/api/v1/serving?span=${SPAN}&rule=flops`);
    expect([rule.statusCode, rule.body]).toEqual([400, expect.stringContaining("a rule of serving.rules: gpu-time")]);
  });
});
