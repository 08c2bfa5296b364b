import { readFileSync } from "node:fs";
import { query } from "chdb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Charge } from "../../domain/charge/charge.ts";
import { chargeBeside } from "../../domain/charge/charge.ts";
import { amountOf, formatAmount, lastUnits, sum } from "../../domain/exact/units.ts";
import { insertCharges } from "../../processors/ledger/charging/charge-inserts.ts";
import { newRunId, publishRun } from "../../processors/ledger/runs/runs.ts";
import { reportsCsv, reportsNdjson } from "../../reports/report/flat.ts";
import type { ReportQuestion } from "../../reports/question/question.ts";
import { readPeriods } from "../../reports/read/periods.ts";
import { readReport } from "../../reports/report/read-report.ts";
import type { Report } from "../../reports/report/report.ts";
import { readSpan, type Span } from "../../reports/question/span.ts";
import { reportsText } from "../../reports/report/table.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { groupLines, unpricedGpuHoursOf, type Bill } from "../../scenarios/bill.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { requirePart } from "../support/parts.ts";
import { createTestDatabase } from "../support/database.ts";
import { playAs, scenarioFiles } from "../support/play-ledger.ts";

const hasChromium = requirePart("chromium");
const PLAYED = [
  "by-usage.yaml",
  "energy-of-a-shared-gpu.yaml",
  "owners.yaml",
  "spread-over-node.yaml",
  "telemetry-gap.yaml",
  "unpriced.yaml",
];
const GROUPINGS = [
  [],
  ["team", "state"],
  ["namespace", "workload", "pod", "gpu"],
  ["gpuModel", "unpriced", "chargeDay"],
];

const spanOf = (text: string): Span => (readSpan(text, Date.now()) as { span: Span }).span;

