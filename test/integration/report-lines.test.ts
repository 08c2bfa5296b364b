import { readFileSync } from "node:fs";
import { query } from "chdb";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import { readPeriod } from "../../domain/period.ts";
import { LINE_COLUMNS } from "../../reports/lines/columns.ts";
import { LinesReplacedError } from "../../reports/lines/fixed.ts";
import { planLines, type LinesPlan } from "../../reports/lines/portions.ts";
import { lineBytes } from "../../reports/lines/line-bytes.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { playAs, scenarioFiles } from "../support/play-ledger.ts";

const PLAYED = ["energy-of-a-shared-gpu.yaml", "hundred-pods.yaml", "unpriced.yaml"];
const NAMES = LINE_COLUMNS.map(({ name }) => name);

type Line = Readonly<Record<string, string>>;

describe("lines", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let config: string;
  let store: StoreClient;

  beforeAll(async () => {
    folder = createCommandFolder();
    const { username, password } = embedded.user;
    config = folder.write("gpu-ledger.yaml", {
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
      policies: [{ name: "default" }, { name: "by-usage", basis: "usage", keep: true }],
      store: { kind: "clickhouse", database: "lines", clickhouse: { url: embedded.url, username, password } },
    });
    store = await createTestDatabase("lines");
    for (const name of PLAYED) await playAs(store, name, scenarioFiles().find(({ file }) => file === name)!.scenario);
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  const run = (...args: readonly string[]) => folder.call(["report", "2026-03", ...args, "--config", config]);
  const total = async (): Promise<Record<string, unknown>> => {
    const { stdout } = await run("--by", "cluster", "--format", "json");
    return (JSON.parse(stdout) as { reports: [{ total: Record<string, unknown> }] }).reports[0].total;
  };
  const question = { policy: "default", kind: "showback", span: readPeriod("2026-03")!, where: [] } as const;
  const costOf = (lines: readonly Line[]): string => formatAmount(sum(lines.map(({ cost }) => amountOf(cost || "0"))));

  it("are exported as CSV: every line once, exact, its times in ISO 8601", async () => {
    const { code, stdout } = await run("--lines");
    expect(code).toBe(0);
    const lines = parse<Line>(stdout, { columns: true, record_delimiter: "\r\n" });
    expect(Object.keys(lines[0]!)).toEqual(NAMES);
    const { lines: count, cost, gpuHours } = await total();
    expect({
      count: lines.length,
      cost: costOf(lines),
      gpuHours: formatAmount(sum(lines.map((line) => amountOf(line["gpuHours"]!)))),
    }).toEqual({ count, cost, gpuHours });
    expect(lines.every(({ from }) => /^2026-03-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(from!))).toBe(true);
    expect(lines.some(({ cost: own }) => own === "")).toBe(true);
  });

  it("are exported as NDJSON: amounts are texts, labels an object, unpriced values null", async () => {
    const file = folder.write("lines.ndjson", "");
    expect(await run("--lines", "--format", "ndjson", "--out", file)).toMatchObject({ code: 0, stdout: "" });
    const lines = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    const { lines: count, cost } = await total();
    expect({ count: lines.length, cost: costOf(lines) }).toEqual({ count, cost });
    expect(lines.find(({ cost: own }) => own === null)).toMatchObject({ labels: {}, price: "" });
  });

  it("are exported as Parquet, with decimals that another program sums to the same", async () => {
    const file = `${folder.path}/lines.parquet`;
    expect(await run("--lines", "--format", "parquet", "--out", file)).toMatchObject({ code: 0 });
    const read = query(
      `SELECT toUInt32(count()) AS lines, toString(sum(line.cost)) AS cost, toString(sum(line.gpuHours)) AS gpuHours,
         any(toTypeName(line.cost)) AS type, toString(min(line.\`from\`), 'UTC') AS first FROM file('${file}', Parquet) AS line`,
      "JSONEachRow",
    );
    const { lines: count, cost, gpuHours } = await total();
    expect(JSON.parse(read)).toEqual({
      lines: count,
      cost,
      gpuHours,
      type: "Nullable(Decimal(38, 9))",
      first: "2026-03-02 00:00:00.000",
    });
    const columns = query(`DESCRIBE file('${file}', Parquet)`, "JSONEachRow").trimEnd().split("\n");
    expect(columns.map((column) => (JSON.parse(column) as { name: string }).name)).toEqual(NAMES);
  });

  it.each([1, 7, 40])("are the same in portions of %s lines, in the same order", async (linesAtOnce) => {
    const read = async (plan: LinesPlan): Promise<string> => {
      let text = "";
      for await (const part of lineBytes(store, plan, "csv")) text += Buffer.from(part).toString();
      return text;
    };
    const whole = await read(await planLines(store, question));
    expect(whole.split("\r\n").length).toBeGreaterThan(100);
    expect(await read(await planLines(store, question, linesAtOnce))).toBe(whole);
  });

  it("that are dropped during an export make it fail instead of shortening it", async () => {
    const plan = await planLines(store, question);
    const readAll = async (): Promise<void> => {
      // As if one of its runs had been dropped: its lines were counted, and are no longer found.
      for await (const _ of lineBytes(store, { ...plan, runs: plan.runs.slice(1) }, "ndjson")) void _;
    };
    await expect(readAll()).rejects.toBeInstanceOf(LinesReplacedError);
  });

  it("with a condition are only the matching ones; without a match the file has no lines", async () => {
    const some = await run("--lines", "--where", "cluster=unpriced.yaml");
    const lines = parse<Line>(some.stdout, { columns: true, record_delimiter: "\r\n" });
    expect(new Set(lines.map(({ cluster }) => cluster))).toEqual(new Set(["unpriced.yaml"]));
    const none = await run("--lines", "--where", "team=nobody");
    expect(none.stdout).toBe(`${NAMES.map((name) => JSON.stringify(name)).join(",")}\r\n`);
    const file = `${folder.path}/none.parquet`;
    expect(await run("--lines", "--format", "parquet", "--out", file, "--where", "team=nobody")).toMatchObject({
      code: 0,
    });
    expect(query(`SELECT toUInt32(count()) AS lines FROM file('${file}', Parquet)`, "JSONEachRow")).toBe(
      '{"lines":0}\n',
    );
  });

  it.each([
    { args: ["--lines", "--format", "table"], why: "--format table: lines are exported as csv, ndjson, parquet" },
    { args: ["--lines", "--policy", "default", "by-usage"], why: "--lines exports only one policy" },
    { args: ["--lines", "--out", "/nowhere/lines.csv"], why: "/nowhere/lines.csv cannot be written" },
    { args: ["--lines", "--out", "/dev/null/lines.csv"], why: "/dev/null/lines.csv cannot be written" },
  ])("are refused with a sentence: $why", async ({ args, why }) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ isRefused: code !== 0, stdout }).toEqual({ isRefused: true, stdout: "" });
    expect(stderr).toContain(why);
  });
});
