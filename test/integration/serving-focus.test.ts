import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import type { Viewer } from "../../reports/access/viewer.ts";
import type { FocusManifest } from "../../reports/focus/manifest.ts";
import { exportServices } from "../../reports/focus/services.ts";
import { readSpan } from "../../reports/question/span.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { SETTING } from "../support/focus-parts.ts";
import { createReportsServer, FINANCE, type ReportsServer } from "../support/reports-server.ts";

const CONFIG = `policies: [{ name: default }]`;
const PLATFORM_PAYS = { payer: "platform", team: "platform", cost_center: "" };
type Row = Readonly<Record<string, string>>;

/** Returns a stored line of the service `chat/llm`: a GPU-hour of 4.00 that the team chat pays. */
const line = (hour: string, of: object): object => ({
  policy: "default",
  rule: "time",
  billing_period: "2026-03-01",
  corrects: "",
  hour: `${hour}:00:00.000Z`,
  cluster: "prod",
  namespace: "chat",
  workload_kind: "Deployment",
  workload: "llm",
  model: "m",
  adapter: "",
  tenant: "",
  phase: "decode",
  basis: "time",
  payer: "holder",
  team: "chat",
  cost_center: "7",
  project: "",
  environment: "",
  gpu_model: "NVIDIA-H100",
  gpu_hours: "1",
  list_cost: "5",
  contracted_cost: "4.5",
  effective_cost: "4",
  ...of,
});
const NOTHING = { list_cost: null, contracted_cost: null, effective_cost: null };

const QWEN = { workload: "qwen", model: "Qwen/Qwen3-32B", phase: "prefill" };

/** The lines of each published run: one for each hour. */
const RUNS: Readonly<Record<string, readonly object[]>> = {
  "2026-03-02T08": [
    line("2026-03-02T08", { tenant: "t1", generated_tokens: 600, requests: 6 }),
    line("2026-03-02T08", { tenant: "t2", generated_tokens: 200 }),
    line("2026-03-02T08", { phase: "idle", basis: "", ...PLATFORM_PAYS }),
    line("2026-03-02T08", { gpu_model: "NVIDIA-L4", gpu_hours: "0.5", effective_cost: "0.4", power_cost: "0.1" }),
  ],
  "2026-03-02T09": [
    line("2026-03-02T09", { tenant: "t2", generated_tokens: 100 }),
    // Tokens of time that no page covers have no time and no cost.
    line("2026-03-02T09", {
      tenant: "t2",
      gpu_hours: "0",
      ...NOTHING,
      phase: "inference",
      basis: "",
      generated_tokens: 7,
    }),
    // A model without a price.
    line("2026-03-02T09", { gpu_model: "NVIDIA-NEW", gpu_hours: "2", ...NOTHING }),
    line("2026-03-02T09", { workload: "other", model: "unattributed" }),
  ],
  "2026-03-03T00": [line("2026-03-03T00", { model: "" }), line("2026-03-03T00", { tenant: "unattributed" })],
  "2026-03-04T00": [
    line("2026-03-04T00", { ...QWEN, tenant: "t1", cached_tokens: 900, saved_cost: "1.8" }),
    line("2026-03-04T00", { ...QWEN, tenant: "t2", cached_tokens: 100, saved_cost: "0.2" }),
  ],
  // A correction of a closed hour of February: t1 pays less, and t2 more.
  "2026-02-10T00": [
    line("2026-02-10T00", {
      corrects: "a",
      tenant: "t1",
      gpu_hours: "-0.5",
      list_cost: "-2.5",
      contracted_cost: "-2.25",
      effective_cost: "-2",
    }),
    line("2026-02-10T00", {
      corrects: "a",
      tenant: "t2",
      gpu_hours: "0.5",
      list_cost: "2.5",
      contracted_cost: "2.25",
      effective_cost: "2",
    }),
  ],
};

