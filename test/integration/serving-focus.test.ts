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
    expect(manifest.sums.EffectiveCost).toBe("28.4");
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
