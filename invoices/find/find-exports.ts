import { createHash } from "node:crypto";
import { groupedBy } from "../../domain/grouped.ts";
import { folderOf, isData, manifestsIn, periodInPath, type ListedFile } from "./listing.ts";
import { readManifest, type ExportManifest } from "./manifest.ts";

/** A complete export: its files are read together, and replace those of an earlier version. */
export interface FoundExport {
  /** The same for all versions of an export of a period. */
  readonly name: string;
  /** `2026-03`; undefined if only the rows of the files have it. */
  readonly period: string | undefined;
  /** Sorted by key. */
  readonly files: readonly ListedFile[];
  /** The hash of keys, sizes and etags: another version has another content. */
  readonly version: string;
  /** The kind of cost of an export of Azure, by its manifest or its name. Only amortized costs give the prices of reserved machines. */
  readonly basis: "actual" | "amortized" | undefined;
}

/** Reasons for which files are not read. */
export type IncompleteReason =
  | "the manifest cannot be read"
  | "the manifest names a file that is missing"
  | "the manifest names a file of another size"
  | "no manifest names the file";

/** Files that are not read, because their export is not complete. */
export interface IncompleteExport {
  readonly name: string;
  readonly period: string | undefined;
  readonly reason: IncompleteReason;
  /** The file that is missing, has another size, or is in no manifest. */
  readonly file: string;
}

/** The exports of a folder. */
export interface FoundExports {
  readonly exports: readonly FoundExport[];
  readonly incomplete: readonly IncompleteExport[];
}

/**
 * Groups the files of a place into complete exports. With a manifest of AWS or Azure, an export has the files that its manifest
 * names; of several manifests for a period, the newest counts. Without one, the files of a folder `billing_period=2026-03` are an export,
 * shards of Google (`bill-000000000000.csv.gz`) are one, and any other file is an export alone. `manifests` has the texts of the files that
 * `manifestsIn` returns.
 */
export function findExports(listing: readonly ListedFile[], manifests: ReadonlyMap<string, string>): FoundExports {
  const data = listing.filter(({ key, size }) => isData(key) && size > 0);
  const exports: FoundExport[] = [];
  const incomplete: IncompleteExport[] = [];
  const read: ExportManifest[] = [];
  for (const file of manifestsIn(listing)) {
    const manifest = readManifest(file, manifests.get(file.key) ?? "");
    if (manifest !== undefined) read.push(manifest);
    else
      incomplete.push({
        name: folderOf(file.key),
        period: periodInPath(file.key),
        reason: "the manifest cannot be read",
        file: file.key,
      });
  }
  const claimed = new Set<string>();
  const keys = byName(data);
  for (const manifest of read) for (const named of manifest.files) claimed.add(fileOf(keys, named.key)?.key ?? "");
  for (const manifest of newestOf(read)) {
    const found = fromManifest(manifest, keys);
    if ("reason" in found) incomplete.push(found);
    else exports.push(found);
  }
  const others = data.filter(({ key }) => !claimed.has(key));
  const roots = [...read.map(({ root }) => root), ...incomplete.map(({ name }) => name)];
  const orphans = others.filter(({ key }) => roots.some((root) => isBelow(key, root)));
  for (const { key } of orphans)
    incomplete.push({
      name: folderOf(key),
      period: periodInPath(key),
      reason: "no manifest names the file",
      file: key,
    });
  exports.push(...withoutManifests(others.filter((file) => !orphans.includes(file))));
  return { exports: exports.toSorted(byNameAndPeriod), incomplete };
}

function isBelow(key: string, root: string): boolean {
  return root === "" || key.startsWith(`${root}/`);
}

/** Returns the newest manifest of each export and period. AWS keeps a copy of the newest in the folder of the period. */
function newestOf(manifests: readonly ExportManifest[]): readonly ExportManifest[] {
  const newest = new Map<string, ExportManifest>();
  for (const manifest of manifests) {
    const id = `${manifest.root}\n${manifest.name}\n${manifest.period ?? ""}`;
    const other = newest.get(id);
    if (other === undefined || isNewer(manifest, other)) newest.set(id, manifest);
  }
  return [...newest.values()];
}

function isNewer({ file }: ExportManifest, { file: other }: ExportManifest): boolean {
  if (file.modified !== other.modified) return file.modified > other.modified;
  return file.key.length < other.key.length;
}

function fromManifest(
  { name, period, root, basis, files }: ExportManifest,
  keys: ReadonlyMap<string, readonly ListedFile[]>,
): FoundExport | IncompleteExport {
  const found: ListedFile[] = [];
  for (const { key, size } of files) {
    const file = fileOf(keys, key);
    if (file === undefined) return { name, period, reason: "the manifest names a file that is missing", file: key };
    if (size !== undefined && file.size !== size)
      return { name, period, reason: "the manifest names a file of another size", file: file.key };
    found.push(file);
  }
  return exportOf(root === "" || root.endsWith(name) ? root || name : `${root}/${name}`, period, found, basis);
}

/** Returns the files by their last part of the key, because a copy of a bucket can have other folders before it. */
function byName(files: readonly ListedFile[]): ReadonlyMap<string, readonly ListedFile[]> {
  return groupedBy(files, ({ key }) => key.slice(key.lastIndexOf("/") + 1));
}

/** Returns the file that a manifest names: the same key, or the one whose key has the most last parts in common and no other parts. */
function fileOf(keys: ReadonlyMap<string, readonly ListedFile[]>, named: string): ListedFile | undefined {
  const candidates = keys.get(named.slice(named.lastIndexOf("/") + 1)) ?? [];
  const isSame = ({ key }: ListedFile): boolean =>
    key === named || key.endsWith(`/${named}`) || named.endsWith(`/${key}`);
  return candidates.filter(isSame).toSorted((a, b) => b.key.length - a.key.length)[0];
}

/** Returns the exports of files that no manifest is about. */
function withoutManifests(files: readonly ListedFile[]): readonly FoundExport[] {
  const groups = groupedBy(files, ({ key }) => groupOf(key));
  return [...groups].map(([id, group]) => {
    const name = id.replace(/\/?billing_?period=\d{4}-\d\d$/i, "") || id;
    return exportOf(name, periodInPath(group[0].key), group, undefined);
  });
}

/** Returns the name of the group of a file: the folder of a partition, the name without the number of Google's shard, or the file itself. */
function groupOf(key: string): string {
  const partition = /^(.*?(?:^|\/)billing_?period=\d{4}-\d\d)\//i.exec(key)?.[1];
  return partition ?? key.replace(/-?\d{12}(?=\.(?:csv|json|jsonl|ndjson|parquet|avro)\b)/i, "");
}

function exportOf(
  name: string,
  period: string | undefined,
  files: readonly ListedFile[],
  basis: FoundExport["basis"],
): FoundExport {
  const sorted = files.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const hash = createHash("sha256");
  for (const { key, size, etag } of sorted) hash.update(JSON.stringify([key, size, etag]));
  return { name, period, files: sorted, version: hash.digest("hex"), basis: basis ?? basisByName(name) };
}

function basisByName(name: string): FoundExport["basis"] {
  if (/amorti[sz]ed/i.test(name)) return "amortized";
  return /actual/i.test(name) ? "actual" : undefined;
}

function byNameAndPeriod(a: FoundExport, b: FoundExport): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return (a.period ?? "") < (b.period ?? "") ? -1 : 1;
}