describe("a report", () => {
  let folder: CommandFolder;
  const embedded = sharedStore();
  let store: StoreClient;
  const ask = (question: Partial<ReportQuestion>) =>
    readReport(
      store,
      { policy: "default", kind: "showback", span: spanOf("2026-03"), by: ["team"], where: [], ...question },
      { currency: "USD" },
    );

  /** Books charges of one hour, as the ledger publishes them. */
  async function book(windowStart: number, charges: readonly Charge[], publishedAt = windowStart): Promise<void> {
    const run = { cluster: charges[0]!.cluster, windowStart, runId: newRunId(), generation: 1 };
    await insertCharges(store, { run: run.runId, policy: "default", billingPeriod: Date.UTC(2026, 4, 1) }, charges);
    const published = { ...run, watermark: new Map<number, number>(), publishedAt };
    await publishRun(store, "charge", published, { scrapes: 0, rows: charges.length, hash: "0" });
  }

  beforeAll(async () => {
    store = await createTestDatabase("reports");
    folder = createCommandFolder();
  });
  afterAll(async () => {
    await folder.dispose();
    await store.close();
  });

  describe.each(PLAYED)("of the scenario %s", (name) => {
    const { scenario } = scenarioFiles().find(({ file }) => file === name)!;
    const { start, end } = scenario.period;
    const span = { name: "the scenario", from: start, until: end };
    let bills: ReadonlyMap<string, Bill>;

    beforeAll(async () => {
      ({ bills } = await playAs(store, name, scenario));
    });

    it.each(GROUPINGS.map((by) => ({ by })))(
      "has the groups of its bill, to the last digit, by $by",
      async ({ by }) => {
        for (const [policy, bill] of bills) {
          const where = [{ dimension: "cluster", values: [name] }];
          const report = await ask({ policy, span, by, where });
          const groups = groupLines(bill.lines, by).map(({ dimensions, gpuHours, cost, carbon }) => ({
            dimensions,
            gpuHours: formatAmount(gpuHours),
            cost: formatAmount(cost ?? lastUnits(0n)),
            carbonGrams: carbon === undefined ? null : formatAmount(carbon),
          }));
          const rows = report.rows.map(({ dimensions, gpuHours, cost, carbonGrams }) => ({
            dimensions,
            gpuHours,
            cost,
            carbonGrams,
          }));
          const key = ({ dimensions }: { dimensions: object }): string => JSON.stringify(dimensions);
          const inOrder = (a: { dimensions: object }, b: { dimensions: object }): number => (key(a) < key(b) ? -1 : 1);
          expect(rows.toSorted(inOrder)).toEqual(groups.toSorted(inOrder));
          expect(report.total).toMatchObject({
            cost: formatAmount(bill.total),
            unpricedGpuHours: formatAmount(unpricedGpuHoursOf(bill.lines)),
          });
        }
      },
    );
  });

  it("has the observed part of the held time, its cost by state, and the cost of each held and active hour", async () => {
    const where = [{ dimension: "cluster", values: ["telemetry-gap.yaml"] }];
    const { total } = await ask({ span: spanOf("2026-03-02"), by: [], where });
    // An hour at 7.20. Samples cover 2,790 s of it at an activity of one half.
    expect(total).toMatchObject({
      heldGpuHours: "1",
      activeGpuHours: "0.3875",
      states: { active: "2.79", idle: "2.79", unobserved: "1.62" },
      coverage: "0.775",
      costPerHeldGpuHour: "7.2",
      costPerActiveGpuHour: "18.580645161",
    });
  });

  it("compares with an equally long time before, and lists groups that have disappeared since", async () => {
    const may = Date.UTC(2026, 4, 1);
    const charge = (team: string, hour: number, cost: bigint): Charge => ({
      ...chargeBeside(
        {
          fromMillis: may + hour * 3_600_000,
          untilMillis: may + (hour + 1) * 3_600_000,
          cluster: "trend",
          state: "active",
          costs: { list: lastUnits(cost), contracted: lastUnits(cost), effective: lastUnits(cost) },
        },
        { price: "prices[0]" },
      ),
      payer: "holder",
      team,
    });
    await book(may, [charge("went", 0, 3_000_000_000n), charge("stays", 0, 1_000_000_000n)]);
    await book(may + 3_600_000, [charge("stays", 1, 1_500_000_001n), charge("came", 1, 2n)]);
    const report = await ask({
      span: spanOf("2026-05-01T01:00Z/2026-05-01T02:00Z"),
      where: [{ dimension: "cluster", values: ["trend"] }],
    });
    expect(report.comparedWith?.name).toBe("2026-05-01/2026-05-01T01:00Z");
    expect(
      report.rows.map(({ dimensions, cost, before, change }) => [dimensions["team"], cost, before, change]),
    ).toEqual([
      ["stays", "1.500000001", "1", "0.500000001"],
      ["came", "0.000000002", "0", "0.000000002"],
      ["went", "0", "3", "-3"],
    ]);
    expect(report.total).toMatchObject({ cost: "1.500000003", before: "4", change: "-2.499999997" });
    // Only two hours of the month are charged, so they are compared with two hours of the month before.
    const month = await ask({ span: spanOf("2026-05"), where: [{ dimension: "cluster", values: ["trend"] }] });
    expect(month.comparedWith?.name).toBe("2026-04-01/2026-04-01T02:00Z");
    expect(month.total).toMatchObject({ cost: "5.500000003", before: "0" });
  });

  it("keeps hostile names in their cells, for any reader", async () => {
    const hostile = [
      `'; DROP TABLE charges; --`,
      `<script>alert("x")</script>`,
      `=HYPERLINK("http://x","y")`,
      `../../etc/passwd`,
      `a\u202Egnp.exe`,
      `line\nbreak,comma"quote`,
      `{label0:String}`,
    ];
    const june = Date.UTC(2026, 5, 1);
    const one = {
      list: lastUnits<"currency">(1n),
      contracted: lastUnits<"currency">(1n),
      effective: lastUnits<"currency">(1n),
    };
    const charges = hostile.map((team) => ({
      ...chargeBeside(
        { fromMillis: june, untilMillis: june + 3_600_000, cluster: "hostile", state: "active", costs: one },
        { price: "prices[0]" },
      ),
      team,
    }));
    await book(june, charges);
    const span = spanOf("2026-06-01");
    const report = await ask({
      span,
      by: ["team", `label.it's`],
      where: [{ dimension: "cluster", values: ["hostile"] }],
    });
    expect(report.rows.map(({ dimensions }) => dimensions["team"]!).toSorted()).toEqual(hostile.toSorted());
    for (const team of hostile) {
      const { total } = await ask({ span, by: [], where: [{ dimension: "team", values: [team] }] });
      expect(total.cost).toBe("0.000000001");
    }
    expect(reportsCsv([report])).toContain(`"'=HYPERLINK(""http://x"",""y"")"`);
    const lines = reportsNdjson([report]).trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { team: string }).team).toSorted()).toEqual(hostile.toSorted());
    expect(reportsText([report])).not.toMatch(/\u202E|break,comma"quote\n/);
    expect(reportsText([report])).toContain("a?gnp.exe");
  });

  it("has the time of the last charges of the running hour, the same as the periods, and at most the end of the hour", async () => {
    const hour = Date.UTC(2026, 4, 20, 22);
    const running = { fromMillis: hour, untilMillis: hour + 1_500_000, cluster: "running", state: "active" } as const;
    const cost = lastUnits<"currency">(1n);
    const costs = { list: cost, contracted: cost, effective: cost };
    const charges = [chargeBeside({ ...running, costs }, { price: "prices[0]" })];
    const chargedUntil = async (): Promise<readonly unknown[]> => {
      const { chargedUntil: ofReport } = await ask({ span: spanOf("2026-05-20") });
      const periods = await readPeriods(store, { closingDay: 3, now: hour });
      return [ofReport, periods.find(({ period }) => period === "2026-05")?.chargedUntil];
    };
    await book(hour, charges, hour + 1_500_000);
    expect(await chargedUntil()).toEqual([hour + 1_500_000, "2026-05-20T22:25:00.000Z"]);
    expect(reportsText([await ask({ span: spanOf("2026-05-20") })])).toContain("charged until 2026-05-20T22:25Z");
    await book(hour, charges, hour + 3_700_000);
    expect(await chargedUntil()).toEqual([hour + 3_600_000, "2026-05-20T23:00:00.000Z"]);
  });

  it("is in the order of time if its rows are consecutive times", async () => {
    const { rows } = await ask({ span: spanOf("2026-05-01/2026-07-01"), by: ["chargeDay"] });
    expect(rows.map(({ dimensions }) => dimensions["chargeDay"])).toEqual(["2026-05-01", "2026-05-20", "2026-06-01"]);
  });

  it("has a note that nothing was charged if it is empty", async () => {
    const report = await ask({ span: spanOf("2020-01") });
    expect(report).toMatchObject({
      rows: [],
      chargedUntil: null,
      comparedWith: null,
      total: { cost: "0", coverage: null },
    });
    expect(reportsText([report])).toContain("no charges");
    expect(reportsCsv([report])).toMatch(/^policy,kind,from,until,team,currency,prices,gpuHours,/);
  });

  describe("the command report", () => {
    const run = (...args: readonly string[]) => {
      const { username, password } = embedded.user;
      const clickhouse = { url: embedded.url, username, password };
      const config = folder.write("gpu-ledger.yaml", {
        prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
        policies: [{ name: "default" }, { name: "by-usage", basis: "usage", keep: true }, { name: "unkept" }],
        store: { kind: "clickhouse", database: "reports", clickhouse },
      });
      return folder.call(["report", ...args, "--config", config]);
    };
    const gap = ["--where", "cluster=telemetry-gap.yaml"];

    it("prints a table after its remarks, or everything exactly as JSON, NDJSON and CSV", async () => {
      const { stdout, code } = await run("2026-03-02", "--by", "team,workload", ...gap);
      expect({ code, lines: stdout.split("\n") }).toEqual({
        code: 0,
        lines: [
          "showback of 2026-03-02 under the policy default: 7.2 USD for 1 GPU-hours, charged until 2026-03-02T03:00Z",
          "coverage: 77.5 % of the held time is observed",
          "",
          "team    workload  GPU-hours   USD  active  idle  unobserved  per held GPU-hour",
          "vision  train-0        1.00  7.20    2.79  2.79        1.62               7.20",
          "total                  1.00  7.20    2.79  2.79        1.62               7.20",
          "",
          "to explain a row: gpu-ledger explain --span 2026-03-02/2026-03-03 --where cluster=telemetry-gap.yaml team=… workload=… --policy default",
          "",
        ],
      });
      const json = JSON.parse((await run("2026-03-02", ...gap, "--format", "json")).stdout) as { reports: Report[] };
      expect(json.reports[0]).toMatchObject({ currency: "USD", total: { cost: "7.2" }, rows: [{ cost: "7.2" }] });
      expect((await run("2026-03-02", ...gap, "--format", "csv")).stdout).toContain(",vision,USD,book,1,1,0.3875,");
      const [line] = (await run("2026-03-02", ...gap, "--format", "ndjson")).stdout.split("\n");
      expect(JSON.parse(line!)).toMatchObject({ team: "vision", cost: "7.2", idleCost: "2.79" });
    });

    it("writes its sums as Parquet, exact in another program too", async () => {
      const file = `${folder.path}/report.parquet`;
      const args = ["--by", "cluster,pod,label.run-id", "--policy", "default", "by-usage", "--format", "parquet"];
      expect(await run("2026-03", ...args, "--out", file)).toEqual({ code: 0, stdout: "", stderr: "" });
      const read = query(
        `SELECT policy, toString(sum(row.cost)) AS cost, toUInt32(sum(row.lines)) AS lines, any(toTypeName(row.cost)) AS type,
           toString(min(row.\`from\`), 'UTC') AS since FROM file('${file}', Parquet) AS row GROUP BY policy ORDER BY policy`,
        "JSONEachRow",
      );
      const totals = [];
      for (const policy of ["by-usage", "default"]) {
        const { total } = await ask({ policy, by: [] });
        const { cost, lines } = total;
        totals.push({ policy, cost, lines, type: "Nullable(Decimal(38, 9))", since: "2026-03-01 00:00:00.000" });
      }
      expect(
        read
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as object),
      ).toEqual(totals);
      expect(await run("2020-01", "--format", "parquet", "--out", file)).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(query(`SELECT toUInt32(count()) AS rows FROM file('${file}', Parquet)`, "JSONEachRow")).toBe(
        '{"rows":0}\n',
      );
    });

    it("writes a document that loads nothing else, with exact amounts that add up, and with the given links", async () => {
      const { total, rows } = await ask({ by: ["cluster", "team"] });
      const args = ["2026-03", "--by", "cluster,team", "--format", "html"];
      const { code, stdout: html } = await run(...args);
      expect(code).toBe(0);
      expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
      expect(html.replaceAll(/ (?:xmlns|aria-\w+)="[^"]*"/g, "")).not.toMatch(/<script|<link|<a |https?:|url\(/);
      const body = /<tbody>(.*)<\/tbody>/s.exec(html)![1]!;
      const costs = [...body.matchAll(/<tr>.*?<\/tr>/gs)].map(
        ([row]) => [...row.matchAll(/<data(?: class="money")? value="([^"]*)"/g)][1]![1]!,
      );
      expect(costs).toEqual(rows.map(({ cost }) => cost));
      expect(formatAmount(sum(costs.map((cost) => amountOf<"currency">(cost))))).toBe(total.cost);
      const linked = await run(...args, "--link-to", "https://ledger.example");
      expect(linked.stdout).toContain('<a href="https://ledger.example/explain?span=2026-03&amp;');
    });

    it.skipIf(!hasChromium)("prints it as a PDF with the machine's Chromium", async () => {
      const file = `${folder.path}/report.pdf`;
      expect(await run("2026-03", "--format", "pdf", "--out", file)).toEqual({ code: 0, stdout: "", stderr: "" });
      const pdf = readFileSync(file);
      expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
      expect(pdf.length).toBeGreaterThan(10_000);
    });

    it("compares policies side by side, with the difference of the last to the first", async () => {
      const { stdout } = await run("2026-03", "--policy", "default", "by-usage", "--where", "cluster=by-usage.yaml");
      expect(stdout).toMatch(/^team +default USD +by-usage USD +difference$/m);
    });

    it.each([
      { args: ["2026-3"], why: 'span: "2026-3" is not a month (2026-03), a day' },
      { args: ["2026-03-02/2026-03-01"], why: "the end must be after the beginning" },
      { args: ["2026-03-01/"], why: "is not a month" },
      { args: ["--by", "teem"], why: '--by: "teem" is not one of: team, costCenter' },
      { args: ["--where", "teem=x"], why: "--where: teem is not a dimension; the dimensions are team," },
      {
        args: ["--kind", "chargeback", "2026-03-02"],
        why: "--kind: a chargeback has the charges booked in whole months",
      },
      { args: ["--policy", "unkept"], why: "--policy unkept: must be a policy with kept charges: default, by-usage" },
    ])("refuses $args with a sentence", async ({ args, why }) => {
      const { code, stdout, stderr } = await run(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(why);
    });

    it("prints for an unknown team that nothing was charged", async () => {
      const { code, stdout } = await run("2026-03", "--where", "team=nobody");
      expect(code).toBe(0);
      expect(stdout).toContain("no charges");
    });
  });
});
