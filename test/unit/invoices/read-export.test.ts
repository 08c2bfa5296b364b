import { createHash } from "node:crypto";
import { createReadStream, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { exactDecimal } from "../../../domain/exact/rational.ts";
import { GPU_MACHINES } from "../../../domain/invoice/dialect/keeping.ts";
import type { ExportLine } from "../../../domain/invoice/export-line.ts";
import { machinesIn, readExportFile, type ReadOptions } from "../../../invoices/read-export.ts";
import type { ExportStream } from "../../../invoices/source.ts";
import type { ExportSummary } from "../../../invoices/summary.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { costText, kindsOf } from "../../support/invoice/rows.ts";

/** A file with bytes, in a folder of the test. */
function fileOf(bytes: string | Uint8Array, name = "bill.csv"): string {
  const path = join(temporaryFolder("invoices"), name);
  writeFileSync(path, bytes);
  return path;
}

/** Reads a whole file. */
async function read(
  path: string | ExportStream,
  options?: ReadOptions,
): Promise<{ lines: ExportLine[]; summary: ExportSummary }> {
  const reading = readExportFile(path, { name: "bill", ...options });
  const lines: ExportLine[] = [];
  for await (const batch of reading.batches) lines.push(...batch);
  return { lines, summary: reading.summary() };
}

const FOCUS_HEAD =
  "BilledCost,EffectiveCost,ListCost,BillingAccountId,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeDescription,ProviderName,ResourceId,ServiceName,x_UsageType,Tags";
const focusRow = (hour: number, type: string, description = ""): string =>
  `1,2,3,42,USD,2026-03-02T0${hour}:00:00Z,2026-03-02T0${hour + 1}:00:00Z,Usage,${description},AWS,i-0${hour},EC2,BoxUsage:${type},"{""a"":""b,c""}"`;
const FOCUS = [
  FOCUS_HEAD,
  focusRow(1, "p5.48xlarge"),
  focusRow(2, "m5.large"),
  focusRow(3, "g6.xlarge", '"two\nlines, ""quoted"""'),
  "",
].join("\r\n");

describe("a CSV file", () => {
  it("becomes the lines that count, with counts of the others", async () => {
    const { lines, summary } = await read(fileOf(FOCUS));
    expect(lines.map(({ row, machine, description }) => [row, machine, description])).toEqual([
      [1, "i-01", ""],
      [3, "i-03", 'two\nlines, "quoted"'],
    ]);
    expect(summary).toEqual({
      format: "FOCUS",
      rows: 3,
      lines: 2,
      dropped: { "another machine": 1 },
      periods: [{ from: Date.UTC(2026, 2, 1), until: Date.UTC(2026, 3, 1), lines: 2 }],
      payers: ["42"],
      currencies: ["USD"],
      bytes: Buffer.byteLength(FOCUS),
      sha256: createHash("sha256").update(FOCUS).digest("hex"),
    });
  });

  it("with gzip of several members is read whole, and hashed as it is stored", async () => {
    const half = FOCUS.indexOf("m5.large");
    const stored = Buffer.concat([gzipSync(FOCUS.slice(0, half)), gzipSync(FOCUS.slice(half))]);
    const { lines, summary } = await read(fileOf(stored, "bill.bin"));
    expect([lines.length, summary.rows, summary.bytes]).toEqual([2, 3, stored.length]);
    expect(summary.sha256).toBe(createHash("sha256").update(stored).digest("hex"));
  });

  it("that is cut or broken is refused as a whole", async () => {
    const stored = gzipSync(FOCUS);
    await expect(read(fileOf(stored.subarray(0, stored.length - 12)))).rejects.toMatchObject({
      code: "unreadable-file",
    });
    await expect(read(fileOf(`${FOCUS}1,2\r\n`))).rejects.toThrow(
      "bill, row 4: the row has 2 cells, but the head has 14",
    );
    await expect(read(fileOf(`${FOCUS}"1,2`))).rejects.toThrow("bill, row 4: a quote has no end");
    await expect(read(fileOf(""))).rejects.toThrow("bill: the file is empty");
  });

  it("with a cell that is no number is refused with its row and column", async () => {
    const text = FOCUS.replace("\r\n1,2,3,42", "\r\n1,2 €,3,42");
    const failure = await read(fileOf(text)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "unreadable-row", row: 1, column: "EffectiveCost", retriable: false });
    expect(String(failure)).toBe(
      'ExportError: bill, row 1, column EffectiveCost: "2 €" is not a number such as 3.60 or 1E-05',
    );
  });

  it("of an unknown form is refused with its columns", async () => {
    await expect(read(fileOf("a,b\n1,2\n"))).rejects.toThrow(
      "bill: no known form of an export has these columns (a, b); a mapping can name them",
    );
  });

  it("of any form is read with a mapping, also with another separator", async () => {
    const mapping = { from: "day", effective: "cost", machine: "node", currency: { value: "EUR" } };
    const { lines } = await read(fileOf("\uFEFFday;node;cost\n2026-03-01;gpu-1;12.5\n"), { mapping });
    expect(lines.map(({ machine, currency, costs }) => [machine, currency, costText(costs)])).toEqual([
      ["gpu-1", "EUR", "12.5 12.5 12.5 12.5"],
    ]);
    await expect(read(fileOf("day;cost\n"), { mapping })).rejects.toThrow("the mapping names columns");
  });

  it("has no summary before it is read", () => {
    expect(() => readExportFile("nothing").summary()).toThrow("once its batches are read");
  });
});

