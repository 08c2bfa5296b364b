import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { packFolder, unpackFolder } from "../../../../../runtime/store/embedded/folder-copy.ts";
import { temporaryFolder } from "../../../../support/folder.ts";

let root: string;
let file: string;
const BYTES = Buffer.from([0, 255, 10, 13, 128]);
beforeEach(() => {
  root = temporaryFolder("folder-copy");
  file = join(root, "copy");
  mkdirSync(join(root, "from", "a", "b"), { recursive: true });
  mkdirSync(join(root, "from", "obsolete"));
  writeFileSync(join(root, "from", "a", "bytes"), BYTES);
  writeFileSync(join(root, "from", "obsolete", "text"), "x");
  symlinkSync("../elsewhere", join(root, "from", "link"));
  packFolder(join(root, "from"), file, new Set([join(root, "from", "obsolete")]));
});

describe("the copy of a folder", () => {
  it("has the folder's files, empty folders and links, without the folders that were left out, for its owner alone", () => {
    expect(unpackFolder(file, join(root, "to"))).toBe(true);
    expect(readdirSync(join(root, "to"), { recursive: true, encoding: "utf8" }).toSorted()).toEqual([
      "a",
      "a/b",
      "a/bytes",
      "link",
    ]);
    expect(readFileSync(join(root, "to", "a", "bytes"))).toEqual(BYTES);
    expect(readlinkSync(join(root, "to", "link"))).toBe("../elsewhere");
    expect([file, join(root, "to", "a", "bytes")].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(readdirSync(root).toSorted()).toEqual(["copy", "from", "to"]);
  });

  it("is refused if it is missing or has other bytes, and then no folder is made", () => {
    const text = readFileSync(file, "utf8");
    for (const broken of ["", text.slice(0, -1), text.replace("link", "lint"), text.slice(1)]) {
      writeFileSync(file, broken);
      expect(unpackFolder(file, join(root, "to"))).toBe(false);
    }
    expect(unpackFolder(join(root, "missing"), join(root, "to"))).toBe(false);
    expect(readdirSync(root).toSorted()).toEqual(["copy", "from"]);
  });
});
