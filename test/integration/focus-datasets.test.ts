import { existsSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { query } from "chdb";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { ReferenceManifest } from "../../reports/focus/reference.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder, type CommandOutcome } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { FOCUS_COMMITMENTS, FOCUS_POLICIES, playFocusFleet } from "../support/focus-fleet.ts";
import { HAS_FOCUS_MODEL, objectSchema } from "../support/focus-model.ts";
import { createReportsServer, FINANCE, type ReportsServer } from "../support/reports-server.ts";

type Row = Readonly<Record<string, string>>;

const COMMITMENT = "commitment/NVIDIA-L4%20from%202026-03-31T22%3A30%3A00Z";

/** March is closed with an invoice; April has corrections of March and is closed, too. */
describe("the datasets of FOCUS 1.4", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let config: string;
  let store: StoreClient;
  let costs: readonly Row[];

  const written = (focus: object): string => {
    const { username, password } = embedded.user;
    return folder.write("gpu-ledger.yaml", {
      policies: FOCUS_POLICIES,
      commitments: FOCUS_COMMITMENTS,
      store: { kind: "clickhouse", database: "focus_datasets", clickhouse: { url: embedded.url, username, password } },
      focus,
    });
  };
  const run = (...args: readonly string[]): Promise<CommandOutcome> => folder.call([...args, "--config", config]);
  const rowsIn = (text: string): readonly Row[] => parse<Row>(text, { columns: true, record_delimiter: "\r\n" });
  const sumOf = (rows: readonly Row[], column: string): string =>
    formatAmount(sum(rows.map((row) => amountOf(row[column] || "0"))));

  async function rowsOf(...args: readonly string[]): Promise<readonly Row[]> {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("passes every rule") as string });
    return rowsIn(stdout);
  }

  beforeAll(async () => {
    folder = createCommandFolder();
    config = written({ invoiceIssuer: "Platform Finance" });
    store = await createTestDatabase("focus_datasets");
    const books = await playFocusFleet(store);
    await books.settle(Date.UTC(2026, 4, 3));
    await books.close("2026-04", Date.UTC(2026, 4, 3));
    const months = ["2026-03", "2026-04"].map((month) =>
      rowsOf("report", month, "--kind", "chargeback", "--format", "focus", "--focus-version", "1.4", "--check"),
    );
    costs = (await Promise.all(months)).flat();
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  it("are tied together: each id of Cost and Usage has its row", async () => {
    const details = await rowsOf("focus", "invoice-details");
    const periods = await rowsOf("focus", "billing-periods");
    const commitments = await rowsOf("focus", "contract-commitments");
    const idsOf = (rows: readonly Row[], ...names: readonly string[]): ReadonlySet<string> =>
      new Set(rows.map((row) => JSON.stringify(names.map((name) => row[name]))));
    const missing = (ids: ReadonlySet<string>, known: ReadonlySet<string>): readonly string[] =>
      [...ids].filter((id) => !known.has(id));
    const line = ["InvoiceId", "InvoiceDetailId", "InvoiceIssuerName", "BillingPeriodStart", "BillingPeriodEnd"];
    expect(missing(idsOf(costs, ...line), idsOf(details, ...line))).toEqual([]);
    const period = ["BillingPeriodStart", "BillingPeriodEnd", "InvoiceIssuerName"];
    for (const rows of [costs, details]) expect(missing(idsOf(rows, ...period), idsOf(periods, ...period))).toEqual([]);
    const discounts = costs.filter((row) => row["CommitmentDiscountId"] !== "");
    const applied = costs.flatMap((row) =>
      row["ContractApplied"] === "" ? [] : (JSON.parse(row["ContractApplied"]!) as { Elements: Row[] }).Elements,
    );
    const known = idsOf(commitments, "ContractCommitmentId");
    // The unused part in March, its correction, and the unused part in April.
    expect([discounts.length, applied.length]).toEqual([3, 3]);
    expect(missing(idsOf(discounts, "CommitmentDiscountId"), known)).toEqual([]);
    expect(missing(idsOf(applied, "ContractCommitmentId"), known)).toEqual([]);
    expect(missing(idsOf(applied, "ContractId"), idsOf(commitments, "ContractId"))).toEqual([]);
    expect(missing(idsOf(details, "ReferenceInvoiceId"), idsOf(details, "InvoiceId"))).toEqual([]);
  });

  it("have invoices that add up to the posted totals, and lines that add up to their charges", async () => {
    const details = await rowsOf("focus", "invoice-details");
    const posted = await store.query<{ readonly posted: string }>(
      "SELECT toString(sum(posted)) AS posted FROM closings WHERE kind = 'close'",
    );
    expect(sumOf(details, "BilledCost")).toBe(posted[0]!.posted);
    for (const month of ["2026-03", "2026-04"]) {
      const ofMonth = await rowsOf("focus", "invoice-details", month);
      expect(ofMonth).toEqual(details.filter((row) => row["BillingPeriodStart"] === `${month}-01T00:00:00Z`));
      const { stdout } = await run("statement", month, "--format", "json");
      const { statements } = JSON.parse(stdout) as { statements: { team: string; posted: string; hash: string }[] };
      for (const { team, posted: amount, hash } of statements) {
        const own = ofMonth.filter((row) => row["x_StatementHash"] === hash);
        expect({ team, sum: sumOf(own, "BilledCost") }).toEqual({ team, sum: amount });
      }
    }
    for (const detail of details) {
      const charges = costs.filter((row) => row["InvoiceDetailId"] === detail["InvoiceDetailId"]);
      expect(sumOf(charges, "BilledCost")).toBe(detail["x_EffectiveCost"]);
      // A cent for each line of the invoice at most.
      const difference = Number(detail["BilledCost"]) - Number(detail["x_EffectiveCost"]);
      expect(Math.abs(difference)).toBeLessThan(0.02);
    }
  });

  it("have the corrections of March as lines of April's invoices, which refer to March's", async () => {
    const details = await rowsOf("focus", "invoice-details", "2026-04");
    const lines = details.map((row) => [row["InvoiceDetailId"], row["ReferenceInvoiceId"], row["x_EffectiveCost"]]);
    // The corrections sum to 0.0207: six GPU-hours of gpu-a became 0.0069 dearer, and the commitment of their last three is unused by that less.
    expect(lines).toEqual([
      ["2026-04/nlp#2026-04", "2026-04/nlp", "10.977848148"],
      ["2026-04/nlp#2026-03", "2026-03/nlp", "10.304116875"],
      ["2026-04/platform#2026-04", "2026-04/platform", "36.101436951"],
      ["2026-04/platform#2026-03", "2026-03/platform", "-0.739591875"],
      ["2026-04/vision/4711#2026-04", "2026-04/vision/4711", "48.774048234"],
      ["2026-04/vision/4711#2026-03", "2026-03/vision/4711", "-9.543825"],
    ]);
    expect(details[0]).toMatchObject({
      BillingAccountId: "gpu-ledger",
      ChargeCategory: "Usage",
      InvoiceDetailCreated: "2026-05-03T00:00:00Z",
      InvoiceIssueStatus: "Issued",
      InvoiceIssuerName: "Platform Finance",
      PaymentDueDate: "",
      PaymentTerms: "Internal chargeback",
    });
  });

  it("have the closed months and the running one", async () => {
    const periods = await rowsOf("focus", "billing-periods");
    expect(periods.slice(0, 2)).toEqual([
      {
        BillingPeriodCreated: "2026-03-01T00:00:00Z",
        BillingPeriodEnd: "2026-04-01T00:00:00Z",
        BillingPeriodLastUpdated: "2026-04-03T00:00:00Z",
        BillingPeriodStart: "2026-03-01T00:00:00Z",
        BillingPeriodStatus: "Closed",
        InvoiceIssuerName: "Platform Finance",
      },
      {
        BillingPeriodCreated: "2026-04-01T00:00:00Z",
        BillingPeriodEnd: "2026-05-01T00:00:00Z",
        BillingPeriodLastUpdated: "2026-05-03T00:00:00Z",
        BillingPeriodStart: "2026-04-01T00:00:00Z",
        BillingPeriodStatus: "Closed",
        InvoiceIssuerName: "Platform Finance",
      },
    ]);
    expect(periods.at(-1)).toMatchObject({ BillingPeriodStatus: "Open" });
  });

  it("have the commitment of the price book, whose unused part has its id", async () => {
    const [row, ...others] = await rowsOf("focus", "contract-commitments");
    expect(others).toEqual([]);
    // 9.99 an hour for 275 days and an hour and a half.
    expect(row).toMatchObject({
      BillingCurrency: "USD",
      ContractCommitmentApplicability: '{"IsComplexScope":true,"x_Scope":{"model":"NVIDIA-L4"}}',
      ContractCommitmentCategory: "Spend",
      ContractCommitmentCost: "65948.985",
      ContractCommitmentDurationType: "276 Days",
      ContractCommitmentFulfillmentInterval: "Hourly",
      ContractCommitmentId: COMMITMENT,
      ContractCommitmentModel: "Continuous",
      ContractCommitmentPeriodEnd: "2027-01-01T00:00:00Z",
      ContractCommitmentPeriodStart: "2026-03-31T22:30:00Z",
      ContractCommitmentQuantity: "",
      ContractId: COMMITMENT,
    });
    const [unused] = costs.filter((each) => each["x_State"] === "unused commitment");
    expect(unused).toMatchObject({
      CommitmentDiscountCategory: "Spend",
      CommitmentDiscountId: COMMITMENT,
      CommitmentDiscountQuantity: "11.9457",
      CommitmentDiscountStatus: "Unused",
      CommitmentDiscountType: "Spend commitment",
      CommitmentDiscountUnit: "USD",
      ConsumedQuantity: "",
      ContractApplied: `{"Elements":[{"ContractId":"${COMMITMENT}","ContractCommitmentId":"${COMMITMENT}","ContractCommitmentAppliedCost":11.9457}]}`,
      PricingQuantity: "1.5",
      ResourceId: COMMITMENT,
      ResourceType: "Commitment",
    });
  });

  it.skipIf(!HAS_FOCUS_MODEL)("have ratios and commitments as the JSON schemas want them, in every row", () => {
    for (const [column, schema] of [
      ["AllocatedMethodDetails", "allocatedmethoddetails"],
      ["ContractApplied", "contractapplied"],
    ] as const) {
      const validate = new Ajv2020({ strict: false }).compile(objectSchema(schema));
      const values = costs.flatMap((row) => (row[column] === "" ? [] : [JSON.parse(row[column]!) as unknown]));
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect({ value, isValid: validate(value) }).toEqual({ value, isValid: true });
    }
  });

  it("have no invoices under another policy, and none of the columns in 1.3", async () => {
    const asFocus = ["--format", "focus", "--focus-version", "1.4", "--check"];
    const plain = await rowsOf("report", "2026-03", "--kind", "chargeback", "--policy", "plain", ...asFocus);
    expect(new Set(plain.map((row) => row["InvoiceId"]))).toEqual(new Set([""]));
    const before = await rowsOf("report", "2026-03", "--format", "focus", "--focus-version", "1.3", "--check");
    expect(Object.keys(before[0]!)).toEqual(expect.arrayContaining(["ProviderName", "PublisherName"]));
    expect(
      Object.keys(before[0]!).filter((name) => /^Invoice(Detail)?Id|^Contract(Applied)|^Commitment/.test(name)),
    ).toEqual([]);
    expect(Object.keys(costs[0]!)).not.toEqual(expect.arrayContaining(["ProviderName"]));
  });

  it("are files with manifests, as CSV and as Parquet", async () => {
    const file = `${folder.path}/invoices.parquet`;
    expect(await run("focus", "invoice-details", "--format", "parquet", "--out", file)).toMatchObject({ code: 0 });
    const manifest = JSON.parse(readFileSync(`${file}.manifest.json`, "utf8")) as ReferenceManifest;
    const details = await rowsOf("focus", "invoice-details");
    expect(manifest).toMatchObject({
      focusVersion: "1.4",
      dataset: "InvoiceDetail",
      period: null,
      rows: details.length,
      sums: { BilledCost: sumOf(details, "BilledCost") },
      check: { isPassed: true, count: 0, violations: [] },
    });
    const read = query(
      `SELECT toUInt32(count()) AS rows, toString(sum(BilledCost)) AS cost, any(toTypeName(InvoiceIssueDate)) AS type FROM file('${file}', Parquet)`,
      "JSONEachRow",
    );
    expect(JSON.parse(read)).toEqual({
      rows: details.length,
      cost: sumOf(details, "BilledCost"),
      type: "Nullable(DateTime64(3, 'UTC'))",
    });
  });

  it("need an issuer for invoices", async () => {
    const other = folder.write("other.yaml", { ...(JSON.parse(readFileSync(config, "utf8")) as object), focus: {} });
    const file = `${folder.path}/none.csv`;
    const { code, stderr } = await folder.call(["focus", "invoice-details", "--out", file, "--config", other]);
    expect({ code, stderr, exists: existsSync(file) }).toEqual({
      code: 1,
      stderr:
        "gpu-ledger: Invoice Detail needs focus.invoiceIssuer: without an issuer of invoices, statements are no invoices\n",
      exists: false,
    });
  });

  describe("over the API", () => {
    let server: ReportsServer;
    const vision = { name: "v", role: "viewer", teams: ["vision"] } as const;
    beforeAll(async () => {
      const keys = { policies: FOCUS_POLICIES, commitments: FOCUS_COMMITMENTS, focus: { invoiceIssuer: "F" } };
      server = await createReportsServer(store, Date.UTC(2026, 4, 10), JSON.stringify(keys));
    });
    afterAll(() => server.close());

    it("have only the statements of a viewer's teams, and the commitments only for viewers of all", async () => {
      const all = rowsIn((await server.get("/api/v1/focus/invoice-details?period=2026-03", FINANCE)).body);
      const own = await server.get("/api/v1/focus/invoice-details?period=2026-03", vision);
      expect(own.headers["content-disposition"]).toContain("focus-invoice-details-2026-03.csv");
      expect(rowsIn(own.body)).toEqual(all.filter((row) => row["x_Team"] === "vision"));
      expect(rowsIn(own.body)).toHaveLength(1);
      expect(await server.get("/api/v1/focus/contract-commitments", vision)).toMatchObject({ statusCode: 403 });
      expect(rowsIn((await server.get("/api/v1/focus/contract-commitments", FINANCE)).body)).toHaveLength(1);
      expect(rowsIn((await server.get("/api/v1/focus/billing-periods", vision)).body)).toHaveLength(3);
    });

    it("have manifests and Parquet, and problems for a wrong month", async () => {
      const manifest = await server.get("/api/v1/focus/billing-periods?format=manifest", FINANCE);
      expect(manifest.json()).toMatchObject({ dataset: "BillingPeriod", rows: 3, check: { isPassed: true } });
      const parquet = await server.get("/api/v1/focus/billing-periods?format=parquet", FINANCE);
      expect(parquet.rawPayload.subarray(0, 4).toString()).toBe("PAR1");
      expect(await server.get("/api/v1/focus/billing-periods?period=March", FINANCE)).toMatchObject({
        statusCode: 400,
      });
      const versions = await server.get("/api/v1/focus?span=2026-03&focusVersion=1.4&format=manifest", FINANCE);
      expect(versions.json()).toMatchObject({ focusVersion: "1.4", dataset: "CostAndUsage" });
    });

    it("have no invoices without an issuer", async () => {
      const other = await createReportsServer(store, Date.UTC(2026, 4, 10), "{}");
      expect(await other.get("/api/v1/focus/invoice-details", FINANCE)).toMatchObject({ statusCode: 422 });
      await other.close();
    });
  });
});
