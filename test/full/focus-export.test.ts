import { FOCUS_VERSIONS } from "../../domain/focus-version.ts";
import { existsSync, readFileSync } from "node:fs";
import { query } from "chdb";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chargeBeside, type Charge } from "../../domain/charge/charge.ts";
import { amountOf, difference, formatAmount, lastUnits, sum } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import { exportFocus } from "../../reports/focus/export.ts";
import type { FocusManifest } from "../../reports/focus/manifest.ts";
import { planFocus } from "../../reports/focus/plan.ts";
import { readOrigins } from "../../reports/focus/read-origins.ts";
import { LinesReplacedError } from "../../reports/lines/fixed.ts";
import type { Measures } from "../../reports/report/report.ts";
import { readPeriod } from "../../domain/period.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder, type CommandOutcome } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { FOCUS_POLICIES, playFocusFleet } from "../support/focus-fleet.ts";
import { SETTING } from "../support/focus-parts.ts";
import { createTestDatabase } from "../support/database.ts";

type Row = Readonly<Record<string, string>>;

const ASKED = [
  { span: "2026-03", kind: "chargeback", policy: "shared" },
  { span: "2026-03", kind: "chargeback", policy: "plain" },
  { span: "2026-04", kind: "chargeback", policy: "shared" },
  { span: "2026-03", kind: "showback", policy: "shared" },
  { span: "2026-03-31T22:00Z/2026-04-01T01:00Z", kind: "showback", policy: "plain" },
];
/** Columns with the same value in all rows of an origin. */
const ORIGIN = [
  "BillingPeriodStart",
  "ChargeClass",
  "ChargePeriodStart",
  "ResourceId",
  "SkuPriceId",
  "x_PricedSince",
  "x_InvoiceStatus",
];

function originsIn(rows: readonly Row[]): readonly (readonly Row[])[] {
  const origins = new Map<string, Row[]>();
  for (const row of rows) {
    const key = JSON.stringify(ORIGIN.map((name) => row[name]));
    origins.set(key, [...(origins.get(key) ?? []), row]);
  }
  return [...origins.values()];
}

