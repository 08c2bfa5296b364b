import { readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { add, rational, ZERO, type Rational } from "../../domain/exact/rational.ts";
import type { ExportLine } from "../../domain/invoice/export-line.ts";
import { findExports } from "../../invoices/find/find-exports.ts";
import { manifestsIn, type ListedFile } from "../../invoices/find/listing.ts";
import { readExportFile } from "../../invoices/read-export.ts";
import { temporaryFolder } from "../support/folder.ts";
import { niseFiles, prepareNise } from "../support/invoice/nise.ts";

type Row = Readonly<Record<string, string>>;

const hasNise = await prepareNise();

/** The exact number of a plain decimal, apart from the program's own reader. */
function exact(text: string): Rational {
  const [whole = "", fraction = ""] = text.split(".");
  return rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length));
}

/** Sums by a key. */
function sums(parts: readonly (readonly [key: string, amount: Rational])[]): Readonly<Record<string, Rational>> {
  const totals: Record<string, Rational> = {};
  for (const [key, amount] of parts) totals[key] = add(totals[key] ?? ZERO, amount);
  return totals;
}

const rowsOf = (path: string): readonly Row[] => parse(readFileSync(path), { columns: true });

async function linesOf(path: string): Promise<readonly ExportLine[]> {
  const lines: ExportLine[] = [];
  for await (const batch of readExportFile(path).batches) lines.push(...batch);
  return lines;
}

/** The sums of the lines of a file, by kind and machine. */
async function costsIn(path: string, of: "effective" | "billed"): Promise<Readonly<Record<string, Rational>>> {
  return sums((await linesOf(path)).map(({ kind, machine, costs }) => [`${kind} ${machine}`, costs[of]]));
}

describe.skipIf(!hasNise)("exports that nise writes", () => {
  it("of AWS have the costs of machines, savings plans and their fees", async () => {
    const [path = ""] = await niseFiles("aws", temporaryFolder("nise"), "--write-monthly");
    const rows = rowsOf(path).filter(
      (row) => row["product/instanceType"] === "p5.48xlarge" && row["lineItem/ProductCode"] !== "AWSDataTransfer",
    );
    expect(rows.length).toBe(4 * 24);
    const nameOf = (row: Row): string => {
      const isFee = row["lineItem/LineItemType"] === "SavingsPlanRecurringFee";
      return isFee ? "purchase " : `machine ${row["lineItem/ResourceId"]!}`;
    };
    const effectiveOf = (row: Row): Rational => {
      if (row["lineItem/LineItemType"] === "Usage") return exact(row["lineItem/UnblendedCost"]!);
      return exact(row["savingsPlan/SavingsPlanEffectiveCost"] || "0");
    };
    expect(await costsIn(path, "effective")).toEqual(sums(rows.map((row) => [nameOf(row), effectiveOf(row)])));
    expect(await costsIn(path, "billed")).toEqual(
      sums(rows.map((row) => [nameOf(row), exact(row["lineItem/UnblendedCost"]!)])),
    );
    // 24 h × 98.32 of the machine on demand, 24 h × 54.1 of the one with the plan.
    expect(await costsIn(path, "effective")).toMatchObject({
      "machine i-0aaa111": rational(235_968, 100),
      "machine i-0bbb222": rational(12_984, 10),
    });
  });

  it("of AWS in a bucket have a manifest, and are complete", async () => {
    const folder = temporaryFolder("nise");
    const bucket = [
      "--aws-s3-bucket-name",
      folder,
      "--aws-s3-report-name",
      "hourly",
      "--aws-s3-report-prefix",
      "bills",
    ];
    const files = await niseFiles("aws", folder, ...bucket);
    const listing: ListedFile[] = files.map((path) => {
      const { size, mtimeMs } = statSync(path);
      return { key: relative(folder, path), size, etag: String(mtimeMs), modified: mtimeMs };
    });
    const texts = manifestsIn(listing).map(({ key }) => [key, readFileSync(join(folder, key), "utf8")] as const);
    const { exports, incomplete } = findExports(listing, new Map(texts));
    expect(incomplete).toEqual([]);
    expect(exports).toMatchObject([{ name: "bills/hourly", period: "2026-03" }]);
    expect(exports[0]!.files).toHaveLength(1);
    expect(await linesOf(join(folder, exports[0]!.files[0]!.key))).toHaveLength(4 * 24);
  });

  it("of Azure have the costs of the machine in the scale set", async () => {
    const [path = ""] = await niseFiles("azure", temporaryFolder("nise"), "--write-monthly");
    const rows = rowsOf(path).filter(
      (row) => row["MeterCategory"] === "Virtual Machines" && row["AdditionalInfo"]!.includes("ND96isr_H100_v5"),
    );
    const scaleSet =
      "/subscriptions/ab12/resourcegroups/mc_x/providers/microsoft.compute/virtualmachinescalesets/aks-gpu-1-vmss";
    const expected = sums(
      rows.map((row) => [`machine ${scaleSet}/virtualmachines/7`, exact(row["CostInBillingCurrency"]!)]),
    );
    expect(Object.keys(expected)).toHaveLength(1);
    expect(await costsIn(path, "effective")).toEqual(expected);
    expect((await linesOf(path)).map(({ machineHours }) => machineHours)).toEqual(rows.map(() => rational(24)));
  });

  it("of Google have the costs of the machine, and its promotions apart", async () => {
    const [path = ""] = await niseFiles("gcp", temporaryFolder("nise"), "--write-monthly", "--resource-level");
    const rows = rowsOf(path).filter((row) => row["resource.name"] === "projects/shop-prod/instances/gpu-1");
    expect(rows).toHaveLength(24);
    const machine = "shop-prod/us-central1-a/gpu-1";
    expect(await costsIn(path, "effective")).toEqual({
      ...sums(rows.map((row) => [`machine ${machine}`, exact(row["cost"]!)])),
      // 24 h × 0.25.
      [`credit ${machine}`]: rational(-6),
    });
  });
});