describe("JSON lines", () => {
  const row = (more: Readonly<Record<string, unknown>> = {}): string =>
    JSON.stringify({
      billing_account_id: "01A2",
      service: { description: "Compute Engine" },
      sku: { description: "Nvidia H100 80GB GPU running in Americas" },
      usage_start_time: "2026-03-02 10:00:00 UTC",
      usage_end_time: "2026-03-02 11:00:00 UTC",
      project: { id: "shop-prod" },
      location: { zone: "us-central1-a" },
      resource: { name: "projects/shop-prod/instances/gpu-1" },
      cost: 80.5,
      currency: "USD",
      ...more,
    });

  it("of BigQuery have nested fields, and numbers with all of their digits", async () => {
    const exact = row().replace("80.5", "0.12345678901234567890123");
    const { lines, summary } = await read(fileOf(gzipSync(`${row()}\n\n${exact}\n`), "x.json.gz"));
    expect(lines.map(({ machine, costs }) => [machine, exactDecimal(costs.effective, 30)])).toEqual([
      ["shop-prod/us-central1-a/gpu-1", "80.5"],
      ["shop-prod/us-central1-a/gpu-1", "0.12345678901234567890123"],
    ]);
    expect(summary.format).toBe("Google detailed usage cost");
  });

  it("can have a column in later rows that the first ones lack", async () => {
    const credits = [{ type: "DISCOUNT", name: "d", amount: -0.5 }];
    const rows = [...Array.from({ length: 300 }, () => row()), row({ credits })];
    const { lines } = await read(fileOf(rows.join("\n")));
    expect([lines.length, costText(lines.at(-1)!.costs)]).toEqual([301, "80.5 80.5 80 80"]);
  });

  it("with a line that is no object are refused", async () => {
    await expect(read(fileOf(`${row()}\n{"a":1,}\n`))).rejects.toThrow("bill, row 2: the line is not a JSON object");
  });
});

describe("a Parquet file", () => {
  it("of CUR 2.0 has exact decimals, over several row groups", async () => {
    const { lines, summary } = await read("test/fixtures/invoices/cur-2.parquet");
    expect(summary).toMatchObject({ format: "AWS CUR 2.0", rows: 6, lines: 4, dropped: { "another machine": 2 } });
    expect(summary.sha256).toBe(
      createHash("sha256").update(readFileSync("test/fixtures/invoices/cur-2.parquet")).digest("hex"),
    );
    expect(lines.map(({ row }) => row)).toEqual([1, 2, 4, 5]);
    const { from, machineHours, costs } = lines[3]!;
    expect([from, machineHours]).toEqual([Date.UTC(2026, 2, 2, 4), undefined]);
    expect(costText(costs)).toBe("4.1 98.3200000000000000001 98.3200000000000000001 98.3200000000000000001");
  });

  it("of Google has structures and lists", async () => {
    const { lines } = await read("test/fixtures/invoices/gcp.parquet");
    expect(kindsOf(lines.slice(0, 2))).toEqual(["machine 80.5 80.5 80.4 80.4", "credit 0 0 -0.0000001 -0.0000001"]);
    expect(lines[0]).toMatchObject({ machine: "shop-prod/us-central1-a/gpu-1", from: Date.UTC(2026, 2, 2, 10) });
  });

  it("that is broken is refused", async () => {
    const broken = readFileSync("test/fixtures/invoices/gcp.parquet").subarray(0, 4_000);
    await expect(read(fileOf(broken))).rejects.toMatchObject({ code: "unreadable-file" });
  });

  it("keeps machines of the caller", async () => {
    const keeping = { ...GPU_MACHINES, machines: new Set(["i-02"]) };
    expect((await read("test/fixtures/invoices/cur-2.parquet", { keeping })).lines).toHaveLength(6);
  });
});

describe("a stream", () => {
  it.each(["cur-2.parquet", "gcp.parquet"])(
    "of %s has the lines of the file, and leaves nothing behind",
    async (name) => {
      const path = `test/fixtures/invoices/${name}`;
      const folder = temporaryFolder("streams");
      vi.stubEnv("TMPDIR", folder);
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(await read({ name, stream: createReadStream(path) })).toEqual(await read(path));
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it("of text in small chunks has the lines of the file", async () => {
    const path = fileOf(gzipSync(FOCUS));
    const stream = createReadStream(path, { highWaterMark: 3 });
    expect(await read({ name: "bill", stream })).toEqual(await read(path));
  });

  it("that does not exist fails as reading does", async () => {
    await expect(read("/nothing/here.csv")).rejects.toMatchObject({ code: "ENOENT" });
  });
});

it("the GPU machines of a file are found first, so that their traffic counts, too", async () => {
  const traffic = focusRow(1, "x").replace("BoxUsage:x", "DataTransfer-Out-Bytes");
  const path = fileOf(`${FOCUS}${traffic}\n`);
  const machines = await machinesIn(path);
  expect(machines).toEqual(new Set(["i-01", "i-03"]));
  const { lines } = await read(path, { keeping: { ...GPU_MACHINES, machines } });
  expect(lines.map(({ kind, machine }) => [kind, machine])).toContainEqual(["network", "i-01"]);
});
