import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const NO_ROOMS = ["coverage", "dist", "node_modules"];
const ROOMS = readdirSync(".", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !NO_ROOMS.includes(entry.name))
  .map(({ name }) => name);
const PATH = new RegExp(`\`((?:${ROOMS.join("|")})/[\\w./-]+)\``, "g");
const LINK = /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g;
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "RELEASING.md",
  "SECURITY.md",
  ...["docs", "docs/decisions", "docs/runbooks"].flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : [])),
  ),
];

describe("a page of the documentation names and links only existing files", () => {
  it.each(pages)("%s", (page) => {
    const text = readFileSync(page, "utf8");
    const named = [...text.matchAll(PATH)].map(([, path]) => path!);
    const linked = [...text.matchAll(LINK)].map(([, path]) => join(dirname(page), path!));
    expect([...named, ...linked].filter((path) => !existsSync(path))).toEqual([]);
  });
});
