import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findExports } from "../../../../invoices/find/find-exports.ts";
import { manifestsIn } from "../../../../invoices/find/listing.ts";
import { folderPlace } from "../../../../invoices/place/folder.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "gpu-ledger-exports-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const MARCH = new Date(Date.UTC(2026, 2, 2));

function write(key: string, content: string | object = "day\n"): void {
  const path = join(folder, key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  utimesSync(path, MARCH, MARCH);
}

/** Returns the keys of each complete export, and the reasons of the others. */
async function found(): Promise<unknown> {
  const place = folderPlace(folder);
  const listing = await place.list();
  const manifests = await Promise.all(
    manifestsIn(listing).map(async ({ key }) => [key, await place.text(key)] as const),
  );
  const { exports, incomplete } = findExports(listing, new Map(manifests));
  return [
    exports.map(({ files }) => files.map(({ key }) => key)),
    incomplete.map(({ reason, file }) => [reason, file]),
  ];
}

describe("the files of a folder", () => {
  it("are those of all subfolders, with their sizes and times", async () => {
    write("a b&c.csv");
    write("größe/2026/03.csv", "day,cost\n");
    const files = await folderPlace(folder).list();
    expect(files.toSorted((one, other) => one.size - other.size)).toEqual([
      { key: "a b&c.csv", size: 4, etag: `4-${MARCH.getTime()}`, modified: MARCH.getTime() },
      { key: "größe/2026/03.csv", size: 9, etag: `9-${MARCH.getTime()}`, modified: MARCH.getTime() },
    ]);
    expect(await folderPlace(folder).open("a b&c.csv")).toBe(join(folder, "a b&c.csv"));
  });

  it("are none in an empty folder", async () => {
    expect(await folderPlace(folder).list()).toEqual([]);
  });

  it("are not read while a program writes them", async () => {
    write("a.csv.tmp");
    write("b.csv.gz.part");
    write("_temporary/0/c.csv");
    write("_SUCCESS", "");
    write("empty.csv", "");
    write("done.csv");
    expect(await found()).toEqual([[["done.csv"]], []]);
  });

  it("are not read while their manifest is written, or before all of its files are there", async () => {
    const run = "hourly/20260301-20260401";
    write(`${run}/hourly-Manifest.json`, '{"reportKeys": ["hourly/2026');
    write(`${run}/hourly-1.csv`);
    expect(await found()).toEqual([
      [],
      [
        ["the manifest cannot be read", `${run}/hourly-Manifest.json`],
        ["no manifest names the file", `${run}/hourly-1.csv`],
      ],
    ]);
    const keys = [`${run}/hourly-1.csv`, `${run}/hourly-2.csv`];
    write(`${run}/hourly-Manifest.json`, { reportName: "hourly", reportKeys: keys });
    expect(await found()).toEqual([[], [["the manifest names a file that is missing", keys[1]]]]);
    write(keys[1]!);
    expect(await found()).toEqual([[keys], []]);
  });

  it("are not read while a file has not the size of the manifest", async () => {
    const blobs = [{ blobName: "aks/20260301-20260331/run/part_0.csv", byteCount: 9 }];
    write("aks/20260301-20260331/run/manifest.json", { blobs });
    write(blobs[0]!.blobName);
    expect(await found()).toEqual([[], [["the manifest names a file of another size", blobs[0]!.blobName]]]);
    write(blobs[0]!.blobName, "day,cost\n");
    expect(await found()).toEqual([[[blobs[0]!.blobName]], []]);
  });

  it("are not those to which only a link leads", async () => {
    symlinkSync(join(folder, "gone.csv"), join(folder, "a.csv"));
    expect(await folderPlace(folder).list()).toEqual([]);
  });
});

describe("a folder that cannot be read", () => {
  const failure = { name: "PlaceError", code: "unreadable-place", retriable: true };

  it("is missing", async () => {
    const missing = join(folder, "missing");
    await expect(folderPlace(missing).list()).rejects.toMatchObject({
      ...failure,
      message: `${missing} cannot be read: ENOENT: no such file or directory, scandir '${missing}'`,
    });
  });

  it("has lost a file since it was listed", async () => {
    await expect(folderPlace(folder).open("a.csv")).rejects.toMatchObject(failure);
    await expect(folderPlace(folder).text("a-Manifest.json")).rejects.toMatchObject(failure);
  });
});
