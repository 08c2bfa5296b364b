import { describe, expect, it } from "vitest";
import { findExports, type FoundExports } from "../../../invoices/find/find-exports.ts";
import { manifestsIn, type ListedFile } from "../../../invoices/find/listing.ts";

const file = (key: string, size = 100, modified = 1): ListedFile => ({ key, size, etag: `e-${key}`, modified });

/** Finds exports among files, some of which are manifests with these texts. */
function find(files: readonly ListedFile[], manifests: Readonly<Record<string, unknown>> = {}): FoundExports {
  const listing = [...files, ...Object.keys(manifests).map((key) => file(key))];
  const texts = Object.entries(manifests).map(
    ([key, json]) => [key, typeof json === "string" ? json : JSON.stringify(json)] as const,
  );
  return findExports(listing, new Map(texts));
}

const shapeOf = ({ exports, incomplete }: FoundExports): unknown => ({
  exports: exports.map(({ name, period, files }) => [name, period, files.map(({ key }) => key)]),
  incomplete: incomplete.map(({ reason, file: key }) => [reason, key]),
});

describe("legacy reports of AWS", () => {
  const key = (run: string, part: number): string => `bills/hourly/20260301-20260401/${run}/hourly-0000${part}.csv.gz`;
  const manifest = (...keys: readonly string[]): unknown => ({
    reportName: "hourly",
    reportKeys: keys,
    billingPeriod: { start: "20260301T000000.000Z", end: "20260401T000000.000Z" },
  });
  const TOP = "bills/hourly/20260301-20260401/hourly-Manifest.json";

  it("have the files of the newest run, which the manifest of the period names", () => {
    const found = find([file(key("old", 1)), file(key("new", 1)), file(key("new", 2))], {
      [TOP]: manifest(key("new", 1), key("new", 2)),
      "bills/hourly/20260301-20260401/new/hourly-Manifest.json": manifest(key("new", 1), key("new", 2)),
      "bills/hourly/20260301-20260401/old/hourly-Manifest.json": manifest(key("old", 1)),
    });
    expect(shapeOf(found)).toEqual({
      exports: [["bills/hourly", "2026-03", [key("new", 1), key("new", 2)]]],
      incomplete: [],
    });
  });

  it("of which a file is missing are not read", () => {
    expect(shapeOf(find([file(key("new", 1))], { [TOP]: manifest(key("new", 1), key("new", 2)) }))).toEqual({
      exports: [],
      incomplete: [["the manifest names a file that is missing", key("new", 2)]],
    });
  });

  it("whose run has no manifest yet are not read", () => {
    const found = find([file(key("new", 1)), file(key("next", 1))], { [TOP]: manifest(key("new", 1)) });
    expect(shapeOf(found)).toEqual({
      exports: [["bills/hourly", "2026-03", [key("new", 1)]]],
      incomplete: [["no manifest names the file", key("next", 1)]],
    });
  });

  it("in a copy of the bucket without its first folders are found", () => {
    const found = find([file("20260301-20260401/new/hourly-00001.csv.gz")], {
      "20260301-20260401/hourly-Manifest.json": manifest(key("new", 1)),
    });
    expect(shapeOf(found)).toEqual({
      exports: [["hourly", "2026-03", ["20260301-20260401/new/hourly-00001.csv.gz"]]],
      incomplete: [],
    });
  });

  it("in Parquet are in other folders than their manifest", () => {
    const part = "bills/hourly/hourly/year=2026/month=3/hourly-00001.snappy.parquet";
    expect(shapeOf(find([file(part)], { [TOP]: manifest(part) }))).toEqual({
      exports: [["bills/hourly", "2026-03", [part]]],
      incomplete: [],
    });
  });

  it("with a manifest that is not JSON are not read", () => {
    expect(shapeOf(find([file(key("new", 1))], { [TOP]: "{" }))).toEqual({
      exports: [],
      incomplete: [
        ["the manifest cannot be read", TOP],
        ["no manifest names the file", key("new", 1)],
      ],
    });
  });
});