describe("a FOCUS export", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let config: string;
  let store: StoreClient;

  beforeAll(async () => {
    folder = createCommandFolder();
    const { username, password } = embedded.user;
    config = folder.write("gpu-ledger.yaml", {
      policies: FOCUS_POLICIES,
      store: { kind: "clickhouse", database: "focus", clickhouse: { url: embedded.url, username, password } },
      focus: { hostProvider: "AWS" },
    });
    store = await createTestDatabase("focus");
    await playFocusFleet(store);
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  const run = (span: string, ...args: readonly string[]): Promise<CommandOutcome> =>
    folder.call(["report", span, "--format", "focus", ...args, "--config", config]);
  const rowsIn = (text: string): readonly Row[] => parse<Row>(text, { columns: true, record_delimiter: "\r\n" });
  const sumOf = (rows: readonly Row[], column: string): string =>
    formatAmount(sum(rows.map((row) => amountOf(row[column] || "0"))));
  const question = { policy: "shared", kind: "chargeback", span: readPeriod("2026-04")!, where: [] } as const;

  /** Books charges of one hour, as the ledger publishes them. */
  async function book(windowStart: number, charges: readonly Charge[]): Promise<void> {
    const { cluster, fromMillis } = charges[0]!;
    const booking = { cluster, windowStart, runId: newRunId(), generation: 1 };
    const at = new Date(fromMillis);
    const billingPeriod = Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);
    await insertCharges(store, { run: booking.runId, policy: "shared", billingPeriod }, charges);
    const published = { ...booking, watermark: new Map<number, number>(), publishedAt: windowStart };
    await publishRun(store, "charge", published, { scrapes: 0, rows: charges.length, hash: "0" });
  }

  const asked = FOCUS_VERSIONS.flatMap((version) => ASKED.map((each) => ({ ...each, version })));
  describe.each(asked)("of $span as a $kind under $policy in $version", ({ span, kind, policy, version }) => {
    const args = ["--kind", kind, "--policy", policy];
    let rows: readonly Row[];
    let manifest: FocusManifest;
    let outcome: CommandOutcome;

    beforeAll(async () => {
      const file = `${folder.path}/focus.csv`;
      outcome = await run(span, ...args, "--focus-version", version, "--check", "--out", file);
      rows = rowsIn(readFileSync(file, "utf8"));
      manifest = JSON.parse(readFileSync(`${file}.manifest.json`, "utf8")) as FocusManifest;
    });

    it("adds up to the report, to the last digit, as its manifest records", async () => {
      const { stdout } = await folder.call(["report", span, ...args, "--format", "json", "--config", config]);
      const { total } = (JSON.parse(stdout) as { reports: [{ total: Measures }] }).reports[0];
      const sums = {
        ListCost: total.list,
        ContractedCost: total.contracted,
        EffectiveCost: total.cost,
        x_GpuHours: formatAmount(difference(amountOf(total.gpuHours), amountOf(total.unpricedGpuHours))),
        x_Lines: String(total.lines - manifest.unpriced.lines),
      };
      expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(rows.length).toBeGreaterThan(10);
      expect(Object.fromEntries(Object.keys(sums).map((column) => [column, sumOf(rows, column)]))).toEqual(sums);
      expect(manifest).toMatchObject({
        focusVersion: version,
        dataset: "CostAndUsage",
        policy,
        kind,
        currency: "USD",
        rows: rows.length,
        sums: { ...sums, BilledCost: "0" },
        check: { isPassed: true, count: 0, violations: [] },
        runsHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
    });

    it("has unpriced time in its manifest alone", () => {
      expect(rows.some((row) => row["x_Node"] === "gpu-c")).toBe(false);
      // n-1 holds the only GPU of gpu-c all the time.
      const hours = { "2026-03": "3", "2026-04": "2" }[span] ?? "3";
      expect(manifest.unpriced).toMatchObject({ gpuHours: hours, teams: [{ team: "nlp", gpuHours: hours }] });
    });

    it("has ratios that sum to 1 over each origin, and its unit prices", () => {
      let shared = 0;
      for (const parts of originsIn(rows)) {
        const ratios = parts.flatMap(
          (row) => /"AllocatedRatio":([\d.]+)/.exec(row["AllocatedMethodDetails"]!)?.[1] ?? [],
        );
        const isSplit = parts.every((row) => row["ChargeClass"] === "" && row["ChargeCategory"] === "Usage");
        expect(ratios.length).toBe(isSplit ? parts.length : 0);
        if (!isSplit) continue;
        expect(ratios.reduce((total, ratio) => total + BigInt(Math.round(Number(ratio) * 1e15)), 0n)).toBe(10n ** 15n);
        const hasPower = parts[0]!["x_Node"] === "dgx-1";
        expect(hasPower || new Set(parts.map((row) => row["ContractedUnitPrice"])).size === 1).toBe(true);
        if (parts.length > 1) shared += 1;
      }
      expect(shared).toBeGreaterThan(0);
    });
  });

  it("has changes after the close as corrections, with the days that they correct", async () => {
    const rows = rowsIn((await run("2026-04", "--kind", "chargeback")).stdout);
    const corrections = rows.filter((row) => row["ChargeClass"] === "Correction");
    expect(new Set(rows.map((row) => row["BillingPeriodStart"]))).toEqual(new Set(["2026-04-01T00:00:00Z"]));
    expect(new Set(corrections.map((row) => row["ChargePeriodStart"]))).toEqual(new Set(["2026-03-31T00:00:00Z"]));
    // An hour and a half of GPU 1 of gpu-b belonged to n-2, at 32.77 × 0.9 ÷ 3 = 9.831, and had been spread over vision and nlp.
    const moved = corrections.filter((row) => row["ResourceId"] === "default/gpu-b/1");
    expect(moved.map((row) => [row["AllocatedResourceName"], row["PricingQuantity"], row["ListUnitPrice"]])).toEqual([
      ["nlp/n-2", "1.5", "9.831"],
      ["nlp", "-0.525", "9.831"],
      ["vision", "-0.975", "9.831"],
    ]);
    // Only the effective price of gpu-a has changed, 1.0131 to 1.02 for 3 GPU-hours of each GPU: no quantity, and no unit price.
    const repriced = corrections.filter((row) => row["x_Node"] === "gpu-a");
    expect(sumOf(repriced, "EffectiveCost")).toBe("0.0414");
    expect(new Set(repriced.map((row) => row["SkuPriceId"]))).toEqual(new Set([""]));
  });

  it("has rows for costs of no node, of a node's rest, of a month, and of a team's payments for others", async () => {
    const rows = rowsIn((await run("2026-03", "--kind", "chargeback")).stdout);
    const of = (state: string) => rows.filter((row) => row["x_State"] === state);
    // 9.99 an hour from 22:30 on, of which gpu-a's two GPUs take up 2.0262 an hour.
    expect(of("unused commitment")).toMatchObject([
      {
        ResourceId: "",
        ConsumedQuantity: "1.5",
        ConsumedUnit: "Hours",
        PricingCategory: "Committed",
        EffectiveCost: "11.9457",
      },
    ]);
    // A tenth of 32.77 an hour.
    expect(of("non-gpu")).toMatchObject([
      {
        ResourceId: "default/gpu-b",
        ResourceType: "Node",
        PricingQuantity: "3",
        PricingUnit: "Node-Hours",
        ListUnitPrice: "3.277",
      },
    ]);
    expect(of("true-up")).toMatchObject([
      {
        ChargeCategory: "Adjustment",
        ChargePeriodStart: "2026-03-01T00:00:00Z",
        ChargePeriodEnd: "2026-04-01T00:00:00Z",
        AllocatedResourceId: "team:vision",
      },
    ]);
    expect(of("markup").map((row) => [row["SubAccountId"], row["AllocatedResourceId"]])).toEqual([
      ["nlp", "team:nlp"],
      ["platform", ""],
    ]);
    // A spread row names the team. In the hour without a holder on dgx-1 the cost stays the platform's.
    const remainder = of("unallocated").filter((row) => row["AllocatedResourceId"] !== `team:${row["SubAccountId"]}`);
    expect(remainder).toMatchObject([
      { x_Node: "dgx-1", x_Because: "nobody", SubAccountId: "platform", AllocatedResourceId: "", x_GpuHours: "1" },
    ]);
    expect(rows.every((row) => row["HostProviderName"] === "AWS" && row["AllocatedMethodId"] === "shared")).toBe(true);
  });

  it("has separate prices if power makes them differ within a day", async () => {
    const rows = rowsIn((await run("2026-03", "--kind", "chargeback")).stdout);
    const ofOne = (pod: string) => rows.find((row) => row["x_Pod"] === pod && row["x_State"] === "active")!;
    const [cool, warm] = [ofOne("v-2"), ofOne("n-3")];
    expect(cool["SkuPriceId"]).toBe(warm["SkuPriceId"]);
    expect(Number(cool["ListUnitPrice"])).toBeLessThan(Number(warm["ListUnitPrice"]));
    for (const row of [cool, warm]) {
      expect(row).toMatchObject({ PricingQuantity: row["ConsumedQuantity"], PricingCategory: "Other" });
      expect(Number(row["x_PowerCost"])).toBeGreaterThan(0);
    }
  });

  it("of hours has charge periods within them", async () => {
    const rows = rowsIn((await run("2026-03-31T22:00Z/2026-04-01T01:00Z")).stdout);
    const periods = rows
      .filter((row) => row["x_State"] !== "true-up")
      .map((row) => `${row["ChargePeriodStart"]} ${row["ChargePeriodEnd"]}`);
    expect(new Set(periods)).toEqual(
      new Set(["2026-03-31T22:00:00Z 2026-04-01T00:00:00Z", "2026-04-01T00:00:00Z 2026-04-01T01:00:00Z"]),
    );
  });

  it("with a condition has some of the same rows, with the ratios of all, and passes the check", async () => {
    const [all, some] = [await run("2026-03"), await run("2026-03", "--where", "team=vision", "--check")];
    expect(some).toMatchObject({ code: 0 });
    expect(rowsIn(some.stdout)).toEqual(rowsIn(all.stdout).filter((row) => row["SubAccountId"] === "vision"));
    expect(some.stderr).toContain("the file passes every rule of the check");
    expect(all.stderr).toContain("without a price and therefore not in the file: 3 GPU-hours of 3 lines (nlp 3)");
  });

  it.each([1, 4])("is the same in portions of %s lines", async (linesAtOnce) => {
    const read = async (portion?: number): Promise<string> => {
      const way = {
        format: "csv" as const,
        isChecked: true,
        ...(portion === undefined ? {} : { linesAtOnce: portion }),
      };
      let text = "";
      for await (const part of (await exportFocus(store, question, SETTING, way)).bytes)
        text += Buffer.from(part).toString();
      return text;
    };
    expect(await read(linesAtOnce)).toBe(await read());
  });

  it("fails if lines are dropped meanwhile, instead of being shorter", async () => {
    const plan = await planFocus(store, question);
    const readAll = async (): Promise<void> => {
      const fixed = { ...plan.fixed, runs: plan.fixed.runs.slice(1) };
      for await (const _ of readOrigins(store, { ...plan, fixed })) void _;
    };
    await expect(readAll()).rejects.toBeInstanceOf(LinesReplacedError);
  });

  it("is the same as Parquet, with decimals that another program sums to the same", async () => {
    const file = `${folder.path}/focus.parquet`;
    const args = ["report", "2026-04", "--kind", "chargeback", "--config", config];
    const { code } = await folder.call([...args, "--format", "focus-parquet", "--check", "--out", file]);
    expect(code).toBe(0);
    const { rows, sums } = JSON.parse(readFileSync(`${file}.manifest.json`, "utf8")) as FocusManifest;
    const read = query(
      `SELECT toUInt32(count()) AS rows, toString(sum(row.EffectiveCost)) AS cost, toString(sum(row.x_GpuHours)) AS hours,
         toString(min(row.ChargePeriodStart), 'UTC') AS first, any(toTypeName(row.PricingQuantity)) AS type,
         toUInt32(countIf(row.ChargeClass IS NULL)) AS charges
       FROM file('${file}', Parquet) AS row`,
      "JSONEachRow",
    );
    const inCsv = rowsIn((await run("2026-04", "--kind", "chargeback")).stdout);
    expect(JSON.parse(read)).toEqual({
      rows,
      cost: sums.EffectiveCost,
      hours: sums.x_GpuHours,
      first: "2026-03-31 00:00:00.000",
      type: "Nullable(Decimal(38, 18))",
      charges: inCsv.filter((row) => row["ChargeClass"] === "").length,
    });
    const columns = query(`DESCRIBE file('${file}', Parquet)`, "JSONEachRow").trimEnd().split("\n");
    expect(columns.map((column) => (JSON.parse(column) as { name: string }).name)).toEqual(Object.keys(inCsv[0]!));
    expect(
      await folder.call([...args, "--format", "focus-parquet", "--where", "team=none", "--out", file]),
    ).toMatchObject({
      code: 0,
    });
    expect(query(`SELECT toUInt32(count()) AS rows FROM file('${file}', Parquet)`, "JSONEachRow")).toBe('{"rows":0}\n');
  });

  it("has only a header if there are no lines", async () => {
    const { code, stdout, stderr } = await run("2025-01", "--check");
    expect({ code, lines: stdout.split("\r\n").length }).toEqual({ code: 0, lines: 2 });
    expect(stderr).toBe("0 rows: 0 USD, 0 GPU-hours\nthe file passes every rule of the check\n");
  });

  const charge = (team: string, fromMillis: number, given: Partial<Charge>): Charge => {
    const one = lastUnits<"currency">(3_000_000_000n);
    const beside = { fromMillis, untilMillis: fromMillis + 3_600_000, cluster: "hostile", node: team, slot: 0, team };
    const costs = { list: one, contracted: one, effective: one };
    return {
      ...chargeBeside({ ...beside, state: "active", payer: "holder", costs, ...given }, { price: "prices[0]" }),
      gpuHours: lastUnits(1_000_000_000n),
      ...given,
    };
  };

  it("keeps hostile names, unchanged for programs", async () => {
    const names = [
      `=cmd|'/C calc'!A0`,
      `comma, "quote"`,
      "line\nbreak\r\n",
      "a\u202Egnp.exe",
      "🙂",
      "'; DROP TABLE charges; --",
    ];
    const may = Date.UTC(2026, 4, 1);
    await book(
      may,
      names.map((name) =>
        charge(name, may, {
          holder: {
            id: name,
            namespace: name,
            pod: name,
            workloadKind: name,
            workload: name,
            type: name,
            queue: name,
            priorityClass: name,
            labels: { [name]: name },
            attribution: "label",
            rawShare: "1",
            share: "1",
          },
        }),
      ),
    );
    const { code, stdout } = await run("2026-05", "--kind", "chargeback", "--check");
    expect(code).toBe(0);
    const rows = rowsIn(stdout);
    expect(new Set(rows.map((row) => row["SubAccountName"]))).toEqual(new Set(names));
    for (const row of rows) {
      const name = row["SubAccountId"]!;
      expect(row).toMatchObject({
        x_Pod: name,
        ResourceName: `${name} GPU 0`,
        AllocatedResourceName: `${name}/${name}`,
      });
      expect(JSON.parse(row["AllocatedTags"]!)).toMatchObject({ [name]: name, "gpu-ledger/workload": name });
    }
  });

  it("that violates a rule is reported with rule, row and column, and no file is written", async () => {
    const june = Date.UTC(2026, 5, 1);
    await book(june, [charge("vision", june, {}), charge("nlp", june, { gpuHours: lastUnits(0n) })]);
    const file = `${folder.path}/broken.csv`;
    const args = ["2026-06", "--kind", "chargeback", "--out", file] as const;
    const { code, stdout, stderr } = await run(...args, "--check");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("gpu-ledger: the file breaks rules of FOCUS, 2 times:");
    expect(stderr).toContain(
      "row 1 (2026-06-01T00:00:00Z hostile/nlp/0 nlp active), SkuPriceId: where ChargeCategory is Usage or Purchase and ChargeClass is null, the column is not null [priced-use]; found null",
    );
    expect([file, `${file}.manifest.json`, `${file}.unfinished`].map((name) => existsSync(name))).toEqual([
      false,
      false,
      false,
    ]);
    expect(await run(...args)).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(true);
  });

  it.each([
    { args: ["--lines"], why: "--format focus: lines are exported as csv, ndjson, parquet" },
    { args: ["--policy", "shared", "plain"], why: "--format focus exports only one policy" },
    { args: ["--out", "/nowhere/focus.csv"], why: "/nowhere/focus.csv cannot be written" },
  ])("is refused with a sentence: $why", async ({ args, why }) => {
    const { code, stdout, stderr } = await run("2026-03", ...args);
    expect({ isRefused: code !== 0, stdout }).toEqual({ isRefused: true, stdout: "" });
    expect(stderr).toContain(why);
  });

  it("is the only format with --check", async () => {
    const { code, stderr } = await folder.call(["report", "2026-03", "--check", "--config", config]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "gpu-ledger: --check needs --format focus\n",
    });
  });
});
