/** A file of a folder, bucket or container. */
export interface ListedFile {
  /** The path within it, with slashes. */
  readonly key: string;
  readonly size: number;
  /** Changes with the content. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

const DATA = /\.(?:csv|json|jsonl|ndjson|parquet)(?:\.gz|\.gzip)?$/i;
const UNFINISHED = /\.(?:tmp|partial|part|crdownload|swp)$|(?:^|\/)_temporary(?:\/|$)/i;
/** Names that begin with a dot or an underscore are of programs: `_SUCCESS`, `.DS_Store`. */
const OF_PROGRAMS = /(?:^|\/)[._][^/]*$/;
/**
 * Files that AWS writes beside the data: the description of columns, the manifest for Redshift, and the table with the status for Athena.
 * Source: https://docs.aws.amazon.com/cur/latest/userguide/cur-query-athena.html.
 */
const BESIDE_DATA =
  /(?:^|\/)metadata\/|-metadata\.json$|redshiftmanifest\.json$|(?:^|\/)cost_and_usage_data_status(?:\/|\.)/i;
const MANIFEST = /(?:^|\/)(?:[^/]*-)?manifest\.json$/i;

/** True for a manifest of AWS (`…-Manifest.json`) or of Azure (`manifest.json`). */
export function isManifest(key: string): boolean {
  return MANIFEST.test(key) && !UNFINISHED.test(key);
}

/** True for a file that can have rows of an export. Files that a program still writes do not count. */
export function isData(key: string): boolean {
  return DATA.test(key) && ![UNFINISHED, OF_PROGRAMS, BESIDE_DATA, MANIFEST].some((other) => other.test(key));
}

/** Returns the manifests of a listing: the files whose text `findExports` needs. */
export function manifestsIn(listing: readonly ListedFile[]): readonly ListedFile[] {
  return listing.filter(({ key }) => isManifest(key));
}

/** Returns the folder of a key without a slash at its end; empty at the top. */
export function folderOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf("/")));
}

/** Returns the month that a path names: `BILLING_PERIOD=2026-03`, `20260301-20260401`, `year=2026/month=3`; undefined without one. */
export function periodInPath(path: string): string | undefined {
  const [, year, month] =
    /billing_?period=(\d{4})-(\d\d)/i.exec(path) ??
    /(?:^|\/)(\d{4})(\d\d)\d\d-\d{8}(?:\/|$)/.exec(path) ??
    /year=(\d{4})\/month=(\d{1,2})(?:\/|$)/i.exec(path) ??
    [];
  return year === undefined || month === undefined ? undefined : `${year}-${month.padStart(2, "0")}`;
}