describe("FOCUS of services", () => {
  let store: StoreClient;
  let server: ReportsServer;
  beforeAll(async () => {
    store = await createTestDatabase("serving_focus");
    for (const [hour, lines] of Object.entries(RUNS)) {
      const windowStart = Date.parse(`${hour}:00:00Z`);
      const run = { cluster: "prod", windowStart, runId: newRunId(), generation: 1, watermark: new Map() };
      await store.insertJson(
        "serving_charges",
        lines.map((each) => ({ run_id: run.runId, ...each })),
      );
      const content = { scrapes: 0, rows: lines.length, hash: "0" };
      await publishRun(store, "charge", { ...run, publishedAt: windowStart + HOUR_MILLIS }, content);
    }
    server = await createReportsServer(store, Date.UTC(2026, 3, 2), `${CONFIG}\nserving: { rules: [time] }`);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  async function ask(query: string, as: Viewer = FINANCE): Promise<{ rows: readonly Row[]; manifest: FocusManifest }> {
    const path = `/api/v1/serving/focus?check=true&${query}`;
    const [file, manifest] = [await server.get(path, as), await server.get(`${path}&format=manifest`, as)];
    expect([file.statusCode, manifest.json<FocusManifest>().check]).toEqual([
      200,
      { isPassed: true, count: 0, violations: [] },
    ]);
    return { rows: parse<Row>(file.body, { columns: true, record_delimiter: "\r\n" }), manifest: manifest.json() };
  }
  const ratioOf = (row: Row): string =>
    /"AllocatedRatio":([\d.]+)/.exec(row["AllocatedMethodDetails"] ?? "")?.[1] ?? "";
  const seen = (rows: readonly Row[], ...names: readonly string[]) => rows.map((row) => names.map((name) => row[name]));

  it("has the days, models of GPUs and payers of a service as origins and parts, with the tokens of unmeasured time", async () => {
    const { rows, manifest } = await ask("span=2026-03-02/2026-03-03&where=workload%3Dllm");
    expect(
      rows.map((row) => [
        row["x_GpuModel"],
        row["x_Phase"],
        row["x_Tenant"],
        row["SubAccountId"],
        row["EffectiveCost"],
        ratioOf(row),
      ]),
    ).toEqual([
      ["NVIDIA-H100", "decode", "t1", "chat", "4", "0.25"],
      ["NVIDIA-H100", "decode", "t2", "chat", "8", "0.5"],
      ["NVIDIA-H100", "idle", "", "platform", "4", "0.25"],
      ["NVIDIA-H100", "inference", "t2", "chat", "0", "0"],
      ["NVIDIA-L4", "decode", "", "chat", "0.4", "1"],
    ]);
    expect(seen(rows, "x_GeneratedTokens", "x_Lines")).toEqual([
      ["600", "1"],
      ["300", "2"],
      ["0", "1"],
      ["7", "1"],
      ["0", "1"],
    ]);
    expect(rows[0]).toMatchObject({
      ContractedUnitPrice: "4.5",
      ListUnitPrice: "5",
      ChargePeriodStart: "2026-03-02T00:00:00Z",
    });
    expect(rows[4]).toMatchObject({ AllocatedResourceId: "model:m", x_PowerCost: "0.1" });
    expect(manifest.unpriced).toEqual({ lines: 1, gpuHours: "2", teams: [{ team: "chat", lines: 1, gpuHours: "2" }] });
    expect(manifest.sums).toMatchObject({ EffectiveCost: "16.4", x_GpuHours: "4.5" });
  });

  it("has the ratios of the whole origin if a condition leaves out some parts, also of other hours", async () => {
    const { rows } = await ask("span=2026-03-02/2026-03-03&where=tenant%3Dt1");
    expect(rows.map((row) => [row["EffectiveCost"], ratioOf(row), row["ContractedUnitPrice"]])).toEqual([
      ["4", "0.25", "4.5"],
    ]);
  });

  it("has no ratio for a viewer of some teams, from whom it hides the sums of others", async () => {
    const chat = await ask("span=2026-03-02/2026-03-03&where=workload%3Dllm", {
      name: "a",
      role: "viewer",
      teams: ["chat"],
    });
    expect(seen(chat.rows, "SubAccountId", "AllocatedMethodDetails")).toEqual(chat.rows.map(() => ["chat", ""]));
    expect(chat.rows).toHaveLength(4);
  });

  it("has no receiver for tokens of nobody and of no model, and a model may be named unattributed", async () => {
    const { rows } = await ask("span=2026-03-02/2026-03-04&where=tenant%3D,unattributed&where=phase%3Ddecode");
    expect(seen(rows, "ChargePeriodStart", "x_Workload", "x_Model", "x_Tenant", "AllocatedResourceId")).toEqual([
      ["2026-03-02T00:00:00Z", "llm", "m", "", "model:m"],
      ["2026-03-02T00:00:00Z", "other", "unattributed", "", "model:unattributed"],
      ["2026-03-03T00:00:00Z", "llm", "", "", ""],
      ["2026-03-03T00:00:00Z", "llm", "m", "unattributed", ""],
    ]);
  });

  it("has only the asked part of a day in a showback, and whole days in a chargeback, with corrections without ratios", async () => {
    const { rows: part } = await ask("span=2026-03-02T09:00Z/2026-03-03T01:00Z&where=workload%3Dllm");
    expect(seen(part, "ChargePeriodStart", "ChargePeriodEnd", "EffectiveCost")).toEqual([
      ["2026-03-02T09:00:00Z", "2026-03-03T00:00:00Z", "4"],
      ["2026-03-02T09:00:00Z", "2026-03-03T00:00:00Z", "0"],
      ["2026-03-03T00:00:00Z", "2026-03-03T01:00:00Z", "4"],
      ["2026-03-03T00:00:00Z", "2026-03-03T01:00:00Z", "4"],
    ]);
    const { rows, manifest } = await ask("span=2026-03&kind=chargeback");
    const corrections = rows.filter((row) => row["ChargeClass"] === "Correction");
    expect(
      seen(
        corrections,
        "ChargePeriodStart",
        "BillingPeriodStart",
        "EffectiveCost",
        "AllocatedMethodDetails",
        "AllocatedResourceId",
      ),
    ).toEqual([
      ["2026-02-10T00:00:00Z", "2026-03-01T00:00:00Z", "-2", "", "tenant:t1"],
      ["2026-02-10T00:00:00Z", "2026-03-01T00:00:00Z", "2", "", "tenant:t2"],
    ]);
    expect(corrections[0]).toMatchObject({ ContractedUnitPrice: "4.5", ConsumedQuantity: "-0.5" });
    expect(manifest.sums.EffectiveCost).toBe("36.4");
  });

  it("has in 1.4 the same rows without the names that 1.4 has removed", async () => {
    const [before, after] = [await ask("span=2026-03"), await ask("span=2026-03&focusVersion=1.4")];
    const gone = ["ProviderName", "PublisherName"];
    const without = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([name]) => !gone.includes(name)));
    expect(after.rows).toMatchObject(before.rows.map(without));
    expect(gone.filter((name) => Object.hasOwn(after.rows[0]!, name))).toEqual([]);
    expect([before.manifest.focusVersion, after.manifest.focusVersion]).toEqual(["1.3", "1.4"]);
    expect(after.manifest.sums).toEqual(before.manifest.sums);
  });

  describe("with the columns of 1.5", () => {
    const DRAFT = "focusVersion=1.4&focusDraft=1.5";

    it("has an origin for each model, whose keys are in the price, and the tenant as the principal", async () => {
      const { rows, manifest } = await ask(`span=2026-03-02/2026-03-03&where=workload%3Dllm&${DRAFT}`);
      const llm = rows.filter((row) => row["SkuMeter"] !== "Input Cache");
      expect(
        seen(llm, "x_GpuModel", "x_Model", "SkuId", "PrincipalId", "SkuPriceDetails").map((row) => row.slice(1)),
      ).toEqual([
        ["m", "service/NVIDIA-H100/m", "t1", '{"ModelId":"m"}'],
        ["m", "service/NVIDIA-H100/m", "t2", '{"ModelId":"m"}'],
        ["m", "service/NVIDIA-H100/m", "", '{"ModelId":"m"}'],
        ["m", "service/NVIDIA-H100/m", "t2", '{"ModelId":"m"}'],
        ["m", "service/NVIDIA-L4/m", "", '{"ModelId":"m"}'],
      ]);
      expect(manifest).toMatchObject({ focusVersion: "1.4", focusDraft: "1.5", check: { isPassed: true } });
      expect(manifest.sums).toMatchObject({ EffectiveCost: "16.4", x_GpuHours: "4.5" });
    });

    it("has cached tokens as a meter of their own, which costs nothing", async () => {
      const { rows, manifest } = await ask(`span=2026-03-04&${DRAFT}`);
      expect(seen(rows, "SkuMeter", "SkuId", "x_Tenant", "EffectiveCost", "ConsumedQuantity", "ConsumedUnit")).toEqual([
        ["GPU time of inference services", "service/NVIDIA-H100/Qwen%2FQwen3-32B", "t1", "4", "1", "GPU-Hours"],
        ["GPU time of inference services", "service/NVIDIA-H100/Qwen%2FQwen3-32B", "t2", "4", "1", "GPU-Hours"],
        ["Input Cache", "service/NVIDIA-H100/Qwen%2FQwen3-32B/Input%20Cache", "t1", "0", "900", "Tokens"],
        ["Input Cache", "service/NVIDIA-H100/Qwen%2FQwen3-32B/Input%20Cache", "t2", "0", "100", "Tokens"],
      ]);
      expect(rows.map((row) => [row["x_CachedTokens"], row["x_CachedSaving"], row["x_Lines"], ratioOf(row)])).toEqual([
        ["0", "0", "1", "0.5"],
        ["0", "0", "1", "0.5"],
        ["900", "1.8", "0", "0.9"],
        ["100", "0.2", "0", "0.1"],
      ]);
      expect(rows.map((row) => row["SkuPriceDetails"])).toEqual(
        rows.map(() => '{"ModelDeveloper":"Qwen","ModelId":"Qwen/Qwen3-32B"}'),
      );
      expect(manifest.sums).toMatchObject({ EffectiveCost: "8", x_GpuHours: "2", x_Lines: "2" });
    });

    it("is refused with 1.3, in a sentence", async () => {
      const answer = await server.get("/api/v1/serving/focus?span=2026-03&focusVersion=1.3&focusDraft=1.5");
      expect(answer.statusCode).toBe(400);
      expect(answer.json<{ detail: string }>().detail).toBe(
        "focusDraft: the columns of 1.5 come with version 1.4, not with 1.3",
      );
    });
  });

  it("is the same file whatever the number of lines in one query, and Parquet has as many rows", async () => {
    const { span } = readSpan("2026-03", Date.UTC(2026, 3, 2)) as {
      readonly span: { name: string; from: number; until: number };
    };
    const question = { policy: "default", rule: "time", kind: "chargeback", span, where: [] } as const;
    const fileOf = async (linesAtOnce: number): Promise<string> => {
      const parts: Uint8Array[] = [];
      const { bytes } = await exportServices(store, question, SETTING, { format: "csv", isChecked: true, linesAtOnce });
      for await (const part of bytes) parts.push(part);
      return Buffer.concat(parts).toString();
    };
    expect(await fileOf(1)).toBe(await fileOf(50_000));
    const parquet = await server.get("/api/v1/serving/focus?span=2026-03&kind=chargeback&format=parquet");
    expect([parquet.statusCode, parquet.rawPayload.subarray(0, 4).toString()]).toEqual([200, "PAR1"]);
  });
});
