import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const ROOMS =
  "alerts bench cli collectors config dashboards demo deploy docs domain manifests processors reports runtime scenarios scripts services test";
const PATH = new RegExp(`\`((?:${ROOMS.split(" ").join("|")})/[\\w./-]+)\``, "g");
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "RELEASING.md",
  "SECURITY.md",
  ...readdirSync("docs").flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
  ...readdirSync("docs/decisions").map((name) => `docs/decisions/${name}`),
];

describe("a page of the documentation names only existing files", () => {
  it.each(pages)("%s", (page) => {
    const named = [...readFileSync(page, "utf8").matchAll(PATH)].map(([, path]) => path!);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});