describe("data exports of AWS", () => {
  it("have a manifest among the metadata, with the files of the data", () => {
    const part = "x/gpu/data/BILLING_PERIOD=2026-03/gpu-00001.csv.gz";
    const found = find([file(part)], {
      "x/gpu/metadata/BILLING_PERIOD=2026-03/gpu-Manifest.json": { dataFiles: [`s3://bucket/${part}`] },
    });
    expect(shapeOf(found)).toEqual({ exports: [["x/gpu", "2026-03", [part]]], incomplete: [] });
  });

  it("have other files beside them, which are left out", () => {
    const part = "x/gpu/data/billing_period=2026-03/gpu-00001.snappy.parquet";
    const others = [
      "x/gpu/metadata/billing_period=2026-03/gpu-Metadata.json",
      "x/gpu/20260301-20260401/gpu-RedshiftManifest.json",
      "x/gpu/gpu/cost_and_usage_data_status/cost_and_usage_data_status.parquet",
    ];
    const found = find(
      [part, ...others].map((key) => file(key)),
      {
        "x/gpu/metadata/billing_period=2026-03/gpu-Manifest.json": { dataFiles: [`s3://bucket/${part}`] },
      },
    );
    expect(shapeOf(found)).toEqual({ exports: [["x/gpu", "2026-03", [part]]], incomplete: [] });
  });

  it("of a period without a manifest are not read", () => {
    const [march, april] = ["2026-03", "2026-04"].map(
      (period) => `x/gpu/data/BILLING_PERIOD=${period}/gpu-00001.csv.gz`,
    );
    const found = find([file(march!), file(april!)], {
      "x/gpu/metadata/BILLING_PERIOD=2026-03/gpu-Manifest.json": { dataFiles: [`s3://bucket/${march!}`] },
    });
    expect(shapeOf(found)).toEqual({
      exports: [["x/gpu", "2026-03", [march]]],
      incomplete: [["no manifest names the file", april]],
    });
  });
});

describe("exports of Azure", () => {
  const folder = "costs/daily/20260301-20260331";
  const manifest = (run: string, size: number, type = "AmortizedCost"): unknown => ({
    blobCount: 1,
    exportConfig: { exportName: "daily", type },
    runInfo: { runId: run, startDate: "2026-03-01T00:00:00" },
    blobs: [{ blobName: `${folder}/${run}/part_0_0001.csv`, byteCount: size }],
  });

  it("have the files of the newest run, and the kind of their costs", () => {
    const files = [file(`${folder}/r1/part_0_0001.csv`), file(`${folder}/r2/part_0_0001.csv`)];
    const listing = [...files, file(`${folder}/r1/manifest.json`, 9, 1), file(`${folder}/r2/manifest.json`, 9, 2)];
    const texts = new Map([
      [`${folder}/r1/manifest.json`, JSON.stringify(manifest("r1", 100))],
      [`${folder}/r2/manifest.json`, JSON.stringify(manifest("r2", 100))],
    ]);
    expect(manifestsIn(listing)).toHaveLength(2);
    expect(findExports(listing, texts)).toMatchObject({
      exports: [{ name: "costs/daily", period: "2026-03", files: [files[1]], basis: "amortized" }],
      incomplete: [],
    });
  });

  it("of which a file has another size are not read", () => {
    const found = find([file(`${folder}/r1/part_0_0001.csv`, 99)], {
      [`${folder}/r1/manifest.json`]: manifest("r1", 100),
    });
    expect(shapeOf(found)).toEqual({
      exports: [],
      incomplete: [["the manifest names a file of another size", `${folder}/r1/part_0_0001.csv`]],
    });
  });
});

describe("files without manifests", () => {
  it("in the folder of a partition are one export of its period", () => {
    const parts = [
      "f/billing_period=2026-03/a.parquet",
      "f/billing_period=2026-03/b.parquet",
      "f/billing_period=2026-04/a.parquet",
    ];
    expect(shapeOf(find(parts.map((key) => file(key))))).toEqual({
      exports: [
        ["f", "2026-03", parts.slice(0, 2)],
        ["f", "2026-04", parts.slice(2)],
      ],
      incomplete: [],
    });
  });

  it("that are shards of Google are one export, and other files are each their own", () => {
    const keys = ["g/bill-000000000000.csv.gz", "g/bill-000000000001.csv.gz", "mine.csv", "old/actual.csv"];
    const found = find(keys.map((key) => file(key)));
    expect(shapeOf(found)).toEqual({
      exports: [
        ["g/bill.csv.gz", undefined, keys.slice(0, 2)],
        ["mine.csv", undefined, ["mine.csv"]],
        ["old/actual.csv", undefined, ["old/actual.csv"]],
      ],
      incomplete: [],
    });
    expect(found.exports.map(({ basis }) => basis)).toEqual([undefined, undefined, "actual"]);
  });

  it("that a program still writes, or that are no data, are left out", () => {
    const keys = ["a.csv.tmp", "b.csv.partial", "_temporary/0/c.csv", "_SUCCESS", ".d.csv", "readme.md", "e.pdf"];
    expect(shapeOf(find([...keys.map((key) => file(key)), file("empty.csv", 0)]))).toEqual({
      exports: [],
      incomplete: [],
    });
  });

  it("have another version with other contents, whatever their order", () => {
    const [a, b] = [file("p/billing_period=2026-03/a.csv"), file("p/billing_period=2026-03/b.csv")];
    const versionOf = (...files: readonly ListedFile[]): string => find(files).exports[0]!.version;
    expect(versionOf(a, b)).toBe(versionOf(b, a));
    expect(versionOf(a, b)).not.toBe(versionOf(a, { ...b, etag: "other" }));
  });
});
