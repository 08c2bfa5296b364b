import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStorage } from "../../../runtime/bus/embedded/storage.ts";
import { openSpoolStore } from "../../../runtime/bus/spool-store.ts";
import { loadOrCreateUser } from "../../../runtime/store/embedded/credentials.ts";
import { prepareStoreFolder } from "../../../runtime/store/embedded/store-folder.ts";
import { temporaryFolder } from "../../support/folder.ts";

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The permissions of a folder and of its files. */
const modesIn = (folder: string): readonly string[] => [
  modeOf(folder),
  ...readdirSync(folder, { withFileTypes: true }).map(({ name }) => modeOf(join(folder, name))),
];

const PARTS = {
  "the embedded bus": openStorage,
  "a spool": (folder: string) => Promise.resolve(openSpoolStore(folder, 1_000_000)),
} as const;

it.each(Object.entries(PARTS))(
  "the files of %s are the owner's alone, also those of an earlier release",
  async (_, open) => {
    const folder = join(temporaryFolder("private"), "new", "one");
    await (await open(folder)).close();
    const [own, ...files] = modesIn(folder);
    expect(files.length).toBeGreaterThan(0);
    expect([own, new Set(files)]).toEqual(["700", new Set(["600"])]);
    chmodSync(folder, 0o755);
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o664);
    await (await open(folder)).close();
    expect(modesIn(folder)).toEqual([own, ...files]);
  },
);

it("the embedded store's folders and credentials are the owner's alone, also those of an earlier release", () => {
  const folder = join(temporaryFolder("private"), "store");
  mkdirSync(folder, { mode: 0o755 });
  const { credentialsFile } = prepareStoreFolder(folder);
  loadOrCreateUser(credentialsFile);
  chmodSync(credentialsFile, 0o644);
  writeFileSync(join(folder, "other"), "", { mode: 0o644 });
  prepareStoreFolder(folder);
  expect(modeOf(folder)).toBe("700");
  for (const { name, isFolder } of readdirSync(folder, { withFileTypes: true }).map((entry) => ({
    name: entry.name,
    isFolder: entry.isDirectory(),
  })))
    expect([name, modeOf(join(folder, name))]).toEqual([name, isFolder ? "700" : "600"]);
});
