import { z } from "zod";
import { folderOf, periodInPath, type ListedFile } from "./listing.ts";

/** A manifest: the files of one run of an export. */
export interface ExportManifest {
  readonly file: ListedFile;
  /** The name of the export, the same for all of its periods. */
  readonly name: string;
  /** `2026-03`, if the manifest or its path names one. */
  readonly period: string | undefined;
  /** The folder below which all files of the export are, of all periods and runs. */
  readonly root: string;
  /** For Azure: the kind of cost that the export has. */
  readonly basis: "actual" | "amortized" | undefined;
  readonly files: readonly NamedFile[];
}

/** A file as a manifest names it: the key in the bucket, which a copy of the bucket can have without its first folders. */
export interface NamedFile {
  readonly key: string;
  /** Undefined if the manifest has none. */
  readonly size: number | undefined;
}

/** Source: https://docs.aws.amazon.com/cur/latest/userguide/access-cur.html. */
const LEGACY = z.object({
  reportName: z.string().optional(),
  reportKeys: z.array(z.string()),
  billingPeriod: z.object({ start: z.string() }).optional(),
});

/** Source: https://docs.aws.amazon.com/cur/latest/userguide/dataexports-export-delivery.html. */
const DATA_EXPORT = z.object({ dataFiles: z.array(z.string()) });

/** Source: https://learn.microsoft.com/azure/cost-management-billing/costs/tutorial-improved-exports. */
const AZURE = z.object({
  blobs: z.array(z.object({ blobName: z.string(), byteCount: z.number().optional() })),
  exportConfig: z.object({ exportName: z.string().optional(), type: z.string().optional() }).optional(),
  runInfo: z.object({ startDate: z.string().optional() }).optional(),
});

/** Returns a manifest of AWS or of Azure; undefined if the text is none. */
export function readManifest(file: ListedFile, text: string): ExportManifest | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  return legacy(file, json) ?? dataExport(file, json) ?? azure(file, json);
}

function legacy(file: ListedFile, json: unknown): ExportManifest | undefined {
  const { success, data } = LEGACY.safeParse(json);
  if (!success) return undefined;
  const [, year, month] = /^(\d{4})-?(\d\d)/.exec(data.billingPeriod?.start ?? "") ?? [];
  return {
    file,
    name: data.reportName ?? nameOf(file),
    period: year === undefined ? periodInPath(file.key) : `${year}-${month!}`,
    root: rootOf(file.key, /(?:^|\/)\d{8}-\d{8}(?:\/|$)/),
    basis: undefined,
    files: data.reportKeys.map((key) => ({ key: key.replace(/^\//, ""), size: undefined })),
  };
}

function dataExport(file: ListedFile, json: unknown): ExportManifest | undefined {
  const { success, data } = DATA_EXPORT.safeParse(json);
  if (!success) return undefined;
  return {
    file,
    name: nameOf(file),
    period: periodInPath(file.key),
    root: rootOf(file.key, /(?:^|\/)metadata(?:\/|$)/),
    basis: undefined,
    files: data.dataFiles.map((uri) => ({ key: uri.replace(/^s3:\/\/[^/]+\//, ""), size: undefined })),
  };
}

function azure(file: ListedFile, json: unknown): ExportManifest | undefined {
  const { success, data } = AZURE.safeParse(json);
  if (!success) return undefined;
  const type = data.exportConfig?.type ?? "";
  const [start] = /^\d{4}-\d\d/.exec(data.runInfo?.startDate ?? "") ?? [];
  return {
    file,
    name: data.exportConfig?.exportName ?? nameOf(file),
    period: periodInPath(file.key) ?? start,
    root: rootOf(file.key, /(?:^|\/)\d{8}-\d{8}(?:\/|$)/),
    basis: /^amortized/i.test(type) ? "amortized" : /^(?:actual|usage)/i.test(type) ? "actual" : undefined,
    files: data.blobs.map(({ blobName, byteCount }) => ({ key: blobName, size: byteCount })),
  };
}

/** Returns the folder before the first folder of a period or of metadata; the manifest's own folder without one. */
function rootOf(key: string, mark: RegExp): string {
  const at = mark.exec(key)?.index;
  return at === undefined ? folderOf(key) : key.slice(0, at);
}

function nameOf({ key }: ListedFile): string {
  return key.slice(key.lastIndexOf("/") + 1).replace(/-?manifest\.json$/i, "") || folderOf(key);
}
